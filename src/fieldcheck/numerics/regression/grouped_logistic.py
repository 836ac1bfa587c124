"""Bayesian logistic regression whose coefficients come in groups, each with a prior variance of its own.

The mode by iteratively weighted least squares; the prior variances by evidence; the evidence itself by Laplace's
approximation (MacKay, The evidence framework applied to classification networks, Neural Computation 1992). Rows may
share a unit that has an intercept of its own, as in a mixed model; the units are eliminated from each step, so that
thousands of them cost little. Besides there may be a chance to succeed by guessing, with coefficients of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fieldcheck.numerics import special
from fieldcheck.numerics.regression.evidence import inverse, prior_precision, updated_variances
from fieldcheck.numerics.types import FloatArray, IntArray

BLOCK = 4096
"""Rows that are weighted at once: a copy of all of them would double the memory."""


@dataclass(frozen=True, eq=False)
class RegressionRows:
    """Counts with what explains them: ``p = g + (1 - g) · sigmoid(known)``, ``g = sigmoid(logit(guess) + guessed)``.

    features
        One row per count, one column per coefficient; the last ``guesses`` of them make up ``guessed``, the others
        ``known``.
    held, trials
        Successes and trials of each row.
    groups
        Group of each column, from 0 on; -1 for columns that are left free.
    units
        Unit of each row, from 0 on, or None; rows of a unit share an intercept in ``known``.
    unit_count
        Number of units, those without rows included.
    guesses, guess
        Columns of the guess, and its chance where their coefficients are 0; a chance of 0 stands for no guess.
    """

    features: FloatArray
    held: FloatArray
    trials: FloatArray
    groups: IntArray
    units: IntArray | None = None
    unit_count: int = 0
    guesses: int = 0
    guess: float = 0.0

    def chances(self, mean: FloatArray, intercepts: FloatArray) -> Chances:
        own = self.features.shape[1] - self.guesses
        logits = self.features[:, :own] @ mean[:own]
        known = special.expit(logits if self.units is None else logits + intercepts[self.units])
        return Chances.of(known, guessed(self.features[:, own:] @ mean[own:], self.guess))

    def scaled(self, block: slice, slopes: FloatArray, guess_slopes: FloatArray) -> FloatArray:
        """Some rows, each column times the slope that belongs to it."""
        part = self.features[block] * slopes[block, None]
        if self.guesses:
            part[:, -self.guesses :] = self.features[block, -self.guesses :] * guess_slopes[block, None]
        return part

    def per_unit(self, values: FloatArray) -> FloatArray:
        """Sums of a value of each row over the rows of each unit."""
        if self.units is None:
            return np.zeros(0)
        return np.bincount(self.units, weights=values, minlength=self.unit_count).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Chances:
    """Of success, and their derivatives in ``known`` and in ``guessed``."""

    total: FloatArray
    slope: FloatArray
    guess_slope: FloatArray

    @classmethod
    def of(cls, known: FloatArray, guess: FloatArray) -> Chances:
        total = np.clip(guess + (1 - guess) * known, 1e-9, 1 - 1e-9)
        return cls(total, (1 - guess) * known * (1 - known), (1 - known) * guess * (1 - guess))


def guessed(logits: FloatArray, guess: float) -> FloatArray:
    """Chance of a right guess, from what is added to the logit of the usual one."""
    return np.asarray(special.expit(logits + np.log(guess / (1 - guess))) if guess else np.zeros_like(logits))


@dataclass(frozen=True, eq=False)
class LogisticPosterior:
    """What is known about the coefficients.

    mean, covariance
        Of the coefficients, in the order of the columns; the uncertainty about the units is in it.
    intercepts
        Of each unit.
    variances
        Prior variance of each group, that of the units last where there are units.
    evidence
        Logarithm of the probability of the data under the model.
    """

    mean: FloatArray
    covariance: FloatArray
    intercepts: FloatArray
    variances: FloatArray
    evidence: float


@dataclass(frozen=True, eq=False)
class _Step:
    """A step of least squares and the curvature that it was taken with."""

    mean: FloatArray
    intercepts: FloatArray
    covariance: FloatArray
    spread: FloatArray
    log_determinant: float


def fit(
    rows: RegressionRows, *, start: FloatArray | None = None, turns: int = 30, tolerance: float = 0.02
) -> LogisticPosterior:
    """Coefficients and prior variances.

    start
        Prior variances to start from; 1 each by default.
    turns
        At most so many steps, each one of least squares and one of the variances.
    tolerance
        Stop once no variance changes by more than this share and no chance by more than a quarter of this.
    """
    count = int(rows.groups.max()) + 1 + (rows.units is not None)
    variances = np.ones(count) if start is None else start
    mean, intercepts = np.zeros(rows.features.shape[1]), np.zeros(rows.unit_count)
    for turn in range(turns):
        before = rows.chances(mean, intercepts)
        step = _step(rows, before, mean, intercepts, variances)
        mean, intercepts = _careful(rows, (mean, intercepts), step, variances)
        moved = float(np.abs(rows.chances(mean, intercepts).total - before.total).max())
        old = variances
        if turn:  # the first step is too far from the mode to learn variances from
            variances = updated_variances(_groups(rows), np.r_[mean, intercepts], step.spread, old)
        if turn > 2 and moved < tolerance / 4 and np.all(np.abs(np.log(variances / old)) < tolerance):
            break
    return _posterior(rows, mean, intercepts, variances)


def _step(
    rows: RegressionRows, chances: Chances, mean: FloatArray, intercepts: FloatArray, variances: FloatArray
) -> _Step:
    """One step of weighted least squares for coefficients and units together."""
    spread = chances.total * (1 - chances.total)
    score = (rows.held - rows.trials * chances.total) / spread
    root = np.sqrt(rows.trials / spread)
    information, cross = _information(rows, chances.slope * root, chances.guess_slope * root)
    prior = prior_precision(_groups(rows), variances)
    own, units = prior[: len(mean)], prior[len(mean) :] + rows.per_unit((chances.slope * root) ** 2)
    gradient = _gradient(rows, score * chances.slope, score * chances.guess_slope) - own * mean
    unit_gradient = rows.per_unit(score * chances.slope) - prior[len(mean) :] * intercepts
    per_unit = cross / units[:, None]
    covariance, log_determinant = inverse(information + np.diag(own) - cross.T @ per_unit)
    change = covariance @ (gradient - per_unit.T @ unit_gradient)
    unit_change = unit_gradient / units - per_unit @ change
    unit_spread = 1 / units + np.einsum("ij,ij->i", per_unit @ covariance, per_unit)
    return _Step(
        change,
        unit_change,
        covariance,
        np.r_[np.diag(covariance), unit_spread],
        log_determinant + float(np.log(units).sum()),
    )


def _gradient(rows: RegressionRows, known: FloatArray, guess: FloatArray) -> FloatArray:
    """Of the log-likelihood in the coefficients, from its derivatives in the two sums of each row."""
    own = rows.features.shape[1] - rows.guesses
    return np.concatenate([rows.features[:, :own].T @ known, rows.features[:, own:].T @ guess])


def _information(rows: RegressionRows, slopes: FloatArray, guess_slopes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Information about the coefficients, and between units (rows) and coefficients (columns)."""
    width = rows.features.shape[1]
    total, cross = np.zeros((width, width)), np.zeros((rows.unit_count, width))
    for first in range(0, len(slopes), BLOCK):
        block = slice(first, first + BLOCK)
        scaled = rows.scaled(block, slopes, guess_slopes)
        total += scaled.T @ scaled
        if rows.units is not None:
            cross += _by_unit(rows.units[block], slopes[block], rows.unit_count) @ scaled
    return total, cross


