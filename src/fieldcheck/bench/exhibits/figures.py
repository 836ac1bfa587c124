"""The figures of a comparison: estimates, errors and coverage against the budget; offsets in regression."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from fieldcheck.bench.ranking import mse_ratio
from fieldcheck.bench.result import CellResult, Result
from fieldcheck.bench.rows import (
    Config,
    Row,
    budgets_of,
    configurations,
    designs_of,
    is_reference,
    slug,
    usual_budget,
)
from fieldcheck.bench.signals import FailureCurve
from fieldcheck.core.exhibit import BarChart, Exhibit, Line, LineChart, Table

Place = tuple[str, str]
"""Subject and auxiliary variable."""


def figures(result: Result, rows: Sequence[Row]) -> list[Exhibit]:
    """All charts, place by place."""
    charts: list[Exhibit] = []
    for place, members in by_place(rows).items():
        charts += [mean_chart(place, members), rmse_chart(place, members), rmse_bars(place, members)]
        charts += [error_bars(place, members), coverage_chart(place, members, result.level)]
        charts += [failures_chart(place, members), *efficiency_chart(place, members)]
    return [*charts, *map(failing_chart, result.curves), *offset_exhibits(result)]


def by_place(rows: Sequence[Row]) -> dict[Place, list[Row]]:
    """Rows that share a subject and an auxiliary variable; techniques without one are in each."""
    places: dict[Place, list[Row]] = defaultdict(list)
    for config, members in configurations(rows).items():
        places[config.subject, config.auxiliary] += members
    return places


def mean_chart(place: Place, rows: Sequence[Row]) -> LineChart:
    """Mean estimate, with a band of one standard deviation of the repetitions."""
    lines = [
        Line(
            label=line.label,
            x=line.x,
            y=line.y,
            low=tuple(row["mean"] - _sd(row) for row in members),
            high=tuple(row["mean"] + _sd(row) for row in members),
        )
        for line, members in _lines(rows, lambda row: row["mean"])
    ]
    return _chart(
        "estimates", place, "Mean estimate ± standard deviation", "estimate", lines,
        reference=rows[0]["truth"], reference_label="truth",
    )  # fmt: skip


def rmse_chart(place: Place, rows: Sequence[Row]) -> LineChart:
    """RMSE falls as one over the root of the budget: a straight line where both axes are logarithmic."""
    lines = [line for line, _ in _lines([row for row in rows if row["rmse"] > 0], lambda row: row["rmse"])]
    return _chart("rmse", place, "RMSE against the budget", "RMSE", lines, log=True)


def coverage_chart(place: Place, rows: Sequence[Row], level: float) -> LineChart:
    """Share of intervals that contain the truth."""
    lines = [line for line, _ in _lines(rows, lambda row: row["coverage"])]
    return _chart(
        "coverage", place, "Coverage of the intervals", "share that contains the truth", lines,
        reference=level, reference_label="promised",
    )  # fmt: skip


def failures_chart(place: Place, rows: Sequence[Row]) -> LineChart:
    """Failing draws against the budget: figure 4 of ICSE'21."""
    lines = [line for line, _ in _lines(rows, lambda row: row["failures_mean"])]
    return _chart("found", place, "Failing draws against the budget", "failing draws", lines)


def efficiency_chart(place: Place, rows: Sequence[Row]) -> list[LineChart]:
    """MSE over that of simple random sampling against the budget (figures 3, 4 and 7 of FSE'19); none without it."""
    bases = {row["budget"]: row for row in rows if is_reference(row["design"])}
    others = [row for row in rows if row["budget"] in bases and not is_reference(row["design"])]
    lines = [line for line, _ in _lines(others, lambda row: mse_ratio(row, bases[row["budget"]]))]
    title, reached = "Efficiency against the budget", "MSE / MSE of srs"
    return [_chart("efficiency", place, title, reached, lines, reference=1.0, reference_label="srs") for _ in lines[:1]]


def error_bars(place: Place, rows: Sequence[Row]) -> BarChart:
    """RMSE beside RMedSE at the usual budget: figures 2, 4 and 5 of ICSE'24. Far apart: a few outliers."""
    budget = usual_budget(budgets_of(rows))
    own = [row for row in rows if row["budget"] == budget]
    return BarChart(
        name=f"error-bars/{slug(*place)}",
        title=f"RMSE and RMedSE: {_where(place)}, {budget} labels",
        x_label="technique",
        y_label="error",
        groups=tuple(row["design"] for row in own),
        series=("RMSE", "RMedSE"),
        values=(tuple(row["rmse"] for row in own), tuple(row["rmedse"] for row in own)),
    )


def failing_chart(curve: FailureCurve) -> LineChart:
    """Auxiliary value against failing: figures 5 to 7 of ICSE'21."""
    return LineChart(
        name=f"failing/{slug(curve.subject, curve.auxiliary)}",
        title=f"Share that fails: {curve.subject} by {curve.auxiliary}",
        x_label=f"{curve.auxiliary}, larger is more suspicious",
        y_label="share that fails",
        lines=(
            Line(label="tenths of the pool", x=curve.value, y=curve.share),
            Line(label="logistic regression", x=curve.at, y=curve.chance),
        ),
        note="A steep curve tells failures apart; a flat one does not.",
    )


