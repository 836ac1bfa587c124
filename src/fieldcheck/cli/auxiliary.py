"""``fieldcheck auxiliary``: how well each auxiliary variable separates failures, where the truth is known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fieldcheck import report
from fieldcheck.accuracy.assessment import signals
from fieldcheck.cli import options
from fieldcheck.cli.show import show_json, show_table, tell
from fieldcheck.core.versions import versions


def auxiliary(
    pool: options.PoolFile,
    truth: options.Truth = None,
    names: Annotated[
        str, typer.Option("--auxiliary", "-a", help="Only these, between commas; by default all of the pool.")
    ] = "",
    columns: options.Columns = None,
    task: options.TaskName = None,
    shift: options.Shift = None,
    encoding: options.Encoding = None,
    html: Annotated[Path | None, typer.Option(help="Also write a report with a curve for each.")] = None,
    as_json: options.AsJson = False,
) -> None:
    """How well each auxiliary variable of a pool tells failures from the rest: AUC, failures among the riskiest."""
    options.check_outputs(html)
    items = options.load_pool(pool, truth=truth, columns=columns, task=task, shift=shift, encoding=encoding)
    found = signals.separation(items, options.split_list(names))
    options.tell_notes(items)
    if as_json:
        show_json(found.to_dict())
    else:
        show_table(found.table())
        for text in found.warnings:
            tell(f"warning: {text}")
    if html is not None:
        report.write_text(html, _page(found))
        tell(f"report: {html}")


def _page(found: signals.Separation) -> str:
    sections = [report.Section("", (found.table(),)), report.Section("Curves", found.charts())]
    return report.page(
        "Auxiliary variables",
        lead=[_lead(found)],
        sections=sections,
        warnings=found.warnings,
        version=versions().get("fieldcheck", ""),
    )


def _lead(found: signals.Separation) -> str:
    if not found.signals:
        return "This pool has no auxiliary variable."
    best = found.signals[0]
    what = "AUC" if found.task == "classification" else "rank correlation"
    return f"'{best.name}' separates best: {what} {best.separation:.3f}; achievable RMSE ratio {best.ratio:.2f}."
