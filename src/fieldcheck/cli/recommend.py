"""``fieldcheck recommend``: which technique to take, from measured results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fieldcheck import bench as comparison
from fieldcheck.bench import aims
from fieldcheck.cli import options
from fieldcheck.cli.show import say_lines, show_json
from fieldcheck.core.errors import BenchError


def recommend(
    objective: Annotated[
        str,
        typer.Option(
            help="estimate (RMSE), estimate-median (RMedSE: outliers aside), expose (most failures), or a trade-off "
            "of an estimate and failures: balanced, balanced-median."
        ),
    ] = "balanced",
    task: Annotated[str | None, typer.Option(help="classification or regression.")] = None,
    budget: Annotated[
        str | None, typer.Option(help="Number of labels that you can afford, or a range: 100-400.")
    ] = None,
    subject: Annotated[str | None, typer.Option(help="Only results of this subject.")] = None,
    group: Annotated[str | None, typer.Option(help="Only results of this group of subjects: MNIST.")] = None,
    accuracy: Annotated[
        str | None, typer.Option(help="What you expect of the model: low, or high (0.9 and more).")
    ] = None,
    auxiliary: Annotated[str | None, typer.Option(help="Only techniques that use this variable, or none.")] = None,
    partitioning: Annotated[
        str | None, typer.Option(help="yes or no: techniques that cut the pool into strata, or others.")
    ] = None,
    replacement: Annotated[
        str | None, typer.Option(help="with or without: techniques that may draw an item twice, or others.")
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(help="Your own `bench --json` file, instead of the results that ship with fieldcheck."),
    ] = None,
    aim: Annotated[
        str | None,
        typer.Option(help="estimate, improve or both: which objective, where labels may train the next version, too."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Say which technique did best in measured campaigns like yours, with the evidence."""
    if aim is not None:
        found = aims.advice(aim)
        if as_json:
            show_json(found.to_dict())
        else:
            say_lines(str(found))
        return
    answer = comparison.recommend(
        comparison.measured_rows(results),
        objective=objective,  # type: ignore[arg-type]
        task=task,
        budget=_labels(budget),
        subject=subject,
        group=group,
        accuracy=accuracy,
        auxiliary=auxiliary,
        partitioning=partitioning,
        replacement=replacement,
    )
    if as_json:
        show_json(answer.to_dict())
    else:
        say_lines(str(answer))


def _labels(text: str | None) -> int | tuple[int, int] | None:
    """``200`` or ``100-400``."""
    if text is None:
        return None
    first, dash, last = text.partition("-")
    try:
        return (int(first), int(last)) if dash else int(first)
    except ValueError:
        raise BenchError(
            f"--budget '{text}'", rule="a number of labels, or a range of them", hint="--budget 200, --budget 100-400"
        ) from None
