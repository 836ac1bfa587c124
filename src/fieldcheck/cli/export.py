"""``fieldcheck export``: what a campaign gives away to train the next version with."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from fieldcheck.accuracy.comparison import reuse
from fieldcheck.campaign.exchange.training import TrainingSet
from fieldcheck.cli import campaigns, options
from fieldcheck.cli.show import say, show_json
from fieldcheck.core import words


def export(
    storage: campaigns.Storage,
    for_training: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where the items to train with go: a table, pictures by class.")
    ],
    kind: Annotated[str, typer.Option("--format", help="Of the table: csv or jsonl.")] = "csv",
    pool: campaigns.PoolMoved = None,
    as_json: options.AsJson = False,
) -> None:
    """Give away the labels that were set apart to train the next version with, and put on record that they left.

    The others are kept: they judge the next version. Start the campaign with --train-share.
    """
    with campaigns.open_campaign(storage, pool) as campaign:
        given = TrainingSet.of(campaign)
        pictures = given.write(for_training, kind)
        kept = sum(item.standing == "labelled" for item in campaign.state.items.values()) - len(given)
        place = shlex.quote(campaign.place)
    failures = sum(one.failed for one in given)
    if as_json:
        show_json({"folder": str(for_training), "items": len(given), "failures": failures, "kept": kept})
        return
    shown = f", {words.counted(pictures, 'picture')}" if pictures else ""
    what = f"{words.counted(len(given), 'item')} to train with, {words.counted(failures, 'failure')} among them"
    say(f"{what}, in {for_training}{shown}")
    say(f"{words.counted(kept, 'label is', 'labels are')} kept to judge the next version, and never leave by this door")
    say(f"so many do not show gains under about {100 * reuse.least_gain(kept):.0f} points")
    say(f"when it is trained: fieldcheck start NEW_POOL --reuse {place} --campaign next.db")
