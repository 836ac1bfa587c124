"""Bayesian logistic regression whose coefficients come in groups, each with a prior variance of its own.

The mode by iteratively weighted least squares; the prior variances by evidence; the evidence itself by Laplace's
approximation (MacKay, The evidence framework applied to classification networks, Neural Computation 1992). Rows may
share a unit that has an intercept of its own, as in a mixed model; the units are eliminated from each step, so that
thousands of them cost little.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from fieldcheck.numerics import special
from fieldcheck.numerics.evidence import inverse, prior_precision, updated_variances

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

BLOCK = 4096
"""Rows that are weighted at once: a copy of all of them would double the memory."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Counts with what explains them.

    features
        One row per count, one column per coefficient.
    held, trials
        Successes and trials of each row.
    groups
        Group of each column, from 0 on; -1 for columns that are left free.
    units
        Unit of each row, from 0 on, or None; rows of a unit share an intercept.
    unit_count
        Number of units, those without rows included.
    floor
        Least probability of success: ``p = floor + (1 - floor) · sigmoid``.
    """

    features: FloatArray
    held: FloatArray
    trials: FloatArray
    groups: IntArray
    units: IntArray | None = None
    unit_count: int = 0
    floor: float = 0.0

    def logits(self, mean: FloatArray, intercepts: FloatArray) -> FloatArray:
        shared = self.features @ mean
        return np.asarray(shared if self.units is None else shared + intercepts[self.units])

    def per_unit(self, values: FloatArray) -> FloatArray:
        """Sums of a value of each row, or of a row of values, over the rows of each unit."""
        if self.units is None:
            return np.zeros((0, *values.shape[1:]))
        return np.asarray(self._membership @ values)

    @cached_property
    def _membership(self) -> npt.NDArray[np.float64]:
        from scipy.sparse import csr_array

        count = len(self.held)
        entries = (np.ones(count), (self.units, np.arange(count)))
        return csr_array(entries, shape=(self.unit_count, count))  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class Posterior:
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


def fit(rows: Rows, *, start: FloatArray | None = None, turns: int = 30, tolerance: float = 0.02) -> Posterior:
    """Coefficients and prior variances.

    start
        Prior variances to start from; 1 each by default.
    turns
        At most so many steps, each one of least squares and one of the variances.
    tolerance
        Stop once no variance changes by more than this share and no logit by more than this.
    """
    count = int(rows.groups.max()) + 1 + (rows.units is not None)
    variances = np.ones(count) if start is None else start
    mean, intercepts = np.zeros(rows.features.shape[1]), np.zeros(rows.unit_count)
    for turn in range(turns):
        step = _step(rows, mean, intercepts, variances)
        before = rows.logits(mean, intercepts)
        mean, intercepts = _careful(rows, (mean, intercepts), step, variances)
        moved = float(np.abs(rows.logits(mean, intercepts) - before).max())
        old = variances
        if turn:  # the first step is too far from the mode to learn variances from
            variances = updated_variances(_groups(rows), np.r_[mean, intercepts], step.spread, old)
        if turn > 2 and moved < tolerance and np.all(np.abs(np.log(variances / old)) < tolerance):
            break
    return _posterior(rows, mean, intercepts, variances)


def _step(rows: Rows, mean: FloatArray, intercepts: FloatArray, variances: FloatArray) -> _Step:
    """One step of weighted least squares for coefficients and units together."""
    weight, score = _row_terms(rows, rows.logits(mean, intercepts))
    information, cross = _information(rows, weight)
    prior = prior_precision(_groups(rows), variances)
    own, units = prior[: len(mean)], prior[len(mean) :] + rows.per_unit(weight)
    gradient = rows.features.T @ score - own * mean
    unit_gradient = rows.per_unit(score) - prior[len(mean) :] * intercepts
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


def _row_terms(rows: Rows, logits: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Expected information and gradient of the log-likelihood in the logit of each row."""
    sigmoid = special.expit(logits)
    chance = np.clip(rows.floor + (1 - rows.floor) * sigmoid, 1e-9, 1 - 1e-9)
    slope = (1 - rows.floor) * sigmoid * (1 - sigmoid)
    spread = chance * (1 - chance)
    return slope**2 * rows.trials / spread, slope * (rows.held - rows.trials * chance) / spread


def _information(rows: Rows, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Information about the coefficients, and between units (rows) and coefficients (columns)."""
    width = rows.features.shape[1]
    total = np.zeros((width, width))
    for first in range(0, len(weight), BLOCK):
        block = slice(first, first + BLOCK)
        scaled = rows.features[block] * np.sqrt(weight[block])[:, None]
        total += scaled.T @ scaled
    return total, _cross(rows, weight)


def _cross(rows: Rows, weight: FloatArray) -> FloatArray:
    if rows.units is None:
        return np.zeros((0, rows.features.shape[1]))
    return np.asarray(rows._membership.multiply(weight[None, :]).tocsr() @ rows.features)  # type: ignore[attr-defined]


def _groups(rows: Rows) -> IntArray:
    """Group of each coefficient and of each unit."""
    units = np.full(rows.unit_count, int(rows.groups.max()) + 1, dtype=np.int64)
    return np.concatenate([rows.groups, units])


def _objective(rows: Rows, mean: FloatArray, intercepts: FloatArray, variances: FloatArray) -> float:
    """Log-likelihood of the counts less the penalty of the prior."""
    chance = rows.floor + (1 - rows.floor) * special.expit(rows.logits(mean, intercepts))
    chance = np.clip(chance, 1e-12, 1 - 1e-12)
    likelihood = rows.held @ np.log(chance) + (rows.trials - rows.held) @ np.log1p(-chance)
    return float(likelihood - 0.5 * prior_precision(_groups(rows), variances) @ np.r_[mean, intercepts] ** 2)


def _careful(
    rows: Rows, at: tuple[FloatArray, FloatArray], step: _Step, variances: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Where the step leads, halved until it is one upwards."""
    mean, intercepts = at
    now = _objective(rows, mean, intercepts, variances)
    for share in 0.5 ** np.arange(12):
        moved = mean + share * step.mean, intercepts + share * step.intercepts
        if _objective(rows, *moved, variances) >= now:
            return moved
    return at


def _posterior(rows: Rows, mean: FloatArray, intercepts: FloatArray, variances: FloatArray) -> Posterior:
    final = _step(rows, mean, intercepts, variances)
    prior = prior_precision(_groups(rows), variances)
    evidence = _objective(rows, mean, intercepts, variances) + 0.5 * float(np.log(prior).sum())
    return Posterior(
        mean,
        final.covariance,
        intercepts,
        variances,
        evidence - 0.5 * final.log_determinant,
    )
