"""Prior variances of groups of coefficients, learnt from the data.

MacKay, Bayesian interpolation, Neural Computation 1992: a group's variance is the sum of squares of its coefficients
over the number of them that the data determine.
"""

from __future__ import annotations

import numpy as np

from fieldcheck.numerics.types import FloatArray, IntArray

WIDE = 25.0
"""Prior variance of coefficients that belong to no group: wide enough to leave them free."""


LEAST, MOST = 1e-8, 400.0
"""Prior variances stay in between."""


def prior_precision(groups: IntArray, variances: FloatArray) -> FloatArray:
    """One per coefficient; group -1 stands for no group."""
    return np.where(groups < 0, 1 / WIDE, 1 / variances[np.maximum(groups, 0)])


def updated_variances(groups: IntArray, mean: FloatArray, spread: FloatArray, variances: FloatArray) -> FloatArray:
    """The next prior variance of each group.

    mean, spread
        Posterior mean and variance of each coefficient.
    """
    known = groups >= 0
    squares = np.bincount(groups[known], weights=mean[known] ** 2)
    left = np.bincount(groups[known], weights=spread[known]) / variances
    determined = np.maximum(np.bincount(groups[known]) - left, 1e-3)
    # At most a factor of ten a turn: far from the fixed point the update overshoots.
    return np.clip(squares / determined, np.maximum(variances / 10, LEAST), np.minimum(variances * 10, MOST))


def inverse(matrix: FloatArray) -> tuple[FloatArray, float]:
    """Inverse and logarithm of the determinant of a symmetric positive definite matrix."""
    from scipy.linalg import lapack

    factor, failed = lapack.dpotrf(matrix, lower=1, clean=1)
    if failed:
        raise np.linalg.LinAlgError("the matrix is not positive definite")
    lower, _ = lapack.dpotri(factor, lower=1)
    return np.asarray(np.tril(lower) + np.tril(lower, -1).T), 2 * float(np.log(np.diag(factor)).sum())
