"""The interval that the estimators with unequal probabilities share."""

from __future__ import annotations

import numpy as np

from fieldcheck.core.interval import Interval, Kind
from fieldcheck.core.sample import Labelled
from fieldcheck.core.types import FloatArray
from fieldcheck.numerics import intervals


def heaviest(least: float, population: int) -> float:
    """The largest weight that an item of the pool could have; infinite where one cannot be drawn."""
    return 1 / (population * least) if least > 0 else np.inf


def weighted_interval(
    labelled: Labelled,
    terms: FloatArray,
    *,
    weights: FloatArray,
    bound: float,
    level: float,
    hidden: float | None = None,
) -> Interval:
    """Bounds for the mean loss, marked where the weights are so uneven that none can be trusted.

    terms, weights
        One per draw: weighted loss, and the weight that a failure there would have had.
    bound
        The largest weight that an item could have.
    hidden
        Share of the pool that the draws are likely to miss; None where that is not known.
    """
    low, high, trusted, note = intervals.weighted_mean(
        terms,
        level=level,
        bound=bound,
        weights=weights,
        hidden=hidden,
        top=1.0 if labelled.task == "classification" else np.inf,
    )
    kind: Kind = "asymptotic" if trusted else "none"
    return Interval(low, high, level, kind, "gamma, one unseen failure", trusted, note)
