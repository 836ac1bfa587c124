"""The Hansen-Hurwitz estimator."""

from __future__ import annotations

from typing import ClassVar

from fieldcheck.accuracy.estimators.base import MeanLoss
from fieldcheck.accuracy.estimators.weighted import heaviest, weighted_interval
from fieldcheck.core.sample import Labelled


class HansenHurwitz:
    """``1/(nN) Σ y_i/π_i`` over draws with replacement; variance ``Σ (y_i/(Nπ_i) - θ̂)² / (n(n-1))``.

    Unbiased when every item that can fail can be drawn. With very uneven probabilities the distribution of the
    estimate is so skewed that no interval made from the sample can be trusted; the interval then says so.
    """

    name: ClassVar[str] = "hansen_hurwitz"
    needs: ClassVar[frozenset[str]] = frozenset({"draw_probability", "least_probability"})

    def estimate(self, labelled: Labelled, *, level: float) -> MeanLoss:
        sample = labelled.sample
        weights = 1 / (sample.population * sample.per_draw["draw_probability"])
        terms = labelled.losses * weights
        interval = weighted_interval(labelled, terms, weights=weights, bound=heaviest(labelled), level=level)
        return MeanLoss(float(terms.mean()), float(terms.var(ddof=1)) / len(terms), interval)
