"""Posterior modes of small regressions with Gaussian priors, many at once: several models, several folds of the labels.

Newton's steps with the curvature where it is positive, shortened until they do not lead upwards (full steps go in
circles when an item fails that was held for perfectly safe).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fieldcheck.numerics import special
from fieldcheck.numerics.types import FloatArray

SHAPE = 0.5
"""Shape of the gamma distribution of losses without a limit: that of the square of a normal error."""


_TURNS, _CLOSE, _STEP = 120, 1e-9, 2.0


class Likelihood(Protocol):
    """Of losses given linear predictors; arrays have one row per fit and one column per label."""

    def height(self, linear: FloatArray, losses: FloatArray) -> FloatArray:
        """Minus the log likelihood of each label."""
        ...

    def slopes(self, linear: FloatArray, losses: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Derivative of the log likelihood by each linear predictor, and minus its curvature where that is positive."""
        ...

    def expected(self, linear: FloatArray, losses: FloatArray) -> FloatArray:
        """Minus the curvature that is expected (or, where that is positive for sure, the one that is there)."""
        ...


@dataclass(frozen=True, eq=False)
class Failures:
    """Failures with probability ``h + (1 - h) expit(linear)``.

    hidden
        h of each fit, as a column: the share that fails however safe it looks.
    """

    hidden: FloatArray

    def height(self, linear: FloatArray, losses: FloatArray) -> FloatArray:
        # The chance is (h + e^x)/(1 + e^x): in logarithms neither tail is lost to rounding.
        wrong = np.logaddexp(linear, _log(self.hidden))
        return np.asarray(np.logaddexp(0.0, linear) - losses * wrong - (1 - losses) * np.log1p(-self.hidden))

    def slopes(self, linear: FloatArray, losses: FloatArray) -> tuple[FloatArray, FloatArray]:
        inner = special.expit(np.clip(linear, -60, 60))
        chance = self.hidden + (1 - self.hidden) * inner
        share = inner / chance
        steep = (1 - self.hidden) * (1 - inner) * share
        bent = steep * np.maximum(steep - 1 + 2 * inner, 0.0)  # of a failure
        return (losses - chance) * share, losses * bent + (1 - losses) * inner * (1 - inner)

    def expected(self, linear: FloatArray, losses: FloatArray) -> FloatArray:
        inner = special.expit(np.clip(linear, -60, 60))
        chance = self.hidden + (1 - self.hidden) * inner
        return np.asarray((1 - self.hidden) * inner * (1 - inner) * inner / chance)


@dataclass(frozen=True, eq=False)
class Losses:
    """Losses without a limit: gamma with the logarithm of the mean as linear predictor."""

    def height(self, linear: FloatArray, losses: FloatArray) -> FloatArray:
        return SHAPE * (linear + self._ratio(linear, losses))

    def slopes(self, linear: FloatArray, losses: FloatArray) -> tuple[FloatArray, FloatArray]:
        ratio = self._ratio(linear, losses)
        return SHAPE * (ratio - 1), SHAPE * ratio

    def expected(self, linear: FloatArray, losses: FloatArray) -> FloatArray:
        return SHAPE * self._ratio(linear, losses)

    def _ratio(self, linear: FloatArray, losses: FloatArray) -> FloatArray:
        return np.asarray(losses * np.exp(-np.clip(linear, -60, 60)))


@dataclass(frozen=True, eq=False)
class Prior:
    """Independent normal distributions, one per coefficient."""

    mean: FloatArray
    sd: FloatArray


@dataclass(frozen=True, eq=False)
class Modes:
    """Where the posteriors are highest.

    coefficients
        One row per fit.
    evidence
        One per fit: logarithm of the marginal likelihood by Laplace's approximation, but for what all have in common.
    """

    coefficients: FloatArray
    evidence: FloatArray


def modes(features: FloatArray, losses: FloatArray, prior: Prior, likelihood: Likelihood, *, used: FloatArray) -> Modes:
    """The modes of all fits.

    features, losses
        One row and one value per label.
    used
        One row per fit, one column per label: 1 where the fit sees the label, else 0.
    """
    precision = 1 / prior.sd**2
    count = len(precision)
    squares = (features[:, :, None] * features[:, None]).reshape(len(features), -1)

    def depth(at: FloatArray, linear: FloatArray) -> FloatArray:
        away = 0.5 * ((at - prior.mean) ** 2 * precision).sum(axis=1)
        return np.asarray((used * likelihood.height(linear, losses)).sum(axis=1) + away)

    def curvature(weight: FloatArray) -> FloatArray:
        return np.asarray(((used * weight) @ squares).reshape(-1, count, count) + np.diag(precision))

    at = np.repeat(prior.mean[None], len(used), axis=0)
    linear = at @ features.T
    here = depth(at, linear)
    for _ in range(_TURNS):
        surplus, weight = likelihood.slopes(linear, losses)
        gradient = (used * surplus) @ features - precision * (at - prior.mean)
        move = np.linalg.solve(curvature(weight), gradient[:, :, None])[:, :, 0]
        size = np.abs(move).max(axis=1, keepdims=True)
        move = move * np.minimum(1.0, _STEP / np.maximum(size, _CLOSE))
        for _ in range(30):
            linear = (at + move) @ features.T
            there = depth(at + move, linear)
            worse = there > here + 1e-12 * (1 + np.abs(here))
            if not worse.any():
                break
            move = np.where(worse[:, None], move / 2, move)
        at, here = at + move, there
        if float(size.max()) < _CLOSE:
            break
    # The expected curvature is positive definite for every link, so that its determinant has a logarithm.
    weight = likelihood.expected(linear, losses)
    _, logarithm = np.linalg.slogdet(curvature(weight) / np.sqrt(np.outer(precision, precision)))
    return Modes(at, -here - 0.5 * logarithm)


def _log(values: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.log(values)
