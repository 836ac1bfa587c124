"""The step-by-step estimator of adaptive sampling without replacement."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from fieldcheck.accuracy.estimators.base import MeanLoss
from fieldcheck.accuracy.estimators.weighted import weighted_interval
from fieldcheck.core.draws import Draws, StepDraws
from fieldcheck.core.sample import Labelled


class Adaptive:
    """Mean of ``z_k = (Σ_{j<k} y_j + y_k/q_k)/N``; variance ``Σ (z_k - θ̂)² / (n(n-1))``, both unbiased.

    Each step estimates what is left with a Hansen-Hurwitz term and adds what is known. The ICSE 2024 version for
    regression (its equation 11) is not unbiased; this one is, for any loss.
    """

    name: ClassVar[str] = "adaptive"
    accepts: ClassVar[tuple[type[Draws], ...]] = (StepDraws,)

    def estimate(self, labelled: Labelled, *, level: float) -> MeanLoss:
        sample, losses = labelled.sample, labelled.losses
        draws = sample.drawn_as(StepDraws)
        before = np.concatenate([[0.0], np.cumsum(losses)[:-1]])
        terms = (before + losses / draws.probability) / sample.population
        weights = 1 / (sample.population * draws.probability)
        bound = 1 / (1 - draws.weighted)
        interval = weighted_interval(labelled, terms, weights=weights, bound=bound, level=level)
        return MeanLoss(float(terms.mean()), float(terms.var(ddof=1)) / len(terms), interval)
