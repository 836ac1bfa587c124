"""Plans and surrogates on recorded truths: how far off, and whether their bands hold."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from statistics import fmean

import numpy as np

from fieldcheck import tomography
from fieldcheck.core.errors import BenchError
from fieldcheck.core.space import Space
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.answers.run import measure
from fieldcheck.tomography.plans import registry as plans
from fieldcheck.tomography.plans.base import Plan
from fieldcheck.tomography.runs.schedule import BASE
from fieldcheck.tomography.setup.truth import RecordedTruth
from fieldcheck.tomography.surrogates import base
from fieldcheck.tomography.surrogates import registry as surrogates

ORDERS = ">=3"

BAND = 1.959963984540054
"""Standard deviations on either side of a band of 95 %."""

HALF, NESTED = 2, (1, 3, 4)
"""The queries of the paper: low is up to HALF; nested regions go up to these severities, and to all."""


@dataclass(frozen=True)
class TomographyRow:
    """One plan with one surrogate on one truth; means over the repetitions, over tests of order three and more.

    max_error
        Largest error of a test.
    within_0_1
        Share of the tests whose error is at most 0.1.
    query_error_mean, query_error_max
        Mean and largest error over the queries: every combination of low and high severities, and nested regions.
    coverage
        Share of the tests whose band of 95 % holds the truth.
    inferences
        Rows that were measured; where nothing was left that could be found, none was needed.
    cpu_seconds
        To fit and to predict every test.
    """

    truth: str
    plan: str
    surrogate: str
    inferences: int
    repetitions: int
    orders: str
    mse: float
    mae: float
    max_error: float
    within_0_1: float
    query_error_mean: float
    query_error_max: float
    coverage: float
    cpu_seconds: float


@dataclass(frozen=True)
class TomographyResult:
    """All rows of a comparison."""

    rows: tuple[TomographyRow, ...]

    def to_json(self) -> str:
        return json.dumps({"rows": [asdict(row) for row in self.rows]}, indent=2) + "\n"


def bench(
    truths: Sequence[RecordedTruth],
    *,
    plan_specs: Sequence[str],
    surrogate_specs: Sequence[str],
    budgets: Sequence[int | None],
    repetitions: int,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> TomographyResult:
    """Every plan with every surrogate at every budget on every truth."""
    cells = list(product(truths, plan_specs, surrogate_specs, budgets))
    for name, registry in ((plan_specs, plans), (surrogate_specs, surrogates)):
        for spec in name:
            registry.build(spec)  # a misspelt name is told before any work is done
    rows = []
    for done, (truth, plan, surrogate, budget) in enumerate(cells):
        repeated = []
        for repetition in range(repetitions):
            repeated.append(_once(truth, plans.build(plan), surrogate, budget, seed + repetition))
            if progress is not None:
                progress(done * repetitions + repetition + 1, len(cells) * repetitions)
        rows.append(_summed_up(truth.name, plan, surrogate, repeated))
    return TomographyResult(tuple(rows))


@dataclass(frozen=True, eq=False)
class _Repetition:
    """Errors (predicted less true) of the tests and of the queries; whether each band held."""

    inferences: int
    errors: FloatArray
    queries: FloatArray
    covered: FloatArray
    seconds: float


def _once(truth: RecordedTruth, plan: Plan, surrogate: str, budget: int | None, seed: int) -> _Repetition:
    """As the command runs it: unperturbed inputs first, and what was measured in full is not predicted."""
    run = measure(tomography.of_truth(truth), plan=plan, budget=budget, surrogate=surrogate, seed=seed, base=BASE)
    started = time.process_time()
    fitted = run.fitted
    means, deviations = fitted.predict(np.arange(truth.space.size))
    seconds = time.process_time() - started
    judged = truth.applicable[truth.space.orders(truth.applicable) >= min(3, len(truth.space.axes))]
    errors = (means - truth.robustness)[judged]
    covered = np.abs(errors) <= BAND * deviations[judged] + 1e-12
    return _Repetition(len(run.outcomes), errors, _query_errors(truth, fitted), covered.astype(np.float64), seconds)


def _query_errors(truth: RecordedTruth, fitted: base.FittedSurrogate) -> FloatArray:
    found = []
    for tests in regions(truth):
        mean, _ = fitted.region(tests, np.full(len(tests), 1 / len(tests)))
        found.append(mean - truth.robustness[tests].mean())
    return np.array(found)


def regions(truth: RecordedTruth) -> Iterator[IntArray]:
    """Tests of each query that are applicable; queries without one are left out."""
    for tests in queries(truth.space):
        left = np.intersect1d(tests, truth.applicable, assume_unique=True)
        if len(left):
            yield left


def queries(space: Space) -> Iterator[IntArray]:
    """Tests of each query of the paper: all combinations of low and high severities, then nested regions."""
    severities = space.severities(np.arange(space.size))
    for high in product((False, True), repeat=len(space.axes)):
        inside = ((severities > HALF) == np.array(high)).all(axis=1)
        if inside.any():
            yield np.flatnonzero(inside)
    for most in (*NESTED, max(space.shape)):
        yield np.flatnonzero((severities <= most).all(axis=1))


def _summed_up(truth: str, plan: str, surrogate: str, repeated: Sequence[_Repetition]) -> TomographyRow:
    if not repeated:
        raise BenchError("no repetition", rule="1 or more")

    def mean(value: Callable[[_Repetition], float]) -> float:
        return fmean(float(value(one)) for one in repeated)

    return TomographyRow(
        truth=truth,
        plan=plan,
        surrogate=surrogate,
        inferences=round(mean(lambda one: one.inferences)),
        repetitions=len(repeated),
        orders=ORDERS,
        mse=mean(lambda one: (one.errors**2).mean()),
        mae=mean(lambda one: np.abs(one.errors).mean()),
        max_error=mean(lambda one: np.abs(one.errors).max()),
        within_0_1=mean(lambda one: (np.abs(one.errors) <= 0.1).mean()),
        query_error_mean=mean(lambda one: np.abs(one.queries).mean()),
        query_error_max=mean(lambda one: np.abs(one.queries).max()),
        coverage=mean(lambda one: one.covered.mean()),
        cpu_seconds=mean(lambda one: one.seconds),
    )
