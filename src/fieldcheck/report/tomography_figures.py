"""What there is to look at in a run."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.exhibit import Exhibit, Line, LineChart, Matrix, Table
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.answers import independence as apart
from fieldcheck.tomography.answers.run import Run
from fieldcheck.tomography.answers.weak_spots import Weakness
from fieldcheck.tomography.plans import Spread

Z = 1.959964


SAMPLE = 4_000
"""Tests of a large space that stand for all in the figure of orders."""


LEGEND = ((1.0, "always right"), (0.0, "right half the time"), (-1.0, "never right"))


def exhibits(run: Run, found: Weakness) -> list[Exhibit]:
    """Figures and tables, by the part of their name before "/"."""
    return [alone(run), orders(run), *pairs(run), *tables(found), *pairs_apart(run)]


def alone(run: Run) -> LineChart:
    """Each perturbation by itself, from none to its worst."""
    lines = []
    for axis, name in enumerate(run.space.names):
        severities = np.zeros((run.space.shape[axis], len(run.space.axes)), dtype=np.int64)
        severities[:, axis] = np.arange(len(severities))
        mean, low, high = _band(run, run.space.numbers(severities))
        steps = tuple(float(step) for step in range(len(severities)))
        lines.append(Line(name, steps, _plain(mean), _plain(low), _plain(high)))
    return LineChart(
        "one_at_a_time/severity", "Each perturbation alone", "severity", "robustness", tuple(lines), share=True
    )


def orders(run: Run) -> Table:
    """How robustness is spread over the tests of each order: from the weakest tenth to the strongest."""
    tests = np.arange(run.space.size, dtype=np.int64)
    if run.space.size > 10 * SAMPLE:
        tests = Spread().rows(run.space, 2, budget=SAMPLE, seed=0).tests
    tests = run.applicable(tests)
    of = run.space.orders(tests)
    means, _ = run.fitted.predict(tests)
    rows = [(order, *_spread(means[of == order])) for order in np.unique(of).tolist()]
    columns = ("order", "one test in ten is below", "median test", "one test in ten is above")
    note = "How much the tests of an order differ from each other; these are no bounds of an estimate."
    return Table("by_order/spread", "Robustness by number of perturbations", columns, tuple(rows), note=note)


def _spread(means: FloatArray) -> tuple[float, ...]:
    return tuple(float(np.quantile(means, share)) for share in (0.1, 0.5, 0.9))


def pairs(run: Run) -> list[Matrix]:
    """Two perturbations at once, for every two of them."""
    return [_pair(run, *two) for two in combinations(range(len(run.space.axes)), 2)]


def _pair(run: Run, first: int, second: int) -> Matrix:
    rows, columns = run.space.shape[first], run.space.shape[second]
    severities = np.zeros((rows * columns, len(run.space.axes)), dtype=np.int64)
    severities[:, first], severities[:, second] = np.divmod(np.arange(rows * columns), columns)
    means = run.fitted.predict(run.space.numbers(severities))[0].reshape(rows, columns)
    names = run.space.names
    return Matrix(
        name=f"two_at_a_time/{names[first]}-{names[second]}",
        title=f"{names[first]} (down) with {names[second]} (across): robustness in percent",
        rows=tuple(str(level) for level in range(rows)),
        columns=tuple(str(level) for level in range(columns)),
        values=tuple(tuple(float(2 * value - 1) for value in row) for row in means),
        texts=tuple(tuple(f"{100 * value:.0f}" for value in row) for row in means),
        legend=LEGEND,
    )


def independence(found: tuple[apart.PairVerdict, ...]) -> Table:
    """Which perturbations act apart."""
    rows = tuple(
        (
            f"{one.first}, {one.second}",
            one.resampled.cells,
            one.published.p_value,
            one.resampled.p_value,
            one.decision,
        )
        for one in found
    )
    columns = ("pair", "tests", "p, published chi-square", "p, resampled", "decision")
    return Table(
        "where_to_look_first/independence",
        "Do two perturbations act apart?",
        columns,
        rows,
        note="The decision goes by the resampled test, 5 % over all pairs; the published one rejects too often.",
    )


def pairs_apart(run: Run) -> list[Table]:
    """The same of a run; nothing where no two were measured alone and together."""
    try:
        return [independence(apart.independence(run.space, run.outcomes, seed=run.seed))]
    except SpaceError:
        return []


def tables(found: Weakness) -> list[Table]:
    """The weakest conditions and the strongest interactions."""
    conditions = tuple((str(one), one.robustness, one.low, one.high, one.inputs) for one in found.conditions)
    together = tuple(
        (str(one.condition), one.condition.robustness, one.expected, one.excess, one.error)
        for one in found.interactions
    )
    return [
        Table(
            "where_to_look_first/conditions",
            "Weakest conditions",
            ("condition", "robustness", "low", "high", "inputs"),
            conditions,
        ),
        Table(
            "where_to_look_first/interactions",
            "Strongest interactions",
            ("condition", "robustness", "if independent", "excess", "sd"),
            together,
            note="excess: how much lower than if each perturbation took its share independently",
        ),
    ]


def _band(run: Run, tests: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    means, errors = run.fitted.predict(tests)
    return means, np.clip(means - Z * errors, 0, 1), np.clip(means + Z * errors, 0, 1)


def _plain(values: FloatArray) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
