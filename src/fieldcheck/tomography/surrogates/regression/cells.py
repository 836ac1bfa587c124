"""Robustness input by input, where tests make the same of some: what was seen is taken, the rest is predicted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fieldcheck.core.types import BoolArray, FloatArray, IntArray
from fieldcheck.numerics import special
from fieldcheck.numerics.regression import grouped_logistic
from fieldcheck.tomography.surrogates.alike import Alike
from fieldcheck.tomography.surrogates.base import Evidence
from fieldcheck.tomography.surrogates.regression.basis import Basis
from fieldcheck.tomography.surrogates.regression.data import RegressionData
from fieldcheck.tomography.surrogates.smooth import SmoothFit


@dataclass(frozen=True, eq=False)
class MeanOverCells:
    """The mean over the inputs, each as the first test that makes the same of it; see ``smooth.Predictor``.

    severities
        Of every test.
    members
        Class of every input.
    unseen, chances, slopes, guess_slopes
        By test (rows) and input (columns): whether the model was not asked about it; the outcome, or else the chance
        that the check holds; the derivatives of that in the logits of the known and of the guess.
    """

    basis: Basis
    severities: IntArray
    members: IntArray
    alike: Alike
    unseen: BoolArray
    chances: FloatArray
    slopes: FloatArray
    guess_slopes: FloatArray

    @classmethod
    def of(
        cls,
        evidence: Evidence,
        alike: Alike,
        data: RegressionData,
        basis: Basis,
        posterior: grouped_logistic.LogisticPosterior,
    ) -> MeanOverCells:
        mean, outcomes = posterior.mean, evidence.outcomes
        severities = data.space.severities(np.arange(data.space.size))
        logits = (basis.shared(severities) @ mean[: basis.first_class])[:, None]
        guesses = np.zeros_like(logits)
        if basis.classes:
            own, guessed = (
                part.reshape(basis.classes, -1).T
                for part in (mean[basis.first_class : basis.first_guess], mean[basis.first_guess :])
            )
            logits = logits + basis.bends.rows(severities) @ own
            guesses = guesses + basis.guesses.rows(severities) @ guessed
        members, intercepts = _inputs(evidence, alike, data, posterior)
        at = alike.first, np.broadcast_to(members, alike.first.shape)
        known = special.expit(logits[at] + intercepts)
        found = grouped_logistic.Chances.of(known, grouped_logistic.guessed(guesses[at], data.guess))
        unseen = np.ones(known.shape, dtype=np.bool_)
        unseen[outcomes.tests, outcomes.inputs] = False
        chances = found.total
        chances[outcomes.tests, outcomes.inputs] = outcomes.held
        return cls(basis, severities, members, alike, unseen, chances, found.slope * unseen, found.guess_slope * unseen)

    def everywhere(self) -> FloatArray:
        return np.asarray(self.chances.mean(axis=1))

    def means(self, tests: IntArray) -> FloatArray:
        return np.asarray(self.chances[tests].mean(axis=1))

    def gradients(self, tests: IntArray) -> FloatArray:
        slopes = list(self._by_class(tests, self.slopes))
        parts = [sum(slopes) @ self.basis.shared(self.severities)]
        if self.basis.classes:
            bends, guesses = self.basis.bends.rows(self.severities), self.basis.guesses.rows(self.severities)
            parts += [one @ bends for one in slopes]
            parts += [one @ guesses for one in self._by_class(tests, self.guess_slopes)]
        return np.column_stack(parts)

    def _by_class(self, tests: IntArray, values: FloatArray) -> Iterator[Any]:
        """Per class, what each first test (columns) adds to the mean over the inputs of each test (rows)."""
        from scipy.sparse import csr_array

        for code in range(max(1, self.basis.classes)):
            inside = np.ix_(tests, np.flatnonzero(self.members == code))
            rows = np.broadcast_to(np.arange(len(tests))[:, None], self.alike.first[inside].shape)
            places = rows.ravel(), self.alike.first[inside].ravel()
            entries = values[inside].ravel() / len(self.members)
            yield csr_array((entries, places), shape=(len(tests), len(self.severities)))

    def noise(self, tests: IntArray, weights: FloatArray) -> float:
        """Variance of a weighted mean over tests that comes from outcomes which were not seen."""
        inputs = len(self.members)
        cells = self.alike.cells(tests[:, None], np.arange(inputs))
        shares = np.bincount(cells.ravel(), np.where(self.unseen[tests], weights[:, None] / inputs, 0.0).ravel())
        chances = self.chances.ravel()[: len(shares)]
        return float((shares**2 * chances * (1 - chances)).sum())

    def noises(self, tests: IntArray) -> FloatArray:
        """The same of single tests."""
        spread = self.chances[tests] * (1 - self.chances[tests])  # 0 where it was seen
        return np.asarray(spread.mean(axis=1) / len(self.members))


def _inputs(
    evidence: Evidence, alike: Alike, data: RegressionData, posterior: grouped_logistic.LogisticPosterior
) -> tuple[IntArray, FloatArray]:
    """Class and intercept of every input; units are the inputs, or where there are no classes those that were seen."""
    count = alike.first.shape[1]
    at = np.arange(count) if evidence.classes is not None else np.unique(evidence.outcomes.inputs)
    members, intercepts = np.zeros(count, dtype=np.int64), np.zeros(count)
    members[at] = data.members
    if data.units is not None:
        intercepts[at] = posterior.intercepts
    return members, intercepts


@dataclass(frozen=True, eq=False)
class CellsFit(SmoothFit):
    """A regression whose bands also hold what the outcomes that were not seen may be."""

    predictor: MeanOverCells
    length: float = 0.0

    def region(self, tests: IntArray, weights: FloatArray) -> tuple[float, float]:
        mean, error = super().region(tests, weights)
        return mean, min(float(np.hypot(error, np.sqrt(self.predictor.noise(tests, weights)))), 1.0)

    def _errors(self, tests: IntArray) -> FloatArray:
        return np.minimum(np.hypot(super()._errors(tests), np.sqrt(self.predictor.noises(tests))), 1.0)
