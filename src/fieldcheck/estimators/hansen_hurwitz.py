"""The Hansen-Hurwitz estimator."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from fieldcheck.core.estimator import MeanLoss
from fieldcheck.core.interval import Interval
from fieldcheck.core.sample import Labelled
from fieldcheck.numerics.intervals import weighted_mean


class HansenHurwitz:
    """``1/(nN) Σ y_i/π_i`` over draws with replacement; variance ``Σ (y_i/(Nπ_i) - θ̂)² / (n(n-1))``.

    Unbiased when every item that can fail can be drawn. With very uneven probabilities the distribution of the
    estimate is so skewed that no interval made from the sample can be trusted; the interval then says so.
    """

    name: ClassVar[str] = "hansen_hurwitz"
    needs: ClassVar[frozenset[str]] = frozenset({"draw_probability", "least_probability"})

    def estimate(self, labelled: Labelled, *, level: float) -> MeanLoss:
        sample = labelled.sample
        terms = labelled.losses / (sample.population * sample.per_draw["draw_probability"])
        least = float(sample.constants["least_probability"][0])
        bound = 1 / (sample.population * least) if least > 0 else np.inf
        low, high, trusted, note = weighted_mean(terms, level=level, bound=bound)
        interval = Interval(low, high, level, "asymptotic" if trusted else "none", "weighted mean", trusted, note)
        return MeanLoss(float(terms.mean()), float(terms.var(ddof=1)) / len(terms), interval)
