"""The Rao-Hartley-Cochran estimator."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from fieldcheck.accuracy.estimators.base import MeanLoss
from fieldcheck.accuracy.estimators.weighted import heaviest, weighted_interval
from fieldcheck.core.sample import Labelled


class RaoHartleyCochran:
    """``1/N Σ y_r / (π_r/q_r)`` over one draw from each random group; its variance estimate is unbiased too.

    Variance: ``(ΣG² - N)/(N² - ΣG²) · Σ q_r (y_r/(Nπ_r) - θ̂)²`` with group sizes G.
    """

    name: ClassVar[str] = "rhc"
    needs: ClassVar[frozenset[str]] = frozenset(
        {"share_of_group", "group_probability", "group_size", "least_probability"}
    )

    def estimate(self, labelled: Labelled, *, level: float) -> MeanLoss:
        sample = labelled.sample
        population, group = sample.population, sample.per_draw["group_probability"]
        # A group whose sizes are all zero offers an item that could not be drawn; it counts nothing, as in the
        # published technique.
        totals = np.where(group > 0, labelled.losses / sample.per_draw["share_of_group"], 0.0) / population
        value = float(totals.sum())
        ratio = np.divide(totals, group, out=np.zeros(sample.draws), where=group > 0)
        squares = float((sample.per_draw["group_size"] ** 2).sum())
        factor = (squares - population) / (population**2 - squares)
        variance = factor * float((group * (ratio - value) ** 2).sum())
        chance = sample.per_draw["share_of_group"] * group
        weights = np.divide(1.0, population * chance, out=np.zeros(sample.draws), where=group > 0)
        interval = weighted_interval(
            labelled, totals * sample.draws, weights=weights, bound=heaviest(labelled), level=level
        )
        return MeanLoss(value, variance, interval)
