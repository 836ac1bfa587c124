"""What the verbs share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from fieldcheck.cli.show import console
from fieldcheck.core import words
from fieldcheck.core.space import Condition
from fieldcheck.tomography.answers.run import Run
from fieldcheck.tomography.answers.weak_spots import Weakness

RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="The folder that `tomography run` wrote.")]


QueryText = Annotated[str, typer.Argument(metavar="QUERY", help="A region: 'zoom > 2 or (blur = 1 and order <= 3)'.")]


SurrogateName = Annotated[
    str | None,
    typer.Option("--surrogate", help="Predict the rest with another one; see `tomography list surrogates`."),
]


ProfileFile = Annotated[
    Path | None,
    typer.Option("--profile", help="TOML file: how likely each severity is in the field, brightness = [0.7, 0.3, 0]."),
]


@contextmanager
def working(run: Run) -> Iterator[None]:
    """Say on a terminal what takes a while: before the first answer the surrogate is fitted."""
    quicker = "; --surrogate logistic is quicker" if run.surrogate == "auto" else ""
    with console(stderr=True).status(f"fitting {run.surrogate} to {len(run.outcomes):,} outcomes{quicker}"):
        yield


def smallest_of(found: Weakness) -> str:
    """How little it takes until the model fails, in words."""
    small = found.smallest
    what = "none" if small is None else f"{small}, {band(small)}"
    return f"Smallest combination under {words.percent(found.below)}: {what}."


def in_short(found: Weakness) -> list[str]:
    """How little it takes, and the number that papers on corruptions compare."""
    return [smallest_of(found), *([f"Single perturbations: {found.corruption}."] if found.corruption else [])]


def band(condition: Condition) -> str:
    """A condition's robustness with its band."""
    ran = f", {condition.inputs:,} inputs" if condition.inputs else ", predicted"
    return (
        f"{words.percent(condition.robustness)} [{words.percent(condition.low)}, {words.percent(condition.high)}]{ran}"
    )
