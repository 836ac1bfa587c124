"""How failing goes with an auxiliary variable on a whole subject: figures 5 to 7 of the ICSE'21 paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from fieldcheck.core.types import BoolArray, FloatArray

PARTS = 10
"""Equal parts of the pool, in the order of the variable."""

POINTS = 41
"""Of the fitted curve."""

RIDGE = 1e-3
"""Pull of the slope (in standard deviations) towards zero; keeps it finite where the variable separates perfectly."""


@dataclass(frozen=True)
class FailureCurve:
    """One variable on one subject.

    value, share
        Mean of the variable and share that fails, in each tenth of the pool.
    at, chance
        The chance of failing by logistic regression, at points from the smallest to the largest value.
    """

    subject: str
    auxiliary: str
    value: tuple[float, ...]
    share: tuple[float, ...]
    at: tuple[float, ...]
    chance: tuple[float, ...]

    @classmethod
    def of(cls, subject: str, auxiliary: str, values: FloatArray, failed: BoolArray) -> FailureCurve:
        parts = [part for part in np.array_split(np.argsort(values, kind="stable"), PARTS) if len(part)]
        at = np.linspace(values.min(), values.max(), POINTS)
        return cls(
            subject,
            auxiliary,
            value=tuple(float(values[part].mean()) for part in parts),
            share=tuple(float(failed[part].mean()) for part in parts),
            at=tuple(at.tolist()),
            chance=tuple(logistic(values, failed, at).tolist()),
        )


def logistic(values: FloatArray, failed: BoolArray, at: FloatArray) -> FloatArray:
    """Chance of failing at these values, by maximum likelihood in one variable (Newton's steps)."""
    spread = float(values.std()) or 1.0
    x = np.column_stack([np.ones(len(values)), (values - values.mean()) / spread])
    beta, pull = np.zeros(2), np.array([0.0, RIDGE * len(values)])
    rate = np.clip(failed.mean(), 1e-6, 1 - 1e-6)
    beta[0] = np.log(rate / (1 - rate))
    for _ in range(50):
        chance = expit(x @ beta)
        gradient = x.T @ (failed - chance) - pull * beta
        information = (x * (chance * (1 - chance) + 1e-9)[:, None]).T @ x + np.diag(pull)
        step = np.linalg.solve(information, gradient)
        beta += step * min(1.0, 2.0 / float(np.abs(step).max() or 1.0))
        if np.abs(step).max() < 1e-9:
            break
    return np.asarray(expit(beta[0] + beta[1] * (at - values.mean()) / spread))
