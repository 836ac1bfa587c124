"""The interval that the estimators with unequal probabilities share."""

from __future__ import annotations

import numpy as np

from fieldcheck.core.interval import Interval, Kind
from fieldcheck.core.sample import Labelled
from fieldcheck.core.types import FloatArray
from fieldcheck.numerics.intervals import weighted_mean


def heaviest(labelled: Labelled) -> float:
    """The largest weight that an item of the pool could have; infinite where one cannot be drawn."""
    least = float(labelled.sample.constants["least_probability"][0])
    return 1 / (labelled.sample.population * least) if least > 0 else np.inf


def weighted_interval(
    labelled: Labelled, terms: FloatArray, *, weights: FloatArray, bound: float, level: float
) -> Interval:
    """Bounds for the mean loss, marked where the weights are so uneven that none can be trusted.

    terms, weights
        One per draw: weighted loss, and the weight that a failure there would have had.
    """
    hidden = labelled.sample.constants.get("out_of_reach")
    low, high, trusted, note = weighted_mean(
        terms,
        level=level,
        bound=bound,
        weights=weights,
        hidden=None if hidden is None else float(hidden[0]),
        top=1.0 if labelled.task == "classification" else np.inf,
    )
    kind: Kind = "asymptotic" if trusted else "none"
    return Interval(low, high, level, kind, "gamma, one unseen failure", trusted, note)