def _by_unit(units: IntArray, weights: FloatArray, count: int) -> npt.NDArray[np.float64]:
    """What sums weighted rows by their unit."""
    from scipy.sparse import csr_array

    entries = (weights, (units, np.arange(len(units))))
    return csr_array(entries, shape=(count, len(units)))  # type: ignore[no-any-return]


def _groups(rows: RegressionRows) -> IntArray:
    """Group of each coefficient and of each unit."""
    units = np.full(rows.unit_count, int(rows.groups.max()) + 1, dtype=np.int64)
    return np.concatenate([rows.groups, units])


def _objective(rows: RegressionRows, mean: FloatArray, intercepts: FloatArray, variances: FloatArray) -> float:
    """Log-likelihood of the counts less the penalty of the prior."""
    chance = rows.chances(mean, intercepts).total
    likelihood = rows.held @ np.log(chance) + (rows.trials - rows.held) @ np.log1p(-chance)
    return float(likelihood - 0.5 * prior_precision(_groups(rows), variances) @ np.r_[mean, intercepts] ** 2)


def _careful(
    rows: RegressionRows, at: tuple[FloatArray, FloatArray], step: _Step, variances: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Where the step leads, halved until it is one upwards."""
    mean, intercepts = at
    now = _objective(rows, mean, intercepts, variances)
    for share in 0.5 ** np.arange(12):
        moved = mean + share * step.mean, intercepts + share * step.intercepts
        if _objective(rows, *moved, variances) >= now:
            return moved
    return at


def _posterior(
    rows: RegressionRows, mean: FloatArray, intercepts: FloatArray, variances: FloatArray
) -> LogisticPosterior:
    final = _step(rows, rows.chances(mean, intercepts), mean, intercepts, variances)
    prior = prior_precision(_groups(rows), variances)
    evidence = _objective(rows, mean, intercepts, variances) + 0.5 * float(np.log(prior).sum())
    return LogisticPosterior(
        mean,
        final.covariance,
        intercepts,
        variances,
        evidence - 0.5 * final.log_determinant,
    )
