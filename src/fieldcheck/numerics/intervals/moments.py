"""Limits from a mean and a variance, with an allowance for what the sample did not show.

A normal limit is symmetric; estimates of rare failures or of squared errors are not. As in the intervals of Fay and
Feuer for weighted sums of Poisson counts (Statistics in Medicine 1997), the limit is a quantile of the beta or gamma
distribution with the mean and variance of the estimate, after a further item of the worst kind was added to the sample.
"""

from __future__ import annotations

from fieldcheck.numerics import special
from fieldcheck.numerics.types import FloatArray

WORST = 0.75
"""Share of one further item of the worst kind. For a single binomial 1 is exact and 0.5 resembles its mid-p version."""


EACH = 0.5
"""Share of one further item in every stratum when labels decided where to look (GBS)."""


def allowance(steps: FloatArray, *, adaptive: bool = False) -> tuple[float, float]:
    """What to add to the mean and to the variance.

    steps
        One per stratum: how much one further item of the worst kind there would raise the estimate.
    adaptive
        The labels decided where to look: any stratum may have been left alone because its first labels misled.
    """
    worst = WORST * float(steps.max())
    if not adaptive:
        return worst, worst**2
    return max(worst, EACH * float(steps.sum())), max(worst**2, EACH * float((steps**2).sum()))


def beta_quantile(mean: float, variance: float, *, q: float) -> float:
    """For estimates between 0 and 1."""
    if mean <= 0 or mean >= 1 or variance <= 0:
        return min(max(mean, 0.0), 1.0)
    size = mean * (1 - mean) / variance - 1
    if size <= 0:  # no distribution on [0, 1] has that much variance: nothing is known
        return float(q > 0.5)
    return float(special.betaincinv(mean * size, (1 - mean) * size, q))


def gamma_quantile(mean: float, variance: float, *, q: float) -> float:
    """For estimates that are zero or more."""
    if mean <= 0 or variance <= 0:
        return max(mean, 0.0)
    scale = variance / mean
    return float(special.gammaincinv(mean / scale, q)) * scale
