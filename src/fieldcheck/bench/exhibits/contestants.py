"""Every technique with every auxiliary variable against every other: tables II and III of the ICSE'21 paper."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import numpy as np

from fieldcheck.bench.ranking import both_counts
from fieldcheck.bench.result import CellResult, Result
from fieldcheck.bench.rows import Row, contestant, slug, usual_budget
from fieldcheck.bench.significance import Dunn, dunn
from fieldcheck.core.exhibit import Cell, Matrix, Table
from fieldcheck.core.types import FloatArray

ALPHA = 0.05

COLOURS = f"Colour: Dunn's test with Holm's adjustment over all pairs, at {ALPHA:g}"


@dataclass(frozen=True, eq=False)
class Meeting:
    """All contestants on one subject with one budget; a technique meets itself with another auxiliary variable, too."""

    subject: str
    budget: int
    cells: tuple[CellResult, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(contestant(one.cell.design, one.cell.auxiliary) for one in self.cells)

    @cached_property
    def precision(self) -> FloatArray:
        """Row to column: mean squared error of the column over that of the row; over 1 where the row is better."""
        return _ratios([1 / error if (error := _mse(one)) > 0 else math.inf for one in self.cells])

    @cached_property
    def failures(self) -> FloatArray:
        """Row to column: mean failing draws; over 1 where the row finds more."""
        return _ratios([float(one.failures.mean()) for one in self.cells])

    @cached_property
    def errors_test(self) -> Dunn:
        """Of the absolute errors of single repetitions."""
        return dunn([np.abs(one.errors) for one in self.cells])

    @cached_property
    def failures_test(self) -> Dunn:
        """Of the failing draws of single repetitions, the most first."""
        return dunn([-one.failures.astype(np.float64) for one in self.cells])


def meetings(result: Result) -> list[Meeting]:
    """Where several contestants met, more than once each."""
    places: dict[tuple[str, int], list[CellResult]] = defaultdict(list)
    for one in result.fair_cells():
        places[one.cell.subject, one.cell.budget].append(one)
    found = [Meeting(*place, tuple(cells)) for place, cells in places.items()]
    return [one for one in found if len(one.cells) > 1 and len(one.cells[0].values) > 1]


def contestant_matrices(result: Result) -> list[Matrix]:
    """Of each subject at the usual budget; and who wins over all. Empty with one contestant or one repetition."""
    met = meetings(result)
    if not met:
        return []
    budget = usual_budget([one.budget for one in met])
    return [
        _wins(result.fair_rows()),
        *(matrix for one in met if one.budget == budget for matrix in _matrices(one)),
    ]


def _matrices(one: Meeting) -> Iterator[Matrix]:
    where = f"{one.subject}, {one.budget} labels"
    precision, failures = f"Relative precision: {where}", f"Relative number of failures: {where}"
    over = "over 1 where the row is better"
    yield _matrix(one, "precision", title=precision, exact=one.precision, test=one.errors_test,
                  note=f"MSE of the column / MSE of the row: {over}. {COLOURS}, of absolute errors.")  # fmt: skip
    yield _matrix(one, "failures", title=failures, exact=one.failures, test=one.failures_test,
                  note=f"Failing draws of the row / of the column: {over}. {COLOURS}, of failing draws.")  # fmt: skip
    yield _matrix(one, "precision-p", title=f"p of {precision.lower()}", exact=one.errors_test.p_value,
                  test=one.errors_test, note=f"Two-sided. {COLOURS}, of absolute errors.")  # fmt: skip
    yield _matrix(one, "failures-p", title=f"p of {failures.lower()}", exact=one.failures_test.p_value,
                  test=one.failures_test, note=f"Two-sided. {COLOURS}, of failing draws.")  # fmt: skip


def _matrix(one: Meeting, kind: str, *, title: str, exact: FloatArray, test: Dunn, note: str) -> Matrix:
    shown = exact.copy()
    np.fill_diagonal(shown, np.nan)
    return Matrix(
        name=f"contestants/{kind}-{slug(one.subject)}",
        title=title,
        rows=one.names,
        columns=one.names,
        values=nested(test.better(ALPHA)),
        texts=tuple(tuple("" if math.isnan(value) else f"{value:.3g}" for value in line) for line in shown.tolist()),
        exact=nested(shown),
        note=note,
    )


def _wins(rows: Sequence[Row]) -> Matrix:
    """Table III f: as the wins of techniques, for contestants."""
    places: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in rows:
        places[row["subject"], row["budget"]].append(row)
    met: dict[tuple[str, str], list[tuple[Row, Row]]] = defaultdict(list)
    for members in places.values():
        for one, other in permutations(members, 2):
            met[_name(one), _name(other)].append((one, other))
    names = tuple(dict.fromkeys(map(_name, rows)))
    return both_counts(met, names, name="contestants/wins", title="Better on both counts: contestants")


def _name(row: Row) -> str:
    return contestant(row["design"], row["auxiliary"])


PAIR: dict[str, Callable[[Meeting, int, int], float]] = {
    "relative precision": lambda one, i, j: one.precision[i, j],
    "p (errors)": lambda one, i, j: one.errors_test.p_value[i, j],
    "relative failures": lambda one, i, j: one.failures[i, j],
    "p (failures)": lambda one, i, j: one.failures_test.p_value[i, j],
    "share of all failures, %": lambda one, i, j: _share(one.cells[i]),
    "of the other, %": lambda one, i, j: _share(one.cells[j]),
}


def pairs_table(result: Result) -> Table:
    """Every pair of contestants on every subject with every budget: table III, and the shares of table II."""
    return Table(
        name="contestants/pairs",
        title="Every contestant against every other",
        columns=("subject", "budget", "technique", "auxiliary", "other technique", "other auxiliary", *PAIR),
        rows=tuple(line for one in meetings(result) for line in _pair_lines(one)),
        note="Relative precision: MSE of the other / MSE of the technique. Failures: failing draws; shares: distinct "
        "failing items of all in the pool. p: Dunn's test, two-sided, adjusted after Holm over all pairs of a subject "
        "and budget.",
    )


def _pair_lines(one: Meeting) -> Iterator[tuple[Cell, ...]]:
    for i, j in permutations(range(len(one.cells)), 2):
        first, second = one.cells[i].cell, one.cells[j].cell
        names = (first.design, first.auxiliary, second.design, second.auxiliary)
        yield (one.subject, one.budget, *names, *(float(value(one, i, j)) for value in PAIR.values()))


def _share(one: CellResult) -> float:
    return 100 * float(one.exposed.mean()) / one.failing if one.failing else math.nan


def _mse(one: CellResult) -> float:
    return float(np.mean(one.errors**2))


def _ratios(values: Sequence[float]) -> FloatArray:
    """Row over column; nan where both are zero or both are not finite."""
    many = np.array(values, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(many[:, None] / many[None, :])


def nested(values: FloatArray) -> tuple[tuple[float, ...], ...]:
    """The rows of an array as tuples."""
    return tuple(tuple(line) for line in values.tolist())
