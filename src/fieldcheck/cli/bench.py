"""``fieldcheck bench``: compare techniques on pools whose truth is known."""

from __future__ import annotations

import csv
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from fieldcheck import bench as comparison
from fieldcheck import engines, report
from fieldcheck.accuracy import designs
from fieldcheck.bench.rows import COUNTED
from fieldcheck.cli import options
from fieldcheck.cli.show import on_terminal, progress, say_lines, show_table, tell
from fieldcheck.core.errors import BenchError
from fieldcheck.core.exhibit import Exhibit, Table

KEYS = (
    "design",
    "auxiliary",
    "budget",
    "mean",
    "bias",
    "rmse",
    "failures_mean",
    "exposed_mean",
    "coverage",
    "width_mean",
)
"""Of a row, what the terminal shows."""


HEADINGS = {"failures_mean": "draws", "exposed_mean": "items", "width_mean": "width"}
"""Of columns whose key is too long for a terminal."""


def bench(
    subjects: Annotated[
        list[Path], typer.Argument(metavar="SUBJECT...", help="Labelled pools; a file's stem is its name.")
    ],
    design: Annotated[
        str | None,
        typer.Option(
            "--design", "-d", help="Techniques: a,b; by default all, with --activations also what needs them."
        ),
    ] = None,
    auxiliary: Annotated[
        str,
        typer.Option("--auxiliary", "-a", help="Auxiliary variables: a,b are alternatives, a+b are taken together."),
    ] = "confidence",
    budget: Annotated[str, typer.Option("--budget", "-n", help="Numbers of labels: 50,200.")] = "50,100,200,400,800",
    repetitions: Annotated[int, typer.Option("--repetitions", "-r", min=1, help="Simulated campaigns per cell.")] = 30,
    seed: options.Seed = 0,
    engine: options.EngineName = "local",
    truth: options.Truth = None,
    level: options.Level = 0.95,
    loss: options.LossName = "squared",
    threshold: options.Threshold = None,
    offset_scale: Annotated[
        float | None,
        typer.Option(help="Regression: multiply offsets by this before they are binned in steps of 2.5."),
    ] = None,
    activations: Annotated[
        list[str] | None,
        typer.Option("--activations", metavar="SUBJECT=FILE", help="For ces: .npy array of a subject."),
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(
            "--group",
            metavar="NAME=SUBJECT,... | FILE[:COLUMN]",
            help="Pool subjects in tables: CIFAR10=model_D,model_E, or a CSV file with columns subject and group.",
        ),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write all rows; - for standard output.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a report with tables and figures.")
    ] = None,
    tables: Annotated[
        Path | None,
        typer.Option(
            "--tables",
            metavar="FOLDER",
            help="Write every table and figure as CSV and LaTeX, figures as SVG too, and all repetitions.",
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option("--resume", metavar="FILE", help="Keep finished cells here, and go on from there after a stop."),
    ] = None,
) -> None:
    """Compare techniques on labelled pools: error, failures found, coverage, and the statistics of the papers."""
    plan = comparison.Study(
        subjects=subjects,
        designs=_all_designs(bool(activations)) if design is None else comparison.split_specs(design),
        auxiliaries=options.split_list(auxiliary),
        budgets=options.split_numbers(budget, "--budget"),
        repetitions=repetitions,
        seed=seed,
        level=level,
        loss=options.check_loss(loss),
        threshold=threshold,
        offset_scale=offset_scale,
        truth=truth,
        activations=_activation_files(activations),
        groups=dict(pair for text in group or () for pair in _group(text)),
    )
    options.check_outputs(json_file, html)
    options.make_folder(tables)
    runs = None if engine == "local" else engines.engine_of(engine)
    with progress("cells") as report_progress:
        result = comparison.run(
            plan, engine=runs, resume=resume, progress=lambda done, total, _: report_progress(done, total)
        )
    for note in result.notes:
        tell(f"note: {note}")
    _deliver(result, json_file=json_file, html=html, tables=tables)


def _all_designs(activations: bool) -> tuple[str, ...]:
    return tuple(name for name, one in designs.registry.items() if activations or one.needs != "activations")


def _deliver(result: comparison.Result, *, json_file: Path | None, html: Path | None, tables: Path | None) -> None:
    record = {**result.to_dict(), "command": shlex.join(["fieldcheck", *sys.argv[1:]])}
    exhibits = comparison.analyse(result) if html or tables else []
    if html is not None:
        report.write_text(html, report.bench_page(record, exhibits))
        tell(f"report: {html}")
    if tables is not None:
        _write_tables(tables, result, exhibits)
    if json_file is None:
        _show_summary(record["rows"])
    elif str(json_file) == "-":
        say_lines(result.to_json(), end="")
    else:
        report.write_text(json_file, result.to_json())
        tell(f"rows: {json_file}")


def _write_tables(folder: Path, result: comparison.Result, exhibits: Sequence[Exhibit]) -> None:
    report.write_text(folder / "repetitions.csv", result.repetitions_csv())
    for exhibit in (*exhibits, *comparison.evidence(result)):
        stem = exhibit.name.replace("/", "_").replace(" ", "_")
        report.write_text(folder / f"{stem}.csv", report.to_csv(report.tabulated(exhibit, exact=True)))
        report.write_text(folder / f"{stem}.tex", report.to_latex(report.tabulated(exhibit)))
        if not isinstance(exhibit, Table):
            report.write_text(folder / f"{stem}.svg", report.svg_file(exhibit))
    tell(f"tables, figures and all repetitions: {folder}")


def _show_summary(rows: Sequence[dict[str, Any]]) -> None:
    """A table per subject for people, which fits 80 columns; one table for programs."""
    if not on_terminal():
        keys = ("subject", "truth", *KEYS)
        cells = tuple(tuple(row[key] for key in keys) for row in rows)
        show_table(Table("rows", f"{len(rows)} cells, {_repeated(rows)}", keys, cells))
        return
    for subject in dict.fromkeys(row["subject"] for row in rows):
        own = [row for row in rows if row["subject"] == subject]
        show_table(_summary(own, f"{subject}: truth {own[0]['truth']:.4g}, {_repeated(own)}"))


def _summary(rows: Sequence[dict[str, Any]], title: str) -> Table:
    cells = tuple(tuple(_rounded(row[key]) for key in KEYS) for row in rows)
    return Table("rows", title, tuple(HEADINGS.get(key, key) for key in KEYS), cells, COUNTED)


def _rounded(value: Any) -> Any:
    return float(f"{value:.3g}") if isinstance(value, float) else value


def _repeated(rows: Sequence[dict[str, Any]]) -> str:
    return f"{rows[0]['repetitions']} repetitions each"


def _activation_files(given: Sequence[str] | None) -> dict[str, Path]:
    pairs = [text.partition("=") for text in given or ()]
    for subject, equals, path in pairs:
        if not (subject and equals and path):
            raise BenchError(
                f"--activations {subject}{equals}{path}",
                rule="--activations SUBJECT=FILE",
                hint="--activations pool=layer.npy",
            )
    return {subject: Path(path) for subject, _, path in pairs}


def _group(text: str) -> list[tuple[str, str]]:
    """Subject and group, from ``NAME=SUBJECT,...`` or a small table."""
    name, equals, members = text.partition("=")
    if equals:
        return [(subject, name) for subject in options.split_list(members)]
    path, _, column = text.partition(":")
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            return [(row["subject"], row[column or "group"]) for row in csv.DictReader(file)]
    except (OSError, KeyError, UnicodeDecodeError) as error:
        raise BenchError(
            f"no groups in '{text}': {error}",
            rule="NAME=SUBJECT,... or a CSV file with a column subject and one for the group, FILE:COLUMN",
            hint="--group CIFAR10=model_D,model_E",
        ) from error
