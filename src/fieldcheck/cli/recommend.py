"""``fieldcheck recommend``: which technique to take, from measured results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fieldcheck import bench as comparison
from fieldcheck.cli import options
from fieldcheck.cli.show import show_json


def recommend(
    objective: Annotated[
        str, typer.Option(help="estimate (smallest error), expose (most failures) or balanced.")
    ] = "balanced",
    task: Annotated[str | None, typer.Option(help="classification or regression.")] = None,
    budget: Annotated[int | None, typer.Option(help="Number of labels that you can afford.")] = None,
    accuracy: Annotated[
        str | None, typer.Option(help="What you expect of the model: low, or high (0.9 and more).")
    ] = None,
    auxiliary: Annotated[str | None, typer.Option(help="Only techniques that use this variable, or none.")] = None,
    results: Annotated[
        Path | None,
        typer.Option(help="Your own `bench --json` file, instead of the results that ship with fieldcheck."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Say which technique did best in measured campaigns like yours, with the evidence."""
    answer = comparison.recommend(
        comparison.measured_rows(results),
        objective=objective,  # type: ignore[arg-type]
        task=task,
        budget=budget,
        accuracy=accuracy,
        auxiliary=auxiliary,
    )
    if as_json:
        show_json(answer.to_dict())
    else:
        print(answer)
