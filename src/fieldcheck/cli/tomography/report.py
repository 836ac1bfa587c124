"""``fieldcheck tomography report``: a page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fieldcheck import report as pages
from fieldcheck.cli import options
from fieldcheck.cli.show import tell
from fieldcheck.cli.tomography.options import ProfileFile, RunFolder, SurrogateName, in_short, working
from fieldcheck.report import tomography_figures
from fieldcheck.tomography.answers.profile import Profile
from fieldcheck.tomography.answers.run import Run
from fieldcheck.tomography.answers.weak_spots import weaknesses
from fieldcheck.tomography.query import parse


def report(
    run: RunFolder,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file to write.")],
    query: Annotated[
        list[str] | None, typer.Option("--query", "-q", help="A region to show beside the whole space; several times.")
    ] = None,
    profile: ProfileFile = None,
    surrogate: SurrogateName = None,
    level: options.Level = 0.95,
) -> None:
    """Write one HTML file: the answer, each perturbation alone and in pairs, the weakest conditions."""
    options.check_outputs(out)
    opened = Run.open(run, surrogate=surrogate)
    chosen = None if profile is None else Profile.from_file(profile)
    for text in query or ():
        parse(text, opened.space)  # what is wrong with it is said at once
    with working(opened):
        whole, *others = (opened.ask(text, profile=chosen, level=level) for text in ("all", *(query or ())))
        found = weaknesses(opened, level=level, profile=chosen)
        exhibits = tomography_figures.exhibits(opened, found)
    page = pages.tomography_page(
        whole,
        answers=others,
        exhibits=exhibits,
        lead=in_short(found),
        origin={"run": str(run), "surrogate": opened.surrogate, "seed": str(opened.seed)},
    )
    pages.write_text(out, page)
    tell(f"report: {out}")
