"""Measured tests as counts, and what surrogates that learn from them share: bands by resampling, held-out tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.rng import stream
from fieldcheck.core.space import Space
from fieldcheck.core.types import BoolArray, FloatArray, IntArray
from fieldcheck.tomography.surrogates.base import Evidence
from fieldcheck.tomography.surrogates.smooth import thinned

Predict = Callable[[IntArray], FloatArray]
"""From numbers of tests to their robustness."""


THINNED = 2000
"""Tests that stand for a large region when the spread of its mean is looked at."""


HELD_OUT = 0.2
"""Share of the measured tests that a surrogate is tried on."""


@dataclass(frozen=True, eq=False)
class Counts:
    """One per measured test: its number, how many inputs it saw, and on how many the check held."""

    space: Space
    tests: IntArray
    inputs: FloatArray
    held: FloatArray
    guess: float = 0.0

    @classmethod
    def of(cls, evidence: Evidence) -> Counts:
        if not len(evidence.outcomes):
            raise SpaceError("nothing was measured", rule="a surrogate learns from one outcome or more")
        tests, inputs, held = evidence.outcomes.counts()
        return cls(evidence.space, tests, inputs.astype(np.float64), held, evidence.guess)

    @cached_property
    def rates(self) -> FloatArray:
        return self.held / self.inputs

    @cached_property
    def orders(self) -> IntArray:
        return self.space.orders(self.tests)

    def select(self, chosen: BoolArray) -> Counts:
        return Counts(self.space, self.tests[chosen], self.inputs[chosen], self.held[chosen], self.guess)

    def resampled(self, rng: np.random.Generator) -> Counts:
        """The counts of outcomes drawn again with replacement: each outcome comes a Poisson number of times."""
        held, failed = rng.poisson(self.held), rng.poisson(self.inputs - self.held)
        again = Counts(self.space, self.tests, (held + failed).astype(np.float64), held.astype(np.float64), self.guess)
        return again.select(again.inputs > 0) if again.inputs.any() else self


@runtime_checkable
class Learner(Protocol):
    """Learns from counts."""

    def learn(self, counts: Counts, *, seed: int) -> Predict:
        """The robustness of any test."""
        ...


@dataclass(frozen=True, eq=False)
class CountFit:
    """A prediction, others that were learnt from resampled counts, and the error on held-out tests.

    The spread between members under-states the error of a surrogate that is wrong in the same way every time, so the
    error on held-out tests, less their own noise, is added to every band, also to that of a region.

    doubt
        A standard deviation to be added for each test, for what held-out tests cannot show; its errors go together.
    """

    main: Predict
    members: Sequence[Predict]
    error: float
    notes: tuple[str, ...]
    doubt: Predict | None = None

    def predict(self, tests: IntArray) -> tuple[FloatArray, FloatArray]:
        spread = np.var([member(tests) for member in self.members], axis=0, ddof=1)
        variance = spread + self.error**2 + self._doubts(tests) ** 2
        return np.clip(self.main(tests), 0.0, 1.0), np.minimum(np.sqrt(variance), 1.0)

    def region(self, tests: IntArray, weights: FloatArray) -> tuple[float, float]:
        at = thinned(weights, THINNED)
        means = [float(at.weights @ member(tests[at.places])) for member in self.members]
        mean = float(weights @ np.clip(self.main(tests), 0.0, 1.0))
        doubt = float(at.weights @ self._doubts(tests[at.places]))
        return mean, min(float(np.sqrt(np.var(means, ddof=1) + self.error**2 + doubt**2)), 1.0)

    def _doubts(self, tests: IntArray) -> FloatArray:
        return np.zeros(len(tests)) if self.doubt is None else self.doubt(tests)


def fit_counts(learner: Learner, evidence: Evidence, *, name: str, members: int, seed: int) -> CountFit:
    """Learn from the counts, from resampled ones, and from all but some tests."""
    counts = Counts.of(evidence)
    others = [
        learner.learn(counts.resampled(stream(seed, name, "resample", number)), seed=seed + number)
        for number in range(members)
    ]
    error, note = _held_out(learner, counts, name=name, seed=seed)
    return CountFit(learner.learn(counts, seed=seed), others, error, note)


def _held_out(learner: Learner, counts: Counts, *, name: str, seed: int) -> tuple[float, tuple[str, ...]]:
    """Root mean square error on tests that were not learnt from, less the noise of their own outcomes.

    Where too few can be held out to tell, it is the largest that so many outcomes of a single test would have.
    """
    left_out = held_out(counts, seed=seed)
    if left_out.sum() < 5:
        error = 0.5 / math.sqrt(counts.inputs.sum())
        return error, (f"{name}: too few tests to hold some out; bands are widened by {error:.3f} instead",)
    there = counts.select(left_out)
    found = learner.learn(counts.select(~left_out), seed=seed)(there.tests)
    noise = np.clip(found * (1 - found), 0.0, 0.25) / there.inputs
    error = float(np.sqrt(max(np.average((found - there.rates) ** 2 - noise, weights=there.inputs), 0.0)))
    return error, (f"{name}: error {error:.3f} on {len(there.tests)} held-out tests beyond their own noise",)


def held_out(counts: Counts, *, seed: int) -> BoolArray:
    """A random fifth of the tests of order two and more; the lower ones are what predictions start from."""
    keys = stream(seed, "held-out").bit_generator.random_raw(len(counts.tests))
    return np.asarray((counts.orders >= 2) & (keys < HELD_OUT * 2.0**64))


def weighted_rows(counts: Counts) -> tuple[IntArray, FloatArray, FloatArray]:
    """Severities, outcome (1.0 held, 0.0 not) and number of times: at most two rows per test."""
    severities = counts.space.severities(counts.tests)
    weights = np.concatenate([counts.held, counts.inputs - counts.held])
    outcomes = np.repeat([1.0, 0.0], len(counts.tests))
    there = weights > 0
    return np.concatenate([severities, severities])[there], outcomes[there], weights[there]