def rmse_bars(place: Place, rows: Sequence[Row]) -> BarChart:
    """RMSE of every technique, a bar for each budget."""
    names, budgets = designs_of(rows), budgets_of(rows)
    found = {(row["budget"], row["design"]): row["rmse"] for row in rows}
    return BarChart(
        name=f"rmse-bars/{slug(*place)}",
        title=f"RMSE: {_where(place)}",
        x_label="technique",
        y_label="RMSE",
        groups=names,
        series=tuple(f"n = {n}" for n in budgets),
        values=tuple(tuple(found.get((n, name), math.nan) for name in names) for n in budgets),
    )


def offset_exhibits(result: Result) -> list[Exhibit]:
    """Regression: labelled items by how far off they are, with the usual budget (tables 4 and 5 of ICSE'24)."""
    measured = {(*one.cell[:3], one.cell.budget): one for one in result.fair_cells() if one.offsets.size}
    rows = [one.row() for one in measured.values()]
    if not rows:
        return []
    budget = usual_budget(budgets_of(rows))
    found: list[Exhibit] = []
    for config, members in configurations(rows).items():
        if config.budget == budget:
            cells = [measured[row["subject"], row["design"], row["auxiliary"], row["budget"]] for row in members]
            found += [_offset_chart(config, cells), _offset_table(config, cells), _beyond_chart(config, cells)]
    return found


def _offset_chart(config: Config, found: Sequence[CellResult]) -> BarChart:
    return BarChart(
        name=f"offsets/{slug(config.subject, config.auxiliary)}",
        title=f"Offsets of labelled items: {_where(config[:2])}, {config.budget} labels",
        x_label="absolute error of the prediction",
        y_label="labelled items, mean over repetitions",
        groups=_bins(found[0]),
        series=tuple(one.cell.design for one in found),
        values=tuple(tuple(one.offsets.mean(axis=0).tolist()) for one in found),
        note="The last bin also holds what is beyond it.",
    )


def _offset_table(config: Config, found: Sequence[CellResult]) -> Table:
    """The histogram in numbers, and N(δ ≥ y): items at least so far off."""
    edges = [f"≥ {low:.3g}" for low in found[0].offset_edges.tolist()[:-1]]
    lines = [(one.cell.design, *one.offsets.mean(axis=0).tolist(), *_beyond(one)) for one in found]
    return Table(
        name=f"offsets/table-{slug(config.subject, config.auxiliary)}",
        title=f"Offsets of labelled items: {_where(config[:2])}, {config.budget} labels",
        columns=("technique", *_bins(found[0]), *edges),
        rows=tuple(lines),
        note="Means over repetitions: items in each bin (the last also holds what is beyond it), then items that are "
        "at least so far off.",
    )


def _beyond_chart(config: Config, found: Sequence[CellResult]) -> LineChart:
    at = tuple(found[0].offset_edges.tolist()[:-1])
    return LineChart(
        name=f"offsets/beyond-{slug(config.subject, config.auxiliary)}",
        title=f"Items at least so far off: {_where(config[:2])}, {config.budget} labels",
        x_label="absolute error of the prediction, y",
        y_label="labelled items with an error of y or more",
        lines=tuple(Line(label=one.cell.design, x=at, y=_beyond(one)) for one in found),
    )


def _beyond(one: CellResult) -> tuple[float, ...]:
    return tuple(np.cumsum(one.offsets.mean(axis=0)[::-1])[::-1].tolist())


def _bins(one: CellResult) -> tuple[str, ...]:
    return tuple(f"{low:.3g} - {high:.3g}" for low, high in pairwise(one.offset_edges.tolist()))


def _sd(row: Row) -> float:
    """Standard deviation of the repetitions, from mean squared error and bias."""
    return math.sqrt(max(row["rmse"] ** 2 - row["bias"] ** 2, 0.0))


def _lines(rows: Sequence[Row], measure: Callable[[Row], float]) -> list[tuple[Line, list[Row]]]:
    by_design: dict[str, list[Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row["budget"]):
        by_design[row["design"]].append(row)
    return [(_line(name, members, measure), members) for name, members in by_design.items()]


def _line(name: str, rows: Sequence[Row], measure: Callable[[Row], float]) -> Line:
    return Line(label=name, x=tuple(float(row["budget"]) for row in rows), y=tuple(map(measure, rows)))


def _where(place: Sequence[str]) -> str:
    return " with ".join(place) if place[1] != "none" else place[0]


def _chart(
    section: str,
    place: Place,
    title: str,
    y_label: str,
    lines: Sequence[Line],
    *,
    log: bool = False,
    reference: float | None = None,
    reference_label: str = "",
) -> LineChart:
    return LineChart(
        name=f"{section}/{slug(*place)}",
        title=f"{title}: {_where(place)}",
        x_label="labels",
        y_label=y_label,
        lines=tuple(lines),
        x_log=True,
        y_log=log,
        reference=reference,
        reference_label=reference_label,
    )
