"""The Rao-Hartley-Cochran estimator."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from fieldcheck.accuracy.estimators.base import MeanLoss
from fieldcheck.accuracy.estimators.weighted import heaviest, weighted_interval
from fieldcheck.core.draws import Draws, GroupDraws
from fieldcheck.core.sample import Labelled


class RaoHartleyCochran:
    """``1/N Σ y_r / (π_r/q_r)`` over one draw from each random group; its variance estimate is unbiased too.

    Variance: ``(ΣG² - N)/(N² - ΣG²) · Σ q_r (y_r/(Nπ_r) - θ̂)²`` with group sizes G.
    """

    name: ClassVar[str] = "rhc"
    accepts: ClassVar[tuple[type[Draws], ...]] = (GroupDraws,)

    def estimate(self, labelled: Labelled, *, level: float) -> MeanLoss:
        sample = labelled.sample
        draws, population = sample.drawn_as(GroupDraws), sample.population
        group = draws.group
        # A group whose sizes are all zero offers an item that could not be drawn; it counts nothing, as in the
        # published technique.
        totals = np.where(group > 0, labelled.losses / draws.share, 0.0) / population
        value = float(totals.sum())
        ratio = np.divide(totals, group, out=np.zeros(len(sample)), where=group > 0)
        squares = float((draws.group_items**2).sum())
        factor = (squares - population) / (population**2 - squares)
        variance = factor * float((group * (ratio - value) ** 2).sum())
        chance = draws.share * group
        weights = np.divide(1.0, population * chance, out=np.zeros(len(sample)), where=group > 0)
        bound = heaviest(draws.least, population)
        interval = weighted_interval(
            labelled, totals * len(sample), weights=weights, bound=bound, hidden=draws.out_of_reach, level=level
        )
        return MeanLoss(value, variance, interval)
