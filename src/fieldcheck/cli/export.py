"""``fieldcheck export``: the labels, for other programs and for the next training round."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from fieldcheck import report
from fieldcheck.accuracy.comparison import changes
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.exchange import labels, training
from fieldcheck.cli import campaigns, options
from fieldcheck.cli.show import say, show_json, tell
from fieldcheck.core import words
from fieldcheck.core.errors import FieldcheckError


def export(
    storage: campaigns.Storage,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File for the labels: .csv or .jsonl.")] = None,
    for_training: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where the items to train with go: a table, pictures by class."),
    ] = None,
    table: Annotated[str, typer.Option("--format", help="Of the table to train with: csv or jsonl.")] = "csv",
    pool: campaigns.PoolMoved = None,
    as_json: options.AsJson = False,
) -> None:
    """Write the labels that count, with who, when, after how many seconds, and a weight for metrics of your own.

    With sample_weight, any metric of scikit-learn is one of the whole pool and not of the items that happened to be
    drawn. --for-training gives away the labels that were set apart to train the next version with (start
    --train-share), and puts on record that they left; the others are kept to judge it.
    """
    kind = _kind(out, for_training)
    training.check_kind(table)
    done: dict[str, Any] = {}
    with campaigns.open_campaign(storage, pool) as campaign:
        if out is not None:
            done |= _labels(campaign, out, kind, quiet=as_json)
        if for_training is not None:
            done |= _training(campaign, for_training, table, quiet=as_json)
    if as_json:
        show_json(done)


def _kind(out: Path | None, for_training: Path | None) -> str:
    options.check_outputs(out)
    if out is None:
        if for_training is None:
            raise FieldcheckError(
                "nothing to write", rule="--out FILE or --for-training FOLDER", hint="--out labels.csv"
            )
        return ""
    kind = labels.KINDS.get(out.suffix.lower())
    if kind is None:
        raise FieldcheckError(f"--out {out}", rule="written as " + ", ".join(labels.KINDS), hint="--out labels.csv")
    return kind


def _labels(campaign: Campaign, out: Path, kind: str, *, quiet: bool) -> dict[str, Any]:
    found = labels.records(campaign)
    report.write_text(out, labels.as_text(found, kind))
    if not quiet:
        known = all(one.weight is not None for one in found)
        weighted = "" if known else "; sample_weight is not known for this design"
        say(f"{words.counted(len(found), 'label')} in {out}{weighted}")
    if campaign.settings.train_share:
        tell("note: labels that are kept to judge the next version are among them: do not train with this file")
    return {"file": str(out), "labels": len(found)}


def _training(campaign: Campaign, folder: Path, table: str, *, quiet: bool) -> dict[str, Any]:
    given = training.TrainingSet.of(campaign)
    pictures = given.write(folder, table)
    kept = sum(item.standing == "labelled" for item in campaign.state.items.values()) - len(given)
    failures = sum(one.failed for one in given)
    if not quiet:
        shown = f", {words.counted(pictures, 'picture')}" if pictures else ""
        what = f"{words.counted(len(given), 'item')} to train with, {words.counted(failures, 'failure')} among them"
        say(f"{what}, in {folder}{shown}")
        say(f"{words.counted(kept, 'label is', 'labels are')} kept to judge the next version, and not among them")
        say(f"so many do not show gains under about {100 * changes.least_gain(kept):.0f} points")
        say(f"when it is trained: fieldcheck start NEW_POOL --reuse {shlex.quote(campaign.place)} --campaign next.db")
    return {"folder": str(folder), "items": len(given), "failures": failures, "kept": kept}
