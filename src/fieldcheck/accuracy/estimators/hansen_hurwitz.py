"""The Hansen-Hurwitz estimator."""

from __future__ import annotations

from typing import ClassVar

from fieldcheck.accuracy.estimators.base import MeanLoss
from fieldcheck.accuracy.estimators.weighted import heaviest, weighted_interval
from fieldcheck.core.draws import Draws, WeightedDraws
from fieldcheck.core.sample import Labelled


class HansenHurwitz:
    """``1/(nN) Σ y_i/π_i`` over draws with replacement; variance ``Σ (y_i/(Nπ_i) - θ̂)² / (n(n-1))``.

    Unbiased when every item that can fail can be drawn. With very uneven probabilities the distribution of the
    estimate is so skewed that no interval made from the sample can be trusted; the interval then says so.
    """

    name: ClassVar[str] = "hansen_hurwitz"
    accepts: ClassVar[tuple[type[Draws], ...]] = (WeightedDraws,)

    def estimate(self, labelled: Labelled, *, level: float) -> MeanLoss:
        draws = labelled.sample.drawn_as(WeightedDraws)
        weights = 1 / (labelled.sample.population * draws.probability)
        terms = labelled.losses * weights
        bound = heaviest(draws.least, labelled.sample.population)
        interval = weighted_interval(
            labelled, terms, weights=weights, bound=bound, hidden=draws.out_of_reach, level=level
        )
        return MeanLoss(float(terms.mean()), float(terms.var(ddof=1)) / len(terms), interval)
