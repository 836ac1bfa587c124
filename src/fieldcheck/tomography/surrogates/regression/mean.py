"""The robustness that a logistic regression implies: its mean over the classes and inputs of the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core.space import Space
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.numerics import special
from fieldcheck.numerics.regression import grid_features, grouped_logistic
from fieldcheck.tomography.surrogates.left import ShareLeft
from fieldcheck.tomography.surrogates.regression.basis import Basis

CACHE = 65_536
"""Tests that are worked on at once: what fits the processor's cache."""


@dataclass(frozen=True, eq=False)
class MeanOverInputs:
    """The mean over classes and inputs; see ``smooth.Predictor``.

    coefficients
        In the order of the columns of the basis.
    shares, nodes
        Per class: its share of the inputs, and a few values of the input's intercept with their weights.
    """

    space: Space
    basis: Basis
    coefficients: FloatArray
    shares: FloatArray
    nodes: list[tuple[FloatArray, FloatArray]]
    guess: float

    def everywhere(self) -> FloatArray:
        shared = self._shared_grid().astype(np.float32).ravel()
        total = np.zeros(self.space.size, dtype=np.float32)
        for code, share in enumerate(self.shares):
            logits = shared + self._grid(self.basis.bends, self._bend(code)) if self.basis.classes else shared
            guess = self._guess_grid(code)
            for first in range(0, len(total), CACHE):
                block = slice(first, first + CACHE)
                known = np.zeros(len(total[block]), dtype=np.float32)
                for value, weight in zip(*self.nodes[code], strict=True):
                    known += np.float32(weight) * _sigmoid(logits[block] + np.float32(value))
                total[block] += np.float32(share) * _either(known, guess[block])
        return np.asarray(total, dtype=np.float64)

    def means(self, tests: IntArray) -> FloatArray:
        return np.asarray(sum(part.chance for part in self._by_class(tests)))

    def gradients(self, tests: IntArray) -> FloatArray:
        severities = self.space.severities(tests)
        found = self._by_class(tests)
        parts = [self.basis.shared(severities) * np.sum([part.slope for part in found], axis=0)[:, None]]
        if self.basis.classes:
            bends = self.basis.bends.rows(severities)
            parts += [bends * part.slope[:, None] for part in found]
        guesses = self.basis.guesses.rows(severities)
        return np.column_stack([*parts, *(guesses * part.guess_slope[:, None] for part in found)])

    def _by_class(self, tests: IntArray) -> list[_Part]:
        severities = self.space.severities(tests)
        logits = self.basis.shared(severities) @ self.coefficients[: self.basis.first_class]
        bends, guesses = self.basis.bends.rows(severities), self.basis.guesses.rows(severities)
        return [
            self._part(
                code,
                logits + bends @ self._bend(code) if self.basis.classes else logits,
                grouped_logistic.guessed(guesses @ self._guess(code), self.guess),
            )
            for code in range(len(self.shares))
        ]

    def _part(self, code: int, logits: FloatArray, guess: FloatArray) -> _Part:
        values, weights = self.nodes[code]
        chances = special.expit(logits[:, None] + values)
        known, slope = chances @ weights, (chances * (1 - chances)) @ weights
        share = self.shares[code]
        return _Part(
            share * _either(known, guess), share * (1 - guess) * slope, share * (1 - known) * guess * (1 - guess)
        )

    def _bend(self, code: int) -> FloatArray:
        """Coefficients of a class."""
        return self._of_class(self.basis.first_class, len(self.basis.bends), code)

    def _guess(self, code: int) -> FloatArray:
        """Coefficients of a class for its guess."""
        return self._of_class(self.basis.first_guess, len(self.basis.guesses), code)

    def _of_class(self, first: int, size: int, code: int) -> FloatArray:
        return self.coefficients[first + code * size : first + (code + 1) * size]

    def _guess_grid(self, code: int) -> npt.NDArray[np.float32]:
        if not len(self.basis.guesses):
            return np.broadcast_to(np.float32(self.guess), self.space.size)
        usual = np.float32(np.log(self.guess / (1 - self.guess)))
        return _sigmoid(self._grid(self.basis.guesses, self._guess(code)) + usual)

    def _grid(self, features: grid_features.GridFeatures, coefficients: FloatArray) -> npt.NDArray[np.float32]:
        return features.expand(coefficients).astype(np.float32).ravel()

    def _shared_grid(self) -> FloatArray:
        mean = self.coefficients
        grid = mean[0] + self.basis.smooth.expand(mean[1 : self.basis.first_level])
        levels = np.split(mean[self.basis.first_level : self.basis.first_class], np.cumsum(self.space.shape)[:-1])
        for axis, effect in enumerate(levels):
            grid += effect.reshape([-1 if at == axis else 1 for at in range(len(levels))])
        return np.asarray(grid)


@dataclass(frozen=True, eq=False)
class MeanOverLeft:
    """The same where tests apply to some inputs only: one mean for each combination that decides on which.

    by_combination
        By the number of the combination.
    """

    space: Space
    left: ShareLeft
    by_combination: list[MeanOverInputs]

    def everywhere(self) -> FloatArray:
        blocks = range(0, self.space.size, CACHE)
        return np.concatenate([self.means(np.arange(at, min(at + CACHE, self.space.size))) for at in blocks])

    def means(self, tests: IntArray) -> FloatArray:
        return self._each(tests, MeanOverInputs.means)

    def gradients(self, tests: IntArray) -> FloatArray:
        return self._each(tests, MeanOverInputs.gradients)

    def _each(self, tests: IntArray, value: Callable[[MeanOverInputs, IntArray], FloatArray]) -> FloatArray:
        numbers = self.left.combinations(self.space.severities(tests))
        order = np.argsort(numbers, kind="stable")
        found, first = np.unique(numbers[order], return_index=True)
        parts = [
            value(self.by_combination[number], tests[some])
            for number, some in zip(found.tolist(), np.split(order, first[1:]), strict=True)
        ]
        return np.concatenate(parts)[np.argsort(order)]


@dataclass(frozen=True, eq=False)
class _Part:
    """Of one class: chance, and its derivatives in the logits of the known and of the guess, times its share."""

    chance: FloatArray
    slope: FloatArray
    guess_slope: FloatArray


def _either(known: npt.NDArray[Any], guess: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Chance that the input is recognised, or else guessed."""
    return np.asarray(guess + (1 - guess) * known)


def _sigmoid(logits: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """In single precision, which is four times as fast."""
    return np.asarray(1 / (1 + np.exp(np.clip(-logits, -80, 80))), dtype=np.float32)
