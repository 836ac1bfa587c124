"""The figures of a comparison: estimates, errors and coverage against the budget; offsets in regression."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from fieldcheck.bench.result import CellResult, Result
from fieldcheck.bench.rows import Config, Row, budgets_of, configurations, designs_of, slug, usual_budget
from fieldcheck.core.exhibit import BarChart, Line, LineChart

Place = tuple[str, str]
"""Subject and auxiliary variable."""


def figures(result: Result, rows: Sequence[Row]) -> list[LineChart | BarChart]:
    """All charts, place by place."""
    charts: list[LineChart | BarChart] = []
    for place, members in by_place(rows).items():
        charts += [mean_chart(place, members), rmse_chart(place, members), rmse_bars(place, members)]
        charts.append(coverage_chart(place, members, result.level))
    return [*charts, *offset_charts(result)]


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


def offset_charts(result: Result) -> list[BarChart]:
    """Regression: labelled items by how far off the prediction is, with the usual budget."""
    measured = {(*one.cell[:3], one.cell.budget): one for one in result.fair_cells() if one.offsets.size}
    rows = [one.row() for one in measured.values()]
    if not rows:
        return []
    budget = usual_budget(budgets_of(rows))
    return [
        _offset_chart(config, members, measured)
        for config, members in configurations(rows).items()
        if config.budget == budget
    ]


def _offset_chart(
    config: Config, rows: Sequence[Row], measured: Mapping[tuple[str, str, str, int], CellResult]
) -> BarChart:
    found = [measured[row["subject"], row["design"], row["auxiliary"], row["budget"]] for row in rows]
    edges = found[0].offset_edges.tolist()
    return BarChart(
        name=f"offsets/{slug(config.subject, config.auxiliary)}",
        title=f"Offsets of labelled items: {_where(config[:2])}, {config.budget} labels",
        x_label="absolute error of the prediction",
        y_label="labelled items, mean over repetitions",
        groups=tuple(f"{low:.3g} - {high:.3g}" for low, high in pairwise(edges)),
        series=tuple(one.cell.design for one in found),
        values=tuple(tuple(one.offsets.mean(axis=0).tolist()) for one in found),
        note="The last bin also holds what is beyond it.",
    )


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
