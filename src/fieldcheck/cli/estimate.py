"""``fieldcheck estimate``: what the labels say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from fieldcheck import report
from fieldcheck.accuracy.assessment import metrics, slices
from fieldcheck.accuracy.assessment.scores import Metrics
from fieldcheck.accuracy.comparison.changes import Change
from fieldcheck.accuracy.comparison.difference import Comparison
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.cli import campaigns, options
from fieldcheck.cli.next_step import next_step
from fieldcheck.cli.show import say, show_estimate, show_json, show_statement, show_table, tell
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.exhibit import Exhibit, Matrix, Table


def estimate(
    storage: campaigns.Storage,
    pool: campaigns.PoolMoved = None,
    engine: options.EngineName = "local",
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
    new_classes: options.NewClasses = None,
    html: Annotated[Path | None, typer.Option(help="Also write a report to look at.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Also how it was made: technique, seed ...")] = False,
    as_json: options.AsJson = False,
) -> None:
    """What the labels say: the accuracy of the whole pool, or which model is better."""
    options.check_outputs(html)
    names = options.split_list(wanted or "")
    with campaigns.open_campaign(storage, pool, new_classes=new_classes or (), engine=engine) as campaign:
        result = campaign.estimate(level=level)
        if isinstance(result, Comparison):
            _show_comparison(campaign, result, plain=not (by or names or metric or html), as_json=as_json)
            return
        result = result if metric is None else result.as_metric(metric)
        change = campaign.view.change(level=level, by=by or ())
        parts, more = _detail(campaign, by=(by or ()) if change is None else (), names=names, level=level)
        step = next_step(campaign, result, storage)
    if as_json:
        show_json(
            {
                **_as_dict(result, parts, more),
                "next": step,
                **({"change": change.to_dict()} if change is not None else {}),
            }
        )
    else:
        show_estimate(result, verbose=verbose, next_step=step)
        if change is not None and result.task == "classification":
            _show_change(change, verbose=verbose)
        _show_detail(parts, more)
    if html is not None:
        exhibits: list[Exhibit] = [one for part in parts for one in _exhibits(part)]
        exhibits += more.exhibits() if more is not None else []
        report.write_text(html, report.estimate_page(result, exhibits=exhibits))
        tell(f"report: {html}")


def _show_change(change: Change, *, verbose: bool) -> None:
    say(change.sentence())
    for table in (*(one.table() for one in change.cuts), *(change.lists() if verbose else ())):
        say()
        show_table(table)


def _show_comparison(campaign: Campaign, result: Comparison, *, plain: bool, as_json: bool) -> None:
    if not plain:
        campaign.view.labelled()  # says why there are no parts and metrics
    if as_json:
        show_json(result.to_dict())
    else:
        show_statement(result)


def _detail(
    campaign: Campaign, *, by: Sequence[str], names: Sequence[str], level: float
) -> tuple[list[slices.Slices], Metrics | None]:
    """Slices and metrics, where they are asked for."""
    if not (by or names):
        return [], None
    (labelled, _), items = campaign.view.labelled(), campaign.pool
    parts = [slices.slices(labelled, items, column, level=level, loss=campaign.settings.loss) for column in by]
    if not names:
        return parts, None
    truth = None if items.task == "regression" else metrics.true_classes_of(labelled, items, campaign.view.labels())
    return parts, metrics.metrics(labelled, items, truth, names, level=level)


def _exhibits(part: slices.Slices) -> list[Exhibit]:
    """A slice's table, below a chart where there is an interval to draw."""
    chart = part.chart()
    return [chart, part.table()] if chart.rows else [part.table()]


def _as_dict(result: Estimate, parts: Sequence[slices.Slices], more: Metrics | None) -> dict[str, Any]:
    found = result.to_dict()
    if parts:
        found["slices"] = [part.to_dict() for part in parts]
    if more is not None:
        found["metrics"] = more.to_dict()
    return found


def _show_detail(parts: Sequence[slices.Slices], more: Metrics | None) -> None:
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
