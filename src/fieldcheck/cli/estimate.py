"""``fieldcheck estimate``: what the labels say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from fieldcheck import report
from fieldcheck.accuracy.assessment.metrics import metrics, true_classes_of
from fieldcheck.accuracy.assessment.scores import Metrics
from fieldcheck.accuracy.assessment.slices import Slices, slices
from fieldcheck.cli import options
from fieldcheck.cli.campaigns import Labels, labels_of
from fieldcheck.cli.show import say, show_estimate, show_json, show_table, tell
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.exhibit import Exhibit, Matrix, Table


def estimate(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A campaign (its file or postgresql:// address); or what `fieldcheck sample` wrote, filled in.",
        ),
    ],
    pool: Annotated[
        Path | None, typer.Option("--pool", help="The pool, where a technique needs it again and it has been moved.")
    ] = None,
    level: options.Level = 0.95,
    metric: Annotated[
        str | None,
        typer.Option(help="Regression: 1-mse (default), mse, rmse; with --loss absolute: mae (default), 1-mae."),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", metavar="COLUMN", help="Also for each part of the pool: by prediction, or any column."),
    ] = None,
    wanted: Annotated[
        str | None,
        typer.Option("--metrics", help="Also these, between commas: accuracy, precision, recall, f1, confusion."),
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Also write a report to look at.")] = None,
    as_json: options.AsJson = False,
) -> None:
    """Estimate the accuracy of the whole pool from a campaign, or from a filled-in file."""
    options.check_outputs(html)
    names = options.split_list(wanted or "")
    with labels_of(file, pool) as labels:
        result = labels.estimate(level)
        result = result if metric is None else result.as_metric(metric)
        parts, more = _detail(labels, by=by or (), names=names, level=level)
    if as_json:
        show_json(_as_dict(result, parts, more))
    else:
        _show(result, parts, more)
    if html is not None:
        exhibits: list[Exhibit] = [one for part in parts for one in _exhibits(part)]
        exhibits += more.exhibits() if more is not None else []
        report.write_text(html, report.estimate_page(result, exhibits=exhibits))
        tell(f"report: {html}")


def _detail(
    labels: Labels, *, by: Sequence[str], names: Sequence[str], level: float
) -> tuple[list[Slices], Metrics | None]:
    """Slices and metrics, where they are asked for."""
    if not (by or names):
        return [], None
    labelled, items = labels.labelled(), labels.pool()
    parts = [slices(labelled, items, column, level=level, loss=labels.loss) for column in by]
    if not names:
        return parts, None
    truth = None if items.task == "regression" else true_classes_of(labelled, items, labels.answers())
    return parts, metrics(labelled, items, truth, names, level=level)


def _exhibits(part: Slices) -> list[Exhibit]:
    """A slice's table, below a chart where there is an interval to draw."""
    chart = part.chart()
    return [chart, part.table()] if chart.rows else [part.table()]


def _as_dict(result: Estimate, parts: Sequence[Slices], more: Metrics | None) -> dict[str, Any]:
    found = result.to_dict()
    if parts:
        found["slices"] = [part.to_dict() for part in parts]
    if more is not None:
        found["metrics"] = more.to_dict()
    return found


def _show(result: Estimate, parts: Sequence[Slices], more: Metrics | None) -> None:
    show_estimate(result)
    for part in parts:
        say()
        show_noted(part.table(), part.notes)
    if more is not None:
        _show_metrics(more)


def _show_metrics(found: Metrics) -> None:
    for exhibit in found.exhibits():
        table = _as_table(exhibit) if isinstance(exhibit, Matrix) else exhibit
        if isinstance(table, Table):
            say()
            # Those of the scores are those of all: they come last.
            show_noted(table, [] if table.name == "metrics/scores" else [table.note])
    for text in found.notes:
        say(f"  note: {text}")


def show_noted(table: Table, notes: Sequence[str]) -> None:
    """A table with what it means below it, one note a line."""
    show_table(replace(table, note=""))
    for text in notes:
        say(f"  note: {text}")


def _as_table(matrix: Matrix) -> Table:
    rows = tuple((name, *texts) for name, texts in zip(matrix.rows, matrix.texts, strict=True))
    return Table(matrix.name, matrix.title, ("predicted", *matrix.columns), rows, note=matrix.note)
