"""The figures of the tomography paper (Arif et al., TestifAI, ICSE 2026), made for our runs.

    python benchmarks/tomography_figures.py [2] [3] [4] [6] [7] [9] [11]    7 makes 8, too; 9 makes 10

Writes ``results/tomography/*.svg`` and prints the numbers behind them. Truths: ``tomography_subjects.py``.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
from sklearn.ensemble import RandomForestRegressor

from fieldcheck import report
from fieldcheck.bench.tomography import queries
from fieldcheck.core.exhibit import BarChart, IntervalChart, IntervalRow, Line, LineChart
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.report.charts.draw import Chart
from fieldcheck.tomography.quality.map import measure_quality
from fieldcheck.tomography.setup.executor import Executor
from fieldcheck.tomography.setup.truth import RecordedTruth
from fieldcheck.tomography.surrogates.base import FittedSurrogate
from tomography_runs import (
    RULES,
    SHARES,
    SMALL,
    all_tests,
    choices,
    first_three,
    fit,
    pools,
    query_errors,
)
from tomography_subjects import TASKS, truth

FOLDER = Path(__file__).parent / "results" / "tomography"
QUERIES = tuple(f"Q{number}" for number in range(1, 13))
WAYS = {"published": ("pairs", "forest", None), "default": ("spread", "auto", SMALL)}
"""Plan, surrogate and inferences; no number: all inputs."""


def figure_2() -> Iterator[Chart]:
    """Robustness by order."""
    for task in TASKS.values():
        known = truth(task)
        orders = known.space.orders(all_tests(known.space))
        rows = tuple(_spread(f"order {order}", known.robustness[orders == order]) for order in range(1, 5))
        note = "median of the tests of an order, from the weakest to the strongest"
        yield IntervalChart(
            f"figure2_{task.name}", f"{task.title}: robustness by order", "robustness", rows,
            truth=float(known.robustness[0]), truth_label="unperturbed", note=note,
        )  # fmt: skip


def figure_3() -> Iterator[Chart]:
    """Errors of all 216 tests, published way and default."""
    rows = []
    for task in TASKS.values():
        known = first_three(task)
        for way in WAYS:
            errors = _fitted(task.name, way).predict(all_tests(known.space))[0] - known.robustness
            rows.append(_spread(f"{task.name}, {way}", errors))
            print(f"figure 3, {task.name}, {way}: within .1 {np.mean(np.abs(errors) <= 0.1):.3f}")
    yield IntervalChart(
        "figure3", "Errors of 216 tests: median and all", "predicted less true robustness", tuple(rows), truth=0.0,
        truth_label="no error",
    )  # fmt: skip


def figure_4() -> Iterator[Chart]:
    """Inferences by way of running, on a pool of 5,000."""
    pool = next(pools())
    inputs = pool.held.shape[1]
    ways = {"full": 216 * inputs, "orders <= 2": pool.held.size}
    ways |= {f"orders <= 2, {rule}": len(pool.stopped(rule)) for rule in RULES} | {"spread": SMALL}
    counts = tuple(float(count) for count in ways.values())
    yield BarChart("figure4", f"{pool.title}: inferences", "", "inferences", tuple(ways), ("inferences",), (counts,))


def figure_6() -> Iterator[Chart]:
    """Errors of the twelve queries, and the predicted drop."""
    for way in WAYS:
        errors, drops = [], []
        for task in TASKS.values():
            known, fitted = first_three(task), _fitted(task.name, way)
            found = query_errors(known, fitted)
            errors.append(tuple(found.tolist()))
            drops.append(tuple((found + _true_answers(known) - known.robustness[0]).tolist()))
            print(f"figure 6, {task.name}, {way}: largest {np.abs(found).max():.3f}, Q8 {found[7]:+.3f}")
        for what, values in (("error", errors), ("drop", drops)):
            yield BarChart(
                f"figure6_{what}_{way}", f"Queries, {way} way: {what}", "", what, QUERIES, tuple(TASKS), tuple(values)
            )


def _true_answers(known: RecordedTruth) -> FloatArray:
    return np.array([known.robustness[tests].mean() for tests in queries(known.space)])


def figure_7() -> Iterator[Chart]:
    """Ordered against random choice of tests, in three and four dimensions."""
    for task in TASKS.values():
        for number, known, repetitions in ((7, first_three(task), 10), (8, truth(task), 3)):
            lines = []
            for one in choices(known, repetitions=repetitions):
                low, high = (tuple((np.array(one.mean) + sign * np.array(one.deviation)).tolist()) for sign in (-1, 1))
                lines.append(Line(one.plan, SHARES, one.mean, low, high))
            title = f"{task.title}: error by share of the {known.space.size:,} tests that were run"
            yield LineChart(f"figure{number}_{task.name}", title, "share of the tests", "MSE of the rest", tuple(lines))


def figure_9() -> Iterator[Chart]:
    """Quality by sum of severities, measured and predicted, and its errors (figure 10)."""
    rows = []
    for task in TASKS.values():
        found = _qualities(task.name)
        sums = truth(task).space.severities(found.tests).sum(axis=1)
        drop = truth(task).robustness[0] - truth(task).robustness[found.tests]
        span = float(np.ptp(found.actual))  # a KID has the scale of its features
        lines = [
            _by_sum(name, sums, values / span)
            for name, values in (("measured", found.actual), ("default", found.ours), ("published", found.forest))
        ]
        yield LineChart(
            f"figure9_{task.name}", f"{task.title}: quality by sum of severities", "sum of severities",
            f"{found.measure} / its range; drop",
            (*lines, _by_sum("drop of accuracy", sums, drop)),
        )  # fmt: skip
        for name, values in (("published", found.forest), ("default", found.ours)):
            rows.append(_spread(f"{task.name}, {name}", (values - found.actual)[found.unseen] / span))
            mean = np.abs(values - found.actual)[found.unseen].mean()
            print(f"figure 10, {task.name}, {name}: mean absolute error {mean:.4f}, {mean / span:.4f} of the range")
    yield IntervalChart(
        "figure10", "Errors of predicted quality", "predicted less measured, of the range", tuple(rows), truth=0.0,
        truth_label="no error",
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Qualities:
    """Scores of tests of all orders: measured, and predicted from other tests.

    unseen
        Places of the tests that neither prediction knew.
    everywhere
        One per test of the space, from all that was measured.
    """

    measure: str
    tests: IntArray
    actual: FloatArray
    ours: FloatArray
    forest: FloatArray
    unseen: IntArray
    everywhere: FloatArray


@cache
def _qualities(name: str) -> Qualities:
    """480 tests are measured, all of order two and less among them; predicted from 150, and from those orders."""
    executor = _executor(TASKS[name].subject().executor)
    many, few = (measure_quality(executor, tests=count) for count in (480, 150))
    severities, orders = executor.space.severities(many.tests), executor.space.orders(many.tests)
    forest = RandomForestRegressor(100, bootstrap=False, random_state=0)
    forest.fit(severities[orders <= 2], many.measured[orders <= 2])
    return Qualities(
        measure=many.score,
        tests=many.tests,
        actual=many.measured,
        ours=few.predicted[many.tests],
        forest=forest.predict(severities),
        unseen=np.flatnonzero((orders > 2) & ~np.isin(many.tests, few.tests)),
        everywhere=many.predicted,
    )


def _executor(found: Executor | None) -> Executor:
    if found is None:
        raise TypeError("a recorded truth has no inputs to perturb")
    return found


def _by_sum(name: str, sums: IntArray, values: FloatArray) -> Line:
    """Mean by sum of severities, with its standard error."""
    at = np.unique(sums)
    means = np.array([values[sums == one].mean() for one in at])
    errors = np.array([values[sums == one].std() / np.sqrt((sums == one).sum()) for one in at])
    return Line(
        name, tuple(map(float, at)), tuple(means.tolist()), tuple((means - errors).tolist()),
        tuple((means + errors).tolist()),
    )  # fmt: skip


def figure_11() -> Iterator[Chart]:
    """Pictures of tests with the same sum of severities; written as they are made."""
    for name in ("digits", "photos"):
        executor = _executor(TASKS[name].subject().executor)
        tests = executor.space.numbers(SHOWN)
        scores = _qualities(name).everywhere[tests]
        cells = []
        for row, item in enumerate((3, 17, 25)):
            batch, which = executor.perturbed(tests, np.full(len(tests), item))
            cells += [
                (row, column, batch[at], f"{SHOWN[column]} {scores[column]:.3f}") for column, at in enumerate(which)
            ]
        report.write_text(FOLDER / f"figure11_{name}.svg", _pictures(cells))
    yield from ()


SHOWN = ((0, 0, 0, 0), (5, 5, 0, 0), (0, 0, 5, 5), (5, 0, 5, 0), (4, 3, 3, 0), (1, 1, 3, 5), (3, 3, 2, 2))
"""Severities of the pictures: clean, and with a sum of ten."""


def _pictures(cells: list[tuple[int, int, npt.NDArray[np.uint8], str]], *, size: int = 100) -> str:
    """Small pictures in rows, each with its severities and its score."""
    rows, columns = 1 + max(cell[0] for cell in cells), 1 + max(cell[1] for cell in cells)
    parts = []
    for row, column, image, words in cells:
        shown = image[..., ::-1] if image.ndim == 3 else image
        large = cv2.resize(np.ascontiguousarray(shown), (size, size), interpolation=cv2.INTER_NEAREST)
        data = base64.b64encode(cv2.imencode(".png", large)[1].tobytes()).decode()
        x, y = column * (size + 12), row * (size + 24)
        parts.append(
            f'<image x="{x}" y="{y}" width="{size}" height="{size}" href="data:image/png;base64,{data}"/>'
            f'<text x="{x}" y="{y + size + 14}" font-family="sans-serif" font-size="10">{words}</text>'
        )
    width, height = columns * (size + 12), rows * (size + 24)
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">{"".join(parts)}</svg>\n'


@cache
def _fitted(name: str, way: str) -> FittedSurrogate:
    plan, surrogate, budget = WAYS[way]
    return fit(first_three(TASKS[name]), plan, surrogate, budget=budget).surrogate


def _spread(label: str, values: FloatArray) -> IntervalRow:
    return IntervalRow(label, float(np.median(values)), float(values.min()), float(values.max()))


FIGURES: dict[str, Callable[[], Iterator[Chart]]] = {
    "2": figure_2, "3": figure_3, "4": figure_4, "6": figure_6, "7": figure_7, "9": figure_9, "11": figure_11,
}  # fmt: skip


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for number in sys.argv[1:] or FIGURES:
        for chart in FIGURES[number]():
            report.write_text(FOLDER / f"{chart.name}.svg", report.svg_file(chart))
            print(f"{chart.name}.svg", flush=True)


if __name__ == "__main__":
    main()
