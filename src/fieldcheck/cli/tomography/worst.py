"""``fieldcheck tomography worst``: where to look first."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from fieldcheck.cli import options
from fieldcheck.cli.show import say, show_json, show_table
from fieldcheck.cli.tomography.options import ProfileFile, RunFolder, SurrogateName, in_short, working
from fieldcheck.report import tomography_figures
from fieldcheck.tomography.answers.profile import Profile
from fieldcheck.tomography.answers.run import Run
from fieldcheck.tomography.answers.weak_spots import weaknesses


def worst(
    run: RunFolder,
    order: Annotated[
        int, typer.Option(min=1, help="Conditions in which at most so many perturbations are at work.")
    ] = 2,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many to list.")] = 10,
    below: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="A robustness under this is a failure (default: ten points under unperturbed)."
        ),
    ] = None,
    profile: ProfileFile = None,
    surrogate: SurrogateName = None,
    level: options.Level = 0.95,
    as_json: options.AsJson = False,
) -> None:
    """The weakest conditions, the strongest interactions, and the smallest combination that fails."""
    chosen = None if profile is None else Profile.from_file(profile)
    opened = Run.open(run, surrogate=surrogate)
    with working(opened):
        found = weaknesses(opened, order=order, count=count, below=below, level=level, profile=chosen)
    if as_json:
        show_json(asdict(found))
        return
    for table in (*tomography_figures.tables(found), *tomography_figures.pairs_apart(opened)):
        show_table(table)
        say()
    for line in (*in_short(found), *(() if chosen is None else chosen.notes(opened.space))):
        say(line)
    if (above := opened.higher_orders) is not None and above.differs:
        say(f"Pairs do not suffice: {above}.")
