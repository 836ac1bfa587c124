"""Where a model is weakest: conditions, interactions, and how little it takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fieldcheck.core import words
from fieldcheck.core.space import Condition
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.answers.ask import band, base_of, condition, weakest
from fieldcheck.tomography.answers.profile import Profile
from fieldcheck.tomography.answers.run import Run
from fieldcheck.tomography.plans.base import low_orders

LISTED = 5_000_000
"""Tests among which the smallest failing combination is looked for; larger spaces: among low orders."""


@dataclass(frozen=True)
class Interaction:
    """Two perturbations together.

    expected
        Robustness if each took its share independently of the other: ``r_a r_b / r_0``.
    excess
        How much lower the robustness is than that; below zero, the two hide each other.
    error
        Standard deviation of the surrogate at this test: an excess of the same size says little.
    """

    condition: Condition
    expected: float
    excess: float
    error: float


@dataclass(frozen=True)
class CorruptionError:
    """Mean corruption error: the share of wrong answers under single perturbations, each counting the same.

    Hendrycks and Dietterich, Benchmarking neural network robustness, ICLR 2019; as for CIFAR-10-C not divided by the
    errors of another model.

    low, high
        Its interval.
    by
        The mean over the levels of each perturbation.
    """

    mean: float
    low: float
    high: float
    by: dict[str, float]

    def __str__(self) -> str:
        parts = ", ".join(f"{name} {words.percent(error)}" for name, error in self.by.items())
        mean, low, high = map(words.percent, (self.mean, self.low, self.high))
        return f"mean corruption error {mean} [{low}, {high}]: {parts}"


@dataclass(frozen=True)
class Weakness:
    """What to look at first."""

    conditions: tuple[Condition, ...]
    interactions: tuple[Interaction, ...]
    smallest: Condition | None
    below: float
    corruption: CorruptionError | None


def weaknesses(
    run: Run,
    *,
    order: int = 2,
    count: int = 10,
    below: float | None = None,
    level: float = 0.95,
    profile: Profile | None = None,
) -> Weakness:
    """The weakest conditions up to an order, the strongest interactions, and the smallest combination that fails.

    below
        A robustness under this is a failure; by default ten points under that of unperturbed inputs.
    profile
        What has no weight in it is not listed.
    """
    tests = _possible(run, np.sort(low_orders(run.space, order)), profile)
    limit = _base(run) - 0.1 if below is None else below
    return Weakness(
        conditions=weakest(run.fitted, run.outcomes, run.space, tests=tests, level=level, count=count),
        interactions=interactions(run, count=count, level=level, profile=profile),
        smallest=smallest(run, limit, level=level, profile=profile),
        below=limit,
        corruption=corruption_error(run, level=level),
    )


def _possible(run: Run, tests: IntArray, profile: Profile | None) -> IntArray:
    """Those that are applicable and that the profile gives a weight."""
    tests = run.applicable(tests)
    return tests if profile is None else tests[profile.of_tests(run.space, tests) > 0]


def corruption_error(run: Run, *, level: float = 0.95) -> CorruptionError | None:
    """The mean corruption error, in the tests that are applicable; None where no single perturbation is."""
    singles = [run.applicable(_alone(run, axis)[1:]) for axis in range(len(run.space.axes))]
    there = {name: tests for name, tests in zip(run.space.names, singles, strict=True) if len(tests)}
    if not there:
        return None
    weights = np.concatenate([np.full(len(tests), 1 / (len(there) * len(tests))) for tests in there.values()])
    mean, error = run.fitted.region(np.concatenate(list(there.values())), weights)
    low, high = band(mean, error, level)
    by = {name: float(1 - run.fitted.predict(tests)[0].mean()) for name, tests in there.items()}
    return CorruptionError(1 - mean, 1 - high, 1 - low, by)


def _alone(run: Run, axis: int) -> IntArray:
    """The tests with nothing but one perturbation, by its level from 0 on."""
    severities = np.zeros((run.space.shape[axis], len(run.space.axes)), dtype=np.int64)
    severities[:, axis] = np.arange(len(severities))
    return run.space.numbers(severities)


def interactions(run: Run, *, count: int, level: float, profile: Profile | None = None) -> tuple[Interaction, ...]:
    """Pairs of perturbations that are worse together than they should be, worst first."""
    if len(run.space.axes) < 2:
        return ()
    tests = low_orders(run.space, 2)
    pairs = _possible(run, tests[run.space.orders(tests) == 2], profile)
    means, errors = run.fitted.predict(pairs)
    expected = independent(run, run.space.severities(pairs))
    order = np.lexsort((pairs, means - expected))[:count]
    return tuple(
        Interaction(
            condition(run.fitted, run.outcomes, run.space, test=int(pairs[at]), level=level),
            float(expected[at]),
            float(expected[at] - means[at]),
            float(errors[at]),
        )
        for at in order.tolist()
    )


def independent(run: Run, severities: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> FloatArray:
    """``r_0 Π (r_j / r_0)`` over the perturbations at work, one per row of severities."""
    base = max(_base(run), 1e-9)
    found = np.full(len(severities), base)
    for axis in range(len(run.space.axes)):
        means, _ = run.fitted.predict(_alone(run, axis))
        found *= np.where(severities[:, axis] > 0, means[severities[:, axis]] / base, 1.0)
    return np.asarray(np.minimum(found, 1.0))


def smallest(run: Run, below: float, *, level: float, profile: Profile | None = None) -> Condition | None:
    """The test with the smallest sum of severities whose robustness is under a limit; of those, the weakest."""
    tests = np.arange(run.space.size) if run.space.size <= LISTED else np.sort(low_orders(run.space, 3))
    tests = _possible(run, tests, profile)
    means, _ = run.fitted.predict(tests)
    failing = np.flatnonzero(means < below)
    if not len(failing):
        return None
    sums = run.space.severities(tests[failing]).sum(axis=1)
    first = failing[np.lexsort((means[failing], sums))[0]]
    return condition(run.fitted, run.outcomes, run.space, test=int(tests[first]), level=level)


def _base(run: Run) -> float:
    return base_of(run.fitted, run.outcomes)[0]
