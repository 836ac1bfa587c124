"""Intervals for the mean loss from labels that were drawn within strata.

A stratum without failures is not a stratum without variance: the variance of each is shrunk towards that of all
labels, and the limits allow for a failure that the sample did not show where it would weigh most (see ``matched``).
That they cover is a result of simulation (docs/decisions/intervals.md), not a theorem.
"""

from __future__ import annotations

import numpy as np

from fieldcheck.numerics.intervals.moments import allowance, beta_quantile, gamma_quantile
from fieldcheck.numerics.types import FloatArray, IntArray

Counts = FloatArray | IntArray


Bounds = tuple[float, float]


def stratified_binary(
    sizes: Counts,
    counts: Counts,
    failures: Counts,
    *,
    level: float,
    adaptive: bool = False,
    replacement: bool = False,
) -> Bounds:
    """Bounds for the failure rate of the pool.

    sizes, counts, failures
        One per stratum: items in it, labels, failing labels. Every stratum needs a label.
    adaptive
        The labels decided where to look next (GBS), which biases the estimate towards what the first ones showed.
    replacement
        The draws within a stratum were with replacement.
    """
    share, unseen = sizes / sizes.sum(), _unseen(sizes, counts, replacement=replacement)
    rates = failures / counts
    rate = float(share @ rates)
    if not unseen.any():
        return rate, rate
    smooth = (failures + (failures.sum() + 0.5) / (counts.sum() + 1)) / (counts + 1)
    weight = unseen / (1 + unseen)
    variance = float((share**2 * weight) @ (smooth * (1 - smooth)))
    up, up_variance = allowance(share * weight * (1 - rates), adaptive=adaptive)
    down, down_variance = allowance(share * weight * rates, adaptive=adaptive)
    tail = (1 - level) / 2
    high = beta_quantile(rate + up, variance + up_variance, q=1 - tail)
    low = 1 - beta_quantile(1 - rate + down, variance + down_variance, q=1 - tail)
    if replacement:
        return low, high
    # Labelled items need no inference: those that failed bound the rate from below, those that passed from above.
    population, failed = float(sizes.sum()), float(failures.sum())
    return max(low, failed / population), min(high, (population - float(counts.sum()) + failed) / population)


def stratified_mean(
    sizes: Counts,
    stratum: IntArray,
    losses: FloatArray,
    *,
    level: float,
    adaptive: bool = False,
    replacement: bool = False,
) -> Bounds:
    """Bounds for the mean of losses that are zero or more and have no upper limit, such as squared errors.

    The worst loss seen in a stratum stands for the worst that it may hold: a pool whose mean is dominated by a few
    losses that the sample did not meet is not covered. Where all losses seen are zero there is no scale to judge
    the others by, and the upper bound is infinite.

    sizes
        Items, one per stratum; every stratum needs a label.
    stratum, losses
        One per draw.
    adaptive, replacement
        As for ``stratified_binary``.
    """
    counts = np.bincount(stratum, minlength=len(sizes))
    share, unseen = sizes / sizes.sum(), _unseen(sizes, counts, replacement=replacement)
    means = np.bincount(stratum, weights=losses, minlength=len(sizes)) / counts
    mean, known = float(share @ means), 0.0 if replacement else float(losses.sum() / sizes.sum())
    if not unseen.any():
        return mean, mean
    if len(losses) < 2 or not losses.any():
        return known, np.inf
    within = np.bincount(stratum, weights=(losses - means[stratum]) ** 2, minlength=len(sizes))
    variance = float((share**2 * unseen) @ ((within + losses.var(ddof=1)) / counts))
    worst = np.zeros(len(sizes))
    np.maximum.at(worst, stratum, losses)
    up, up_variance = allowance(share * unseen * worst, adaptive=adaptive)
    tail = (1 - level) / 2
    high = gamma_quantile(mean + up, variance + up_variance, q=1 - tail)
    low = gamma_quantile(mean, variance, q=tail)
    return max(min(low, mean), known), max(high, mean)


def srs_mean(losses: FloatArray, population: int | None, *, level: float) -> Bounds:
    """Bounds for the mean loss from a simple random sample; without a population, drawn with replacement."""
    sizes = np.array([float(population or 1)])
    stratum = np.zeros(len(losses), dtype=np.int64)
    return stratified_mean(sizes, stratum, losses, level=level, replacement=population is None)


def _unseen(sizes: Counts, counts: Counts, *, replacement: bool) -> FloatArray:
    """``1/n`` with replacement, ``1/n - 1/N`` without: zero where a whole stratum is labelled."""
    inverse: FloatArray = 1 / counts
    return inverse if replacement else inverse - 1 / sizes
