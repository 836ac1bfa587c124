"""What surrogates with a Gaussian posterior share: bands for tests and regions from the gradient of the mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.space import Space
from fieldcheck.core.types import FloatArray, IntArray

CACHED = 5_000_000
"""In spaces of up to so many tests the mean of every test is kept once it is needed."""


EXACT = 4000
"""Bands of up to so many tests are computed one by one; of more, by a table that was fitted to as many."""


THINNED = 2000
"""Tests that stand for a region when the gradient of its mean is taken."""


BLOCK = 2000


class Predictor(Protocol):
    """The mean as a function of coefficients."""

    def everywhere(self) -> FloatArray:
        """Robustness of every test of the space, in the order of their numbers."""
        ...

    def means(self, tests: IntArray) -> FloatArray:
        """Robustness of some tests."""
        ...

    def gradients(self, tests: IntArray) -> FloatArray:
        """Its derivative in every coefficient: one row per test."""
        ...


@dataclass(frozen=True, eq=False)
class SmoothFit:
    """A predictor with the covariance of its coefficients.

    inflation
        Factor on the standard deviations: the posterior knows nothing of a model that is slightly wrong.
    """

    space: Space
    predictor: Predictor
    covariance: FloatArray
    inflation: float
    notes: tuple[str, ...] = ()

    @cached_property
    def _means(self) -> FloatArray:
        return self.predictor.everywhere()

    def means(self, tests: IntArray) -> FloatArray:
        """Robustness of some tests."""
        if self.space.size <= CACHED and (len(tests) > EXACT or "_means" in self.__dict__):
            return np.asarray(self._means[tests], dtype=np.float64)
        return _in_blocks(self.predictor.means, tests)

    def predict(self, tests: IntArray) -> tuple[FloatArray, FloatArray]:
        return np.clip(self.means(tests), 0.0, 1.0), self._predict_errors(tests)

    def _predict_errors(self, tests: IntArray) -> FloatArray:
        if len(tests) <= EXACT:
            return self._errors(tests)
        return self._all_errors[tests] if self.space.size <= CACHED else _in_blocks(self._fitted_errors, tests)

    @cached_property
    def _all_errors(self) -> FloatArray:
        return _in_blocks(self._fitted_errors, np.arange(self.space.size, dtype=np.int64), block=200_000)

    def region(self, tests: IntArray, weights: FloatArray) -> tuple[float, float]:
        at = thinned(weights, THINNED)
        gradient = at.weights @ self.predictor.gradients(tests[at.places])
        error = self.inflation * float(np.sqrt(gradient @ self.covariance @ gradient))
        return float(np.clip(weights @ self.means(tests), 0.0, 1.0)), min(error, 1.0)

    def _errors(self, tests: IntArray) -> FloatArray:
        return np.minimum(self.inflation * _in_blocks(self._deviations, tests), 1.0)

    def _deviations(self, tests: IntArray) -> FloatArray:
        gradients = self.predictor.gradients(tests)
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", gradients @ self.covariance, gradients)))

    def _fitted_errors(self, tests: IntArray) -> FloatArray:
        """Deviations read off the table; its rows are severities, orders and how undecided the mean is."""
        tables, orders, slope = self._error_table
        severities = self.space.severities(tests)
        logs = slope * self._undecided(tests) + orders[np.count_nonzero(severities, axis=1)]
        for axis, table in enumerate(tables):
            logs += table[severities[:, axis]]
        return np.asarray(np.minimum(np.exp(logs), 1.0))

    @cached_property
    def _error_table(self) -> tuple[list[FloatArray], FloatArray, float]:
        """Logarithm of the deviations as a sum: one term per axis and severity, one per order, one for the mean."""
        tests = self._sample()
        severities = self.space.severities(tests)
        columns = [np.eye(size)[severities[:, axis]] for axis, size in enumerate(self.space.shape)]
        orders = np.eye(len(columns) + 1)[np.count_nonzero(severities, axis=1)]
        design = np.column_stack([*columns, orders, self._undecided(tests)])
        logs = np.log(np.maximum(self._errors(tests), 1e-6))
        found = np.linalg.solve(design.T @ design + 1e-3 * np.eye(design.shape[1]), design.T @ logs)
        *tables, by_order = np.split(found[:-1], np.cumsum(self.space.shape))
        return tables, by_order, float(found[-1])

    def _undecided(self, tests: IntArray) -> FloatArray:
        means = self.means(tests)
        return np.log(np.maximum(means * (1 - means), 1e-6))

    def _sample(self) -> IntArray:
        """Tests for the table: half from the whole space, half with every order equally often."""
        draws = ItemStreams.of(0, "bands", np.arange(EXACT), 0)
        axes = len(self.space.axes)
        severities = (draws.uniforms(axes) * np.array(self.space.shape)).astype(np.int64)
        ranks = draws.words(axes, lane=1).argsort(axis=1).argsort(axis=1)
        at_work = ranks < draws.below(axes + 1, lane=2)
        at_work[::2] = True
        return self.space.numbers(np.where(at_work, severities, 0))


@dataclass(frozen=True, eq=False)
class Thinned:
    """Places in a list of tests, and their weights."""

    places: IntArray
    weights: FloatArray


def thinned(weights: FloatArray, count: int) -> Thinned:
    """At most so many of the places, in proportion to their weights and evenly along the list."""
    if len(weights) <= count:
        return Thinned(np.arange(len(weights)), weights)
    targets = (np.arange(count) + 0.5) / count * weights.sum()
    places = np.minimum(np.searchsorted(np.cumsum(weights), targets), len(weights) - 1)
    return Thinned(places.astype(np.int64), np.full(count, 1 / count))


def _in_blocks(function: Callable[[IntArray], FloatArray], tests: IntArray, *, block: int = BLOCK) -> FloatArray:
    parts = [function(tests[first : first + block]) for first in range(0, len(tests), block)]
    return np.concatenate(parts) if parts else np.zeros(0)
