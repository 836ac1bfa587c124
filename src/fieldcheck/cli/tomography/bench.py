"""``fieldcheck tomography bench``: plans and surrogates on recorded truths."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from fieldcheck import report
from fieldcheck.bench import split_specs
from fieldcheck.bench import tomography as comparison
from fieldcheck.cli import options
from fieldcheck.cli.show import progress, say_lines, show_table, tell
from fieldcheck.core.errors import SpaceError
from fieldcheck.core.exhibit import Table
from fieldcheck.tomography.setup.truth import RecordedTruth, read_truth

KEYS = (
    *("truth", "plan", "surrogate", "inferences", "mse", "max_error", "within_0_1"),
    *("query_error_max", "coverage", "cpu_seconds"),
)
"""Of a row, what the terminal shows."""


def bench(
    truths: Annotated[
        list[Path], typer.Argument(metavar="TRUTH...", help="npz files: tests, perturbations, correct, inputs, labels.")
    ],
    plan: Annotated[
        str, typer.Option("--plan", "-p", help="Plans, between commas: spread,pairs:share=0.05.")
    ] = "spread",
    surrogate: Annotated[str, typer.Option("--surrogate", help="Surrogates, between commas: auto,forest.")] = "auto",
    inferences: Annotated[
        str, typer.Option("--inferences", "-n", help="Numbers of inferences: 2700,17000; all for as many as there are.")
    ] = "17000",
    repetitions: Annotated[int, typer.Option("--repetitions", "-r", min=1, help="Simulated runs per cell.")] = 10,
    axes: Annotated[
        int | None, typer.Option("--axes", min=1, help="Only the first so many perturbations; the others stay at 0.")
    ] = None,
    seed: options.Seed = 0,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write all rows; - for standard output.")
    ] = None,
) -> None:
    """Compare plans and surrogates on recorded truths: error of tests and queries, coverage of the bands."""
    options.check_outputs(json_file)
    subjects = [_read(path, axes) for path in truths]
    with progress("runs") as report_progress:
        result = comparison.bench(
            subjects,
            plan_specs=split_specs(plan),
            surrogate_specs=split_specs(surrogate),
            budgets=_budgets(inferences),
            repetitions=repetitions,
            seed=seed,
            progress=report_progress,
        )
    _deliver(result, json_file)


def _read(path: Path, axes: int | None) -> RecordedTruth:
    truth = read_truth(path)
    return truth if axes is None else truth.along(truth.space.names[:axes])


def _budgets(text: str) -> list[int | None]:
    return [None if word == "all" else _number(word) for word in options.split_list(text)]


def _number(word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise SpaceError(f"--inferences '{word}'", rule="whole numbers between commas, or all") from None


def _deliver(result: comparison.TomographyResult, json_file: Path | None) -> None:
    if json_file is not None and str(json_file) == "-":
        say_lines(result.to_json(), end="")
        return
    if json_file is not None:
        report.write_text(json_file, result.to_json())
        tell(f"rows: {json_file}")
    rows = [asdict(row) for row in result.rows]
    title = f"{len(rows)} cells, {rows[0]['repetitions']} repetitions each, orders {rows[0]['orders']}"
    show_table(Table("rows", title, KEYS, tuple(tuple(row[key] for key in KEYS) for row in rows)))
