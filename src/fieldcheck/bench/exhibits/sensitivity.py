"""How results move with the budget (tables 6 to 9 of the ICSE'24 paper) and with a technique's parameters."""

from __future__ import annotations

import contextlib
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from fieldcheck.accuracy.assessment import sampling
from fieldcheck.bench.ranking import geometric_mean
from fieldcheck.bench.rows import COUNTED, Row, budgets_of, designs_of, slug
from fieldcheck.core.exhibit import Cell, Line, LineChart, Table

Group = tuple[str, str, str]
"""Task, technique, auxiliary variable."""


def budget_tables(rows: Sequence[Row]) -> list[Table]:
    """Where the smallest RMSE is reached, and how failures grow; nothing with a single budget."""
    budgets = budgets_of(rows)
    if len(budgets) < 2:
        return []
    groups = _series(rows, budgets)
    return [_rmse_table(groups, budgets), _failures_growth(groups, budgets)]


def _series(rows: Sequence[Row], budgets: Sequence[int]) -> dict[Group, list[list[Row]]]:
    """By technique, for every subject its rows in order of budget; only subjects with all budgets."""
    series: dict[tuple[Group, str], list[Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row["budget"]):
        series[(row["task"], row["design"], row["auxiliary"]), row["subject"]].append(row)
    groups: dict[Group, list[list[Row]]] = defaultdict(list)
    for (group, _), members in series.items():
        if len(members) == len(budgets):
            groups[group].append(members)
    return groups


def _rmse_table(groups: Mapping[Group, Sequence[Sequence[Row]]], budgets: Sequence[int]) -> Table:
    smallest, largest = budgets[0], budgets[-1]
    return Table(
        name="sensitivity/budget-rmse",
        title="Budget with the smallest RMSE",
        columns=("task", "technique", "auxiliary", "subjects", *(f"n = {n}" for n in budgets), "inversions"),
        rows=tuple(_rmse_line(group, series) for group, series in groups.items()),
        note="Number of subjects whose RMSE is smallest at this budget: all should be at the largest. "
        f"Inversions: subjects whose RMSE is smaller with {smallest} labels than with {largest}.",
    )


def _rmse_line(group: Group, series: Sequence[Sequence[Row]]) -> tuple[Cell, ...]:
    errors = np.array([[row["rmse"] for row in members] for members in series])
    reached = np.bincount(errors.argmin(axis=1), minlength=errors.shape[1])
    inversions = int((errors[:, 0] < errors[:, -1]).sum())
    return (*group, len(series), *reached.tolist(), inversions)


def _failures_growth(groups: Mapping[Group, Sequence[Sequence[Row]]], budgets: Sequence[int]) -> Table:
    smallest, largest = budgets[0], budgets[-1]
    parts = (f"n = {smallest}", f"n = {largest}", "ratio")
    return Table(
        name="sensitivity/budget-failures",
        title="Failures found, from the smallest to the largest budget",
        columns=(
            *("task", "technique", "auxiliary", "subjects"),
            *(f"{count}, {part}" for count in ("draws", "items") for part in parts),
        ),
        rows=tuple(_growth_line(group, series) for group, series in groups.items()),
        note=f"Means over subjects; the budget grows by a factor of {largest / smallest:g}. {COUNTED}",
    )


def _growth_line(group: Group, series: Sequence[Sequence[Row]]) -> tuple[Cell, ...]:
    draws = _growth([(members[0]["failures_mean"], members[-1]["failures_mean"]) for members in series])
    items = _growth([(members[0]["exposed_mean"], members[-1]["exposed_mean"]) for members in series])
    return (*group, len(series), *draws, *items)


def _growth(ends: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    first, last = np.mean(ends, axis=0).tolist()
    return first, last, last / first if first > 0 else math.nan


def parameters(spec: str) -> dict[str, str]:
    """``deepest:r=0.6,weights=selected`` → ``{"r": "0.6", "weights": "selected"}``."""
    pieces = spec.partition(":")[2].split(",")
    return dict(piece.strip().split("=", 1) for piece in pieces if "=" in piece)


def parameter_charts(rows: Sequence[Row]) -> list[LineChart]:
    """RMSE and failures against every numeric parameter of which several values take part."""
    charts: list[LineChart] = []
    for (name, parameter), values in _studies(designs_of(rows)).items():
        members = [row for row in rows if row["design"] in values]
        for auxiliary in dict.fromkeys(row["auxiliary"] for row in members):
            own = [row for row in members if row["auxiliary"] == auxiliary]
            charts += _study_charts(own, values, name=name, parameter=parameter, auxiliary=auxiliary)
    return charts


def _studies(specs: Sequence[str]) -> dict[tuple[str, str], dict[str, float]]:
    """By technique and parameter, the value of each spec; specs of one study differ in it only."""
    families: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    named = sorted({(spec.partition(":")[0], key) for spec in specs for key in parameters(spec)})
    for name, parameter in named:
        for spec in specs:
            value = _value(spec, parameter) if spec.partition(":")[0] == name else None
            if value is not None:
                families[_without(spec, parameter), parameter][spec] = value
    return {study: values for study, values in families.items() if len(set(values.values())) > 1}


def _without(spec: str, parameter: str) -> str:
    """The spec without this parameter."""
    rest = [f"{key}={text}" for key, text in sorted(parameters(spec).items()) if key != parameter]
    return ":".join([spec.partition(":")[0], *filter(None, [",".join(rest)])])


def _value(spec: str, parameter: str) -> float | None:
    """The number that the technique works with: the one in the spec, else its default."""
    given = parameters(spec).get(parameter)
    if given is None:
        given = getattr(sampling.build_design(spec), parameter, None)
    with contextlib.suppress(TypeError, ValueError):
        return float(given)  # type: ignore[arg-type]
    return None


def _study_charts(
    rows: Sequence[Row], values: Mapping[str, float], *, name: str, parameter: str, auxiliary: str
) -> list[LineChart]:
    measures: dict[str, tuple[str, Callable[[Row], float], Callable[[Sequence[float]], float]]] = {
        "rmse": ("RMSE", lambda row: row["rmse"], geometric_mean),
        "draws": ("failing draws", lambda row: row["failures_mean"], lambda many: float(np.mean(many))),
        "items": ("distinct failing items", lambda row: row["exposed_mean"], lambda many: float(np.mean(many))),
    }
    return [
        LineChart(
            name=f"sensitivity/{slug(name, parameter, auxiliary, kind)}",
            title=f"{name}: {label} against {parameter} ({auxiliary})",
            x_label=parameter,
            y_label=label,
            lines=tuple(_study_line(rows, values, n, measure, mean) for n in budgets_of(rows)),
            note="Averaged over subjects (RMSE: geometric mean)."
            + (" An item drawn twice counts twice." if kind == "draws" else ""),
        )
        for kind, (label, measure, mean) in measures.items()
    ]


def _study_line(
    rows: Sequence[Row],
    values: Mapping[str, float],
    budget: int,
    measure: Callable[[Row], float],
    mean: Callable[[Sequence[float]], float],
) -> Line:
    at: dict[float, list[float]] = defaultdict(list)
    for row in rows:
        if row["budget"] == budget:
            at[values[row["design"]]].append(measure(row))
    points = sorted(at)
    return Line(label=f"n = {budget}", x=tuple(points), y=tuple(mean(at[point]) for point in points))
