"""The analyses of the ICSE'21 and ICSE'24 studies on a finished comparison, as exhibits to show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from fieldcheck.bench.exhibits.contestants import contestant_matrices, nested, pairs_table
from fieldcheck.bench.exhibits.figures import figures
from fieldcheck.bench.exhibits.groups import breakdown_table, group_tables
from fieldcheck.bench.exhibits.sensitivity import budget_tables, parameter_charts
from fieldcheck.bench.ranking import (
    best_auxiliary_table,
    efficiency_table,
    failures_table,
    top_three_table,
    wins_matrix,
)
from fieldcheck.bench.result import CellResult, Result
from fieldcheck.bench.rows import ACCURATE, Config, Row, budgets_of, configurations, designs_of, slug, usual_budget
from fieldcheck.bench.significance import Dunn, Friedman, dunn, friedman
from fieldcheck.core.exhibit import Exhibit, Matrix, Table

ALPHA = 0.05


def analyse(result: Result, *, accurate: float = ACCURATE) -> list[Exhibit]:
    """Tables, matrices and charts; what a comparison is too small for is left out.

    Cells whose auxiliary variable gives away the outcome are in the table of all cells and nowhere else.

    accurate
        Models from this accuracy on count as highly accurate.
    """
    rows = result.fair_rows()
    exhibits: list[Exhibit] = [summary_table(result.rows())]
    if len(designs_of(rows)) > 1:
        exhibits += [*significance(result), *_comparisons(rows, accurate)]
    exhibits += contestant_matrices(result)
    exhibits += [failures_table(rows, budget) for budget in budgets_of(rows)]
    return [*exhibits, *group_tables(rows), *budget_tables(rows), *parameter_charts(rows), *figures(result, rows)]


def evidence(result: Result) -> list[Table]:
    """Tables that are too long for a page: every pair that was tested, with its exact p-value."""
    tables = (_dunn_table(_tested(result)), pairs_table(result))
    return [table for table in tables if table.rows]


def _comparisons(rows: Sequence[Row], accurate: float) -> list[Exhibit]:
    maybe = (
        efficiency_table(rows),
        wins_matrix(rows),
        top_three_table(rows, accurate),
        best_auxiliary_table(rows),
        breakdown_table(rows),
    )
    return [one for one in maybe if one is not None]


def summary_table(rows: Sequence[Row]) -> Table:
    """Every row of the comparison."""
    columns = tuple(Row.__annotations__)
    return Table(
        name="summary/rows",
        title="All cells",
        columns=columns,
        rows=tuple(tuple(row[column] for column in columns) for row in rows),  # type: ignore[literal-required]
    )


@dataclass(frozen=True, eq=False)
class TestedConfig:
    """The tests of one configuration."""

    config: Config
    names: tuple[str, ...]
    friedman: Friedman
    dunn: Dunn


def significance(result: Result) -> list[Exhibit]:
    """Friedman's test for every configuration; Dunn's at the usual budget, and counted over all.

    Empty with one repetition: there is nothing to tell chance from.
    """
    tested = _tested(result)
    if not tested:
        return []
    budget = usual_budget(budgets_of(result.fair_rows()))
    matrices = [_dunn_matrix(one) for one in tested if one.config.budget == budget]
    return [_friedman_table(tested), _dunn_summary(tested), *matrices]


def _tested(result: Result) -> list[TestedConfig]:
    found: dict[tuple[str, str, str, int], CellResult] = {tuple(one.cell): one for one in result.cells}  # type: ignore[misc]
    tested = []
    for config, rows in configurations(result.fair_rows()).items():
        members = [found[row["subject"], row["design"], row["auxiliary"], row["budget"]] for row in rows]
        errors = np.column_stack([np.abs(member.errors) for member in members])
        if min(errors.shape) > 1:
            names = tuple(row["design"] for row in rows)
            tested.append(TestedConfig(config, names, friedman(errors), dunn(list(errors.T))))
    return tested


def _friedman_table(tested: Sequence[TestedConfig]) -> Table:
    return Table(
        name="significance/friedman",
        title="Do the techniques differ? Friedman's test on absolute errors",
        columns=(
            *(*Config._fields, "techniques", "chi-squared", "p", "Iman-Davenport F", "p (F)"),
            *("smallest mean rank", "technique"),
        ),
        rows=tuple(_friedman_line(one) for one in tested),
        note=f"Repetitions are blocks. p under {ALPHA:g}: the techniques do not all estimate equally well.",
    )


def _friedman_line(one: TestedConfig) -> tuple[str | float | int, ...]:
    test = one.friedman
    best = int(np.argmin(test.mean_ranks))
    statistics = (test.statistic, test.p_value, test.f_statistic, test.f_p_value)
    return (*one.config, len(one.names), *statistics, test.mean_ranks[best], one.names[best])


def _dunn_matrix(one: TestedConfig) -> Matrix:
    texts = tuple(tuple(f"{p:.2g}" for p in line) for line in one.dunn.p_value)
    return Matrix(
        name=f"significance/dunn-{slug(one.config.subject, one.config.auxiliary)}",
        title=f"Who estimates better? Dunn's test: {one.config.subject}, {one.config.auxiliary}, "
        f"{one.config.budget} labels",
        rows=one.names,
        columns=one.names,
        values=nested(one.dunn.better(ALPHA)),
        texts=tuple(tuple("" if i == j else text for j, text in enumerate(line)) for i, line in enumerate(texts)),
        exact=nested(one.dunn.p_value),
        note=f"Two-sided p-values, adjusted after Holm; a difference counts under {ALPHA:g}.",
    )


def _dunn_table(tested: Sequence[TestedConfig]) -> Table:
    return Table(
        name="significance/dunn",
        title="Dunn's test, every pair of techniques in every configuration",
        columns=(*Config._fields, "technique", "other", "z", "p"),
        rows=tuple(line for one in tested for line in _dunn_lines(one)),
        note="Negative z: the technique has the smaller errors. p: two-sided, adjusted after Holm in a configuration.",
    )


def _dunn_lines(one: TestedConfig) -> list[tuple[str | float | int, ...]]:
    pairs = combinations(range(len(one.names)), 2)
    values = [(i, j, float(one.dunn.z[i, j]), float(one.dunn.p_value[i, j])) for i, j in pairs]
    return [(*one.config, one.names[i], one.names[j], z, p) for i, j, z, p in values]


def _dunn_summary(tested: Sequence[TestedConfig]) -> Matrix:
    """Over all configurations: how often the row is significantly better, less how often it is worse."""
    names = tuple(dict.fromkeys(name for one in tested for name in one.names))
    won, met = np.zeros((2, len(names), len(names)))
    for one in tested:
        place = np.array([names.index(name) for name in one.names])
        won[np.ix_(place, place)] += one.dunn.better(ALPHA) == 1
        met[np.ix_(place, place)] += 1
    values = (won - won.T) / np.maximum(met, 1)
    np.fill_diagonal(values, np.nan)
    return Matrix(
        name="significance/dunn-all",
        title="Who estimates better, over all configurations? Dunn's test",
        rows=names,
        columns=names,
        values=nested(values),
        texts=tuple(
            tuple("" if i == j or not met[i, j] else f"{won[i, j]:g} : {won[j, i]:g}" for j in range(len(names)))
            for i in range(len(names))
        ),
        legend=((1.0, "row always better"), (0.0, "no difference"), (-1.0, "row always worse")),
        note="Significantly better : worse, over all configurations (subject, auxiliary, budget).",
    )
