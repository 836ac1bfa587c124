"""``fieldcheck export``: the labels for other programs, or what a campaign gives away to train with."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from fieldcheck import report
from fieldcheck.accuracy.comparison import reuse
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.exchange import labels
from fieldcheck.campaign.exchange.training import TrainingSet
from fieldcheck.cli import campaigns, options
from fieldcheck.cli.show import say, show_json
from fieldcheck.core import words
from fieldcheck.core.errors import FieldcheckError


def export(
    storage: campaigns.Storage,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="All labels that count, for metrics of your own: a .csv or .jsonl file."),
    ] = None,
    for_training: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where the items to train with go: a table, pictures by class."),
    ] = None,
    kind: Annotated[str, typer.Option("--format", help="Of the table to train with: csv or jsonl.")] = "csv",
    pool: campaigns.PoolMoved = None,
    as_json: options.AsJson = False,
) -> None:
    """Write the labels with who, when, how long and a weight; or give away those that were set apart to train with.

    With the column sample_weight of --out, any metric of scikit-learn is one of the whole pool. With --for-training it
    is put on record that items left; the others are kept: they judge the next version (start it with --train-share).
    """
    if (out is None) == (for_training is None):
        raise FieldcheckError(
            "what is to be exported?" if out is None else "--out together with --for-training",
            rule="--out FILE for metrics, or --for-training FOLDER",
            hint="--out labels.csv",
        )
    options.check_outputs(out)
    with campaigns.open_campaign(storage, pool) as campaign:
        lines, found = (
            _metrics(campaign, out) if out is not None else _training(campaign, Path(for_training or ""), kind)
        )
    if as_json:
        show_json(found)
    for line in [] if as_json else lines:
        say(line)


def _metrics(campaign: Campaign, out: Path) -> tuple[list[str], dict[str, Any]]:
    kind = labels.KINDS.get(out.suffix.lower())
    if kind is None:
        raise FieldcheckError(f"--out {out}", rule="written as " + ", ".join(labels.KINDS), hint="--out labels.csv")
    found = labels.records(campaign)
    report.write_text(out, labels.as_text(found, kind))
    known = all(one.weight is not None for one in found)
    weights = "" if known else "; this design does not know the chances that sample_weight is made of"
    return [f"{words.counted(len(found), 'label')} in {out}{weights}"], {"file": str(out), "labels": len(found)}


def _training(campaign: Campaign, folder: Path, kind: str) -> tuple[list[str], dict[str, Any]]:
    given = TrainingSet.of(campaign)
    pictures = given.write(folder, kind)
    kept = sum(item.standing == "labelled" for item in campaign.state.items.values()) - len(given)
    failures = sum(one.failed for one in given)
    shown = f", {words.counted(pictures, 'picture')}" if pictures else ""
    what = f"{words.counted(len(given), 'item')} to train with, {words.counted(failures, 'failure')} among them"
    lines = [
        f"{what}, in {folder}{shown}",
        f"{words.counted(kept, 'label is', 'labels are')} kept to judge the next version, and never leave by this door",
        f"so many do not show gains under about {100 * reuse.least_gain(kept):.0f} points",
        f"when it is trained: fieldcheck start NEW_POOL --reuse {shlex.quote(campaign.place)} --campaign next.db",
    ]
    return lines, {"folder": str(folder), "items": len(given), "failures": failures, "kept": kept}
