"""``fieldcheck import``: labels from a file."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from fieldcheck.campaign.exchange import intake
from fieldcheck.campaign.exchange.reading import read_lines
from fieldcheck.cli import campaigns, options
from fieldcheck.cli.show import say, show_json, tell
from fieldcheck.core import words
from fieldcheck.core.errors import LabelError

SHOWN = 20
"""Faults that are listed on the terminal; --json has more."""


def import_(
    storage: campaigns.Storage,
    file: Annotated[
        Path,
        typer.Argument(metavar="LABELS", help="CSV or JSON lines with id and label, or Label Studio's export."),
    ],
    by: Annotated[
        str,
        typer.Option("--by", metavar="NAME", help="Whose labels they are; a line with another name is refused."),
    ] = "",
    good_lines: Annotated[
        bool,
        typer.Option(
            "--good-lines/--all-or-nothing",
            help="Take the good lines and list the bad ones; or refuse the file if one line is bad (the default).",
        ),
    ] = False,
    last_wins: Annotated[
        bool, typer.Option("--last-wins", help="Two different labels of one person for an item: take the later line.")
    ] = False,
    settle: Annotated[
        bool, typer.Option("--settle", help="They are the lead's word: what they say counts, whatever others said.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be taken.")] = False,
    new_classes: options.NewClasses = None,
    encoding: options.Encoding = None,
    pool: campaigns.PoolMoved = None,
    as_json: options.AsJson = False,
) -> None:
    """Take labels from a file: part of the items, repeated ones and corrections are fine.

    All lines are checked before any is taken, and each bad one is named.

    One bad line: nothing of the file is taken. --good-lines: the others are.

    Different from the same person's earlier label: it corrects it.

    Different from another person's: it is listed, and both stand.

    The names of a column 'annotator' count; where it is empty, --by does.
    """
    with campaigns.open_campaign(storage, pool, new_classes=new_classes or ()) as campaign:
        if campaign.refresh().closed:
            raise LabelError("this campaign is closed", rule="nothing is taken any more", hint="start another")
        found = intake.prepare(campaign, read_lines(file, encoding=encoding), by=by, last_wins=last_wins, settle=settle)
        refused = found.faulty > 0 and not good_lines
        if not (refused or dry_run):
            intake.take(campaign, found)
        _show(found, file, taken=not (refused or dry_run), as_json=as_json)
        if refused:
            raise LabelError(
                f"{file}: {words.counted(found.faulty, 'line')} cannot be taken; nothing of the file was",
                rule="a file is taken as a whole",
                hint="correct what is named above; or --good-lines to take the others",
            )
        if not as_json and not dry_run:
            say(f"now: fieldcheck status {shlex.quote(campaign.place)}")


def _show(found: intake.Intake, file: Path, *, taken: bool, as_json: bool) -> None:
    if as_json:
        show_json(_as_dict(found, file, taken=taken))
        return
    for fault in found.faults[:SHOWN]:
        tell(f"{file}, {fault}")
    if found.faulty > SHOWN:
        tell(f"... and {found.faulty - SHOWN:,} more")
    for text in found.disagreements[:SHOWN]:
        tell(f"different: {text}")
    say(("" if taken else "would be taken: ") + _counts(found))


def _counts(found: intake.Intake) -> str:
    skips = sum(one.skipped for one in (*found.new, *found.corrections))
    parts = {
        "new": len(found.new),
        "corrected": len(found.corrections),
        "known already": found.known,
        "not filled in": found.blank,
        "bad": found.faulty,
    }
    text = ", ".join(f"{count:,} {name}" for name, count in parts.items() if count or name == "new")
    return text + (f" ({words.counted(skips, 'skipped item')} among them)" if skips else "")


def _as_dict(found: intake.Intake, file: Path, *, taken: bool) -> dict[str, Any]:
    return {
        "file": str(file),
        "taken": taken,
        "new": [one.item for one in found.new],
        "corrections": [one.item for one in found.corrections],
        "known_already": found.known,
        "not_filled_in": found.blank,
        "bad": found.faulty,
        "faults": [{"where": fault.where, "problem": fault.problem} for fault in found.faults],
        "disagreements": list(found.disagreements),
    }
