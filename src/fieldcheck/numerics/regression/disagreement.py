"""Who is right where two models disagree: what is believed about it, before labels and after some.

The gain of an item is the loss of the second model minus that of the first: +1 where only the first is right, -1 where
only the second is. Where both say the same it is 0 without any label, so only disagreements are modelled, drawn and
labelled. Both models below are a handful of coefficients with a Gaussian prior, fitted to the labels so far (the
posterior mode).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fieldcheck.numerics import special
from fieldcheck.numerics.types import FloatArray, IntArray

FOLDS = 5


BASE_MEAN, BASE_SD = 0.3, 1.0


OWN_MEAN, OWN_SD = 0.5, 0.4


RIVAL_MEAN, RIVAL_SD = 0.0, 0.3
"""Prior of a score: a constant, the slope of the model's own confidence, the slope of its rival's."""


PULL_SD = 0.5
"""Prior of where the truth lies between two values, from -1 (at the second) to 1 (at the first)."""


_DIGITS = 9
"""Coefficients and expectations are rounded: logarithms may differ in the last bit between machines."""


class Duel(Protocol):
    """Two models on the items where they disagree; items are positions among these."""

    @property
    def size(self) -> int: ...

    @property
    def prior_sd(self) -> FloatArray:
        """Standard deviation of the coefficients before any label."""
        ...

    def fit(self, items: IntArray, gains: FloatArray) -> FloatArray:
        """Coefficients after labels of these items."""
        ...

    def moments(self, belief: FloatArray, items: IntArray | slice = slice(None)) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the gain, one per item."""
        ...


@dataclass(frozen=True, eq=False)
class ClassDuel:
    """Two classifiers: a softmax over {first right, second right, neither}, the score of neither being 0.

    doubts
        One row per item, one column per model: log-odds of its confidence; no columns where it is not known.
    """

    doubts: FloatArray

    @classmethod
    def of(cls, first: FloatArray | None, second: FloatArray | None, size: int) -> ClassDuel:
        """From the confidence of both models, one per item; the scores are constants where either has none."""
        if first is None or second is None:
            return cls(np.zeros((size, 0)))
        return cls(np.column_stack([special.logit(np.clip(c, 1e-3, 1 - 1e-6)) for c in (first, second)]))

    @property
    def size(self) -> int:
        return len(self.doubts)

    @property
    def prior_sd(self) -> FloatArray:
        return self._prior[1]

    @property
    def _prior(self) -> tuple[FloatArray, FloatArray]:
        """Mean and sd of the coefficients: those of the first score, then those of the second."""
        width = 1 + self.doubts.shape[1]
        mean = np.array([BASE_MEAN, OWN_MEAN, RIVAL_MEAN])[:width]
        sd = np.array([BASE_SD, OWN_SD, RIVAL_SD])[:width]
        return np.tile(mean, 2), np.tile(sd, 2)

    def _features(self, items: IntArray | slice) -> tuple[FloatArray, FloatArray]:
        """For the score of either model: 1, its own confidence, its rival's."""
        doubts = self.doubts[items]
        one = np.ones((len(doubts), 1))
        return np.hstack([one, doubts]), np.hstack([one, doubts[:, ::-1]])

    def fit(self, items: IntArray, gains: FloatArray) -> FloatArray:
        mean, sd = self._prior
        if not len(items):
            return mean
        first, second = self._features(items)
        return _newton(first, second, gains, mean=mean, precision=1 / sd**2)

    def moments(self, belief: FloatArray, items: IntArray | slice = slice(None)) -> tuple[FloatArray, FloatArray]:
        first, second = self._features(items)
        chances = _chances(first, second, belief)
        mean = chances[:, 0] - chances[:, 1]
        return np.round(mean, _DIGITS), np.maximum(chances[:, 0] + chances[:, 1] - mean**2, 1e-9)


