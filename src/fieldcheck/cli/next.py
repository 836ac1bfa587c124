"""``fieldcheck next``: items to label, as a file."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from fieldcheck import report
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.exchange import export
from fieldcheck.campaign.exchange.formats import format_for
from fieldcheck.cli import campaigns, options
from fieldcheck.cli.show import say, show_json, tell
from fieldcheck.core import words
from fieldcheck.core.errors import FieldcheckError


def next_(
    storage: campaigns.Storage,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="A .csv table to fill in, .json with tasks for Label Studio, or .jsonl.")
    ],
    number: Annotated[int, typer.Option("-n", "--number", min=1, help="Items at most.")] = 20,
    by: campaigns.Annotator = "",
    disputed: Annotated[
        bool,
        typer.Option(
            "--disputed", help="Those on which people disagree, or that were flagged, for the lead to settle."
        ),
    ] = False,
    show_predictions: Annotated[
        bool, typer.Option("--show-predictions", help="Show labellers what the model said (it biases them).")
    ] = False,
    config: Annotated[
        Path | None, typer.Option(help="Tasks: also write the labelling interface for Label Studio's settings, as XML.")
    ] = None,
    asked: Annotated[
        str | None,
        typer.Option(
            "--as",
            help="Tasks: classes, or right-wrong, which shows the prediction (it biases them); the default of texts"
            " that a model wrote.",
        ),
    ] = None,
    image_url: Annotated[
        str, typer.Option(help="Tasks: what stands before the path of a picture below the folder of the items.")
    ] = export.LOCAL_FILES,
    images: Annotated[Path | None, typer.Option(help="Also copy the items' pictures into this folder.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file, and any labels in it.")] = False,
    pool: campaigns.PoolMoved = None,
    engine: options.EngineName = "local",
    as_json: options.AsJson = False,
) -> None:
    """Write the next items to label to a file; they are yours until the lease runs out.

    In a table, fill in 'label': a class, a number, or right / wrong.

    Where it cannot be said: 'skip' or '?', and why under 'reason'.
    """
    kind = format_for(out.suffix)
    _check(out, config, asked, force=force)
    options.check_outputs(out, config)
    options.make_folder(images)
    with campaigns.open_campaign(storage, pool, engine=engine) as campaign:
        outcomes = asked == "right-wrong" or (asked is None and campaign.pool.written)
        shown = show_predictions or outcomes
        items = campaign.view.unsettled()[:number] if disputed else campaign.ask(by, n=number)
        if items and shown:
            campaign.show_predictions()
        if items:
            text = export.as_file(kind, campaign, items, by=by, predictions=shown, base=image_url)
            report.write_text(out, text)
        if items and config is not None:
            report.write_text(config, export.labelling_config(campaign, items, predictions=shown, outcomes=outcomes))
            tell(f"labelling interface: {config}")
        if images is not None:
            tell(f"{words.counted(export.copy_pictures(campaign, items, images), 'picture')} in {images}")
        if as_json:
            show_json({"file": str(out) if items else None, "items": items, "complete": campaign.progress().complete})
        else:
            say(_what_next(campaign, items, out, settle=disputed))


def _check(out: Path, config: Path | None, asked: str | None, *, force: bool) -> None:
    tasks = out.suffix.lower() == ".json"
    if asked not in (None, "classes", "right-wrong"):
        raise FieldcheckError(f"--as {asked}", rule="classes, or right-wrong")
    if config is not None and not tasks:
        raise FieldcheckError("--config without tasks", rule="it belongs to Label Studio", hint="--out tasks.json")
    if out.exists() and not force:
        raise FieldcheckError(
            f"{out} exists already", rule="labels are not overwritten", hint="another --out; --force to overwrite it"
        )


def _what_next(campaign: Campaign, items: list[str], out: Path, *, settle: bool) -> str:
    place = shlex.quote(campaign.place)
    if items:
        then = f"fieldcheck import {place} {shlex.quote(str(out))}" + (" --settle --by lead" if settle else "")
        return f"{words.counted(len(items), 'item')} to {'settle' if settle else 'label'} in {out}; then: {then}"
    if settle:
        return "nothing to settle: people agree, and no item is flagged"
    progress = campaign.progress()
    if progress.closed:
        return "nothing to label: the campaign is closed"
    if progress.complete:
        return f"nothing is left to label; now: fieldcheck estimate {place}"
    if progress.leased:
        held = words.counted(progress.leased, "item is", "items are")
        return f"nothing to label now: {held} with others, until labelled or until a lease runs out"
    waiting = words.counted(progress.open, "item waits", "items wait") + " for another person" if progress.open else ""
    disputed = words.counted(progress.disputed, "item waits", "items wait") if progress.disputed else ""
    settling = (
        f"{disputed} for the lead, because people disagree: fieldcheck next {place} --disputed --out disputed.csv"
    )
    return "nothing to label for you: " + "; ".join(filter(None, (waiting, disputed and settling)))
