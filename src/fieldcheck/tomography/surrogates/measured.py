"""What was measured in full is not predicted: a test that ran on every input has no error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fieldcheck.core.space import Outcomes
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.surrogates.base import FittedSurrogate


@dataclass(frozen=True, eq=False)
class WithMeasured:
    """A surrogate for the tests that did not run on all inputs, and the outcomes of those that did.

    tests, rates
        Tests that ran on every input, in ascending order, and their robustness.
    """

    surrogate: FittedSurrogate
    tests: IntArray
    rates: FloatArray

    @classmethod
    def of(cls, surrogate: FittedSurrogate, outcomes: Outcomes, inputs: int) -> FittedSurrogate:
        """The surrogate itself where no test ran on all of so many inputs."""
        pairs = np.column_stack([outcomes.tests, outcomes.inputs])
        once = np.unique(pairs, axis=0, return_index=True)[1]
        rows = outcomes.select(np.sort(once))
        every, counts = np.unique(rows.tests, return_counts=True)
        tests, there, held = rows.applicable.counts()
        whole = np.isin(tests, every[counts >= inputs])
        return cls(surrogate, tests[whole], held[whole] / there[whole]) if inputs and whole.any() else surrogate

    @property
    def notes(self) -> tuple[str, ...]:
        return (
            f"{len(self.tests):,} tests ran on every input: they are measured, not predicted",
            *self.surrogate.notes,
        )

    def predict(self, tests: IntArray) -> tuple[FloatArray, FloatArray]:
        means, errors = self.surrogate.predict(tests)
        at, known = self._known(tests)
        return np.where(known, self.rates[at], means), np.where(known, 0.0, errors)

    def region(self, tests: IntArray, weights: FloatArray) -> tuple[float, float]:
        at, known = self._known(tests)
        left = float(weights[~known].sum())
        measured = float(weights[known] @ self.rates[at[known]])
        if not left > 0:
            return measured, 0.0
        mean, error = self.surrogate.region(tests[~known], weights[~known] / left)
        return measured + left * mean, left * error

    def _known(self, tests: IntArray) -> tuple[IntArray, np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]:
        """Where each test is among the measured ones, and whether it is one of them."""
        at = np.minimum(np.searchsorted(self.tests, tests), len(self.tests) - 1)
        return at, self.tests[at] == tests
