"""Bayesian linear regression with known noise and prior variances learnt from the data (see ``evidence``)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fieldcheck.numerics.regression.evidence import inverse, prior_precision, updated_variances
from fieldcheck.numerics.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class LinearPosterior:
    """Mean and covariance of the coefficients, prior variance of each group, logarithm of the evidence."""

    mean: FloatArray
    covariance: FloatArray
    variances: FloatArray
    evidence: float


def fit(
    features: FloatArray, values: FloatArray, noise: FloatArray, groups: IntArray, *, turns: int = 25
) -> LinearPosterior:
    """Coefficients of the columns.

    values, noise
        What was measured in each row, and its variance.
    groups
        Group of each column, from 0 on; -1 for columns that are left free.
    """
    scaled = features / np.sqrt(noise)[:, None]
    information, pull = scaled.T @ scaled, features.T @ (values / noise)
    variances = np.full(int(groups.max()) + 1, 0.05)
    for _ in range(turns):
        covariance, determinant = inverse(information + np.diag(prior_precision(groups, variances)))
        mean = covariance @ pull
        old, variances = variances, updated_variances(groups, mean, np.diag(covariance), variances)
        if np.all(np.abs(np.log(variances / old)) < 0.01):
            break
    prior = prior_precision(groups, old)
    misfit = ((values - features @ mean) ** 2 / noise).sum() + np.log(2 * np.pi * noise).sum()
    evidence = -0.5 * (misfit + prior @ mean**2 - np.log(prior).sum() + determinant)
    return LinearPosterior(mean, covariance, old, float(evidence))
