"""``fieldcheck reuse``: old labels for a new version of the model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from fieldcheck import sources
from fieldcheck.accuracy.assessment.labelled import Sheet
from fieldcheck.accuracy.comparison.reuse import TOP_UP
from fieldcheck.campaign.sheets.files import read_answers, read_sheet, write_sheet
from fieldcheck.campaign.sheets.reuse import Reused
from fieldcheck.cli import options
from fieldcheck.cli.show import show_estimate, show_json, tell
from fieldcheck.core.errors import SampleError
from fieldcheck.core.words import counted

QUESTION = "Was the new version trained or tuned on these labels?"


def reuse(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The filled-in file of the earlier campaign.")],
    pool: Annotated[Path, typer.Option("--pool", help="Predictions of the new version for the same items.")],
    old_pool: Annotated[
        Path | None, typer.Option("--old-pool", help="The pool that OLD was drawn from, where it is elsewhere now.")
    ] = None,
    labels_unseen: Annotated[
        bool | None,
        typer.Option(
            "--labels-unseen/--labels-seen",
            help="Whether the new version was kept away from these labels; without an answer nothing is claimed.",
        ),
    ] = None,
    top_up: Annotated[
        int | None, typer.Option("--top-up", help="Further labels for --out (a quarter of the old ones).")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write items for a top-up to this CSV file.")] = None,
    labels: Annotated[Path | None, typer.Option("--labels", help="A file that --out wrote, filled in.")] = None,
    seed: options.Seed = 0,
    level: options.Level = 0.95,
    columns: options.Columns = None,
    task: options.TaskName = None,
    shift: options.Shift = None,
    encoding: options.Encoding = None,
    as_json: options.AsJson = False,
) -> None:
    """Estimate a new version of the model from labels of an earlier campaign, and a few more."""
    sheet = read_sheet(old)
    unseen = _asked(labels_unseen)
    before = sources.load(_old_pool(sheet, old, given=old_pool), **sheet.pool_options)
    after = options.load_pool(pool, columns=columns, task=task, shift=shift, encoding=encoding)
    reused = Reused.of(sheet, read_answers(old, sheet), old=before, new=after, labels_unseen=unseen)
    for note in dict.fromkeys((*before.notes, *after.notes)):
        tell(f"note: {note}")
    if out is not None:
        _write_top_up(reused, out, top_up=top_up, seed=seed, pool=pool)
        tell(f"then: fieldcheck reuse {old} --pool {pool} --labels-unseen --labels {out}")
    elif top_up is not None:
        raise SampleError("--top-up without --out", rule="further items are written to a file", hint="--out more.csv")
    more = None if labels is None else read_sheet(labels)
    answers = {} if labels is None or more is None else read_answers(labels, more)
    result = reused.estimate(more, answers, seed=seed, level=level)
    if as_json:
        show_json(result.to_dict())
    else:
        show_estimate(result)


def _asked(labels_unseen: bool | None) -> bool:
    """The answer of the command line, or of the person at the terminal; no answer is no."""
    if labels_unseen is None and sys.stdin.isatty():
        labels_unseen = not typer.confirm(QUESTION, err=True)
    if labels_unseen is False:
        raise SampleError(
            "the new version was trained or tuned on these labels",
            rule="a model is right on labels that it has seen: an estimate from them would be too good",
            hint="begin a new campaign, on items that it has not seen",
        )
    return bool(labels_unseen)


def _old_pool(sheet: Sheet, path: Path, *, given: Path | None) -> Path:
    if given is not None:
        return given
    named = Path(sheet.pool_file)
    for place in (named, path.parent / named, path.parent / named.name):
        if sheet.pool_file and place.is_file():
            return place
    raise SampleError(
        f"the pool that {path} was drawn from is not found: {sheet.pool_file or 'its place was not recorded'}",
        rule="the chances of the old draw follow from the old predictions",
        hint="--old-pool FILE",
    )


def _write_top_up(reused: Reused, out: Path, *, top_up: int | None, seed: int, pool: Path) -> None:
    if out.exists():
        raise SampleError(f"{out} exists already", rule="labels are not overwritten", hint="another --out")
    count = round(TOP_UP * len(reused.carried.items)) if top_up is None else top_up
    more = reused.top_up(count, seed=seed, pool_file=str(pool))
    write_sheet(more, out, reused.pool)
    tell(f"{counted(len(more.ids), 'item')} to label in {out}: fill in the column 'label', in the order of the list")