@dataclass(frozen=True, eq=False)
class ValueDuel:
    """Two regressions with squared errors: the gain is twice the distance of the predictions times how far the truth
    lies from their middle, towards the first. So its spread grows with the distance, whatever the truth.

    gap
        Prediction of the first model minus that of the second, one per item; never 0.
    """

    gap: FloatArray

    @property
    def size(self) -> int:
        return len(self.gap)

    @property
    def prior_sd(self) -> FloatArray:
        return np.array([PULL_SD, 0.0])

    def fit(self, items: IntArray, gains: FloatArray) -> FloatArray:
        """The pull of the first model, in [-1, 1] where the truth lies between both, and the variance around it."""
        distance = np.abs(self.gap[items])
        if not len(items):
            return np.array([0.0, float(np.mean(self.gap**2))])
        scaled = gains / distance
        noise = max(float(np.mean(scaled**2)), 1e-300)
        for _ in range(5):
            pull = float(distance @ scaled) / (float(distance @ distance) + noise / PULL_SD**2)
            noise = max(float(np.mean((scaled - pull * distance) ** 2)), 1e-300)
        return np.array([pull, noise])

    def moments(self, belief: FloatArray, items: IntArray | slice = slice(None)) -> tuple[FloatArray, FloatArray]:
        square = self.gap[items] ** 2
        return belief[0] * square, belief[1] * square


def _chances(first: FloatArray, second: FloatArray, belief: FloatArray) -> FloatArray:
    """One row per item: first right, second right, neither."""
    width = first.shape[1]
    scores = np.column_stack([first @ belief[:width], second @ belief[width:], np.zeros(len(first))])
    return np.asarray(special.softmax(scores, axis=1))


def _newton(
    first: FloatArray, second: FloatArray, gains: FloatArray, *, mean: FloatArray, precision: FloatArray
) -> FloatArray:
    at = mean.copy()
    said = np.column_stack([gains > 0, gains < 0]).astype(np.float64)
    for _ in range(25):
        chances = _chances(first, second, at)[:, :2]
        surplus = said - chances
        gradient = np.concatenate([first.T @ surplus[:, 0], second.T @ surplus[:, 1]]) - precision * (at - mean)
        move = np.linalg.solve(_curvature(first, second, chances) + np.diag(precision), gradient)
        largest = float(np.abs(move).max())
        at = at + move * min(1.0, 2.0 / max(largest, 1e-300))
        if largest < 1e-9:
            break
    return np.round(at, _DIGITS)


def _curvature(first: FloatArray, second: FloatArray, chances: FloatArray) -> FloatArray:
    a, b = chances[:, 0], chances[:, 1]
    cross = -(first * (a * b)[:, None]).T @ second
    return np.block(
        [
            [(first * (a * (1 - a))[:, None]).T @ first, cross],
            [cross.T, (second * (b * (1 - b))[:, None]).T @ second],
        ]
    )


@dataclass(frozen=True)
class MeanGain:
    """Estimated mean gain over a population.

    value
        Not clipped, so that it stays nearly unbiased.
    seen, foreseen
        Its variance as the labels show it (cross-fitted), and as the model expects it.
    scatter
        Variance of the gain between items of the population: what a new population of this size adds.
    """

    value: float
    seen: float
    foreseen: float
    scatter: float

    @property
    def variance(self) -> float:
        return max(self.seen, self.foreseen)


def mean_gain(duel: Duel, items: IntArray, gains: FloatArray, *, chance: FloatArray, population: int) -> MeanGain:
    """``[Σ m + Σ_s (d - m)/π] / N``: m the expected gain after all labels, summed over the disagreements.

    chance
        One per disagreement: the probability that it was drawn.
    population
        Number of all items, those where the models agree included.
    """
    expected, spread = duel.moments(duel.fit(items, gains))
    at = chance[items]
    value = float(expected.sum() + ((gains - expected[items]) / at).sum()) / population
    held_out = _cross_fitted(duel, items, gains)
    seen = float(((1 - at) / at**2 * (gains - held_out) ** 2).sum()) / population**2
    foreseen = float((spread * (1 / chance - 1)).sum()) / population**2
    scatter = max(float((spread + expected**2).sum()) / population - value**2, 0.0)
    return MeanGain(value, seen, foreseen, scatter)


def _cross_fitted(duel: Duel, items: IntArray, gains: FloatArray) -> FloatArray:
    """Expected gain of each label from a fit without its fold; labels are in random order, so are the folds."""
    fold = np.arange(len(items)) % FOLDS
    held_out = np.empty(len(items))
    for number in range(min(FOLDS, len(items))):
        there = fold == number
        held_out[there] = duel.moments(duel.fit(items[~there], gains[~there]), items[there])[0]
    return held_out
