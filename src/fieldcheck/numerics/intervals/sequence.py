"""Bounds for the failure rate of a pool that hold at every single label of a simple random sample.

The labels in their order are more likely under a beta-binomial mixture than under "the pool has M failures" by a factor
that is a nonnegative martingale when M is true; by Ville's inequality it ever reaches ``1/α`` with a chance of at most
``α`` (Waudby-Smith and Ramdas, Confidence sequences for sampling without replacement, NeurIPS 2020). Exact for every
pool, whatever the model does, and one may stop whenever one likes.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from fieldcheck.numerics import special
from fieldcheck.numerics.types import BoolArray, FloatArray, IntArray

STRENGTH = 20.0
"""The failure rate that is expected counts as much as this many labels. It shapes the bounds, not their validity."""


def log_evidence(
    failures: IntArray, labels: IntArray, total: IntArray, *, population: int, expected: float
) -> FloatArray:
    """Logarithm of the evidence against ``total`` failures in the pool; one per element.

    expected
        Failure rate around which the bounds are to be tightest; it must not come from these labels.
    """
    a, b = STRENGTH * expected + 0.5, STRENGTH * (1 - expected) + 0.5
    mixture = special.betaln(a + failures, b + labels - failures) - special.betaln(a, b)
    likely = _falling(total, failures) + _falling(population - total, labels - failures)
    return np.asarray(mixture - likely + _falling(np.asarray(population), labels))


def sequence_bounds(
    failures: npt.ArrayLike, labels: npt.ArrayLike, *, population: int, expected: float, level: float
) -> tuple[FloatArray, FloatArray]:
    """Bounds for the failure rate of the pool, one pair per element.

    With a chance of ``level`` or more they hold at every number of labels at once.

    failures, labels
        Failures among the first ``labels`` draws without replacement.
    """
    k, n = np.asarray(failures, dtype=np.int64), np.asarray(labels, dtype=np.int64)
    limit = math.log(1 / (1 - level))

    def rejected(total: IntArray) -> BoolArray:
        return log_evidence(k, n, total, population=population, expected=expected) >= limit

    # The likelihood has one peak, which the mixture, an average of likelihoods, never exceeds: it is not rejected.
    peak = np.clip(k * (population + 1) // np.maximum(n, 1), k, population - (n - k))
    low = _edge(rejected, inside=peak, outside=k - 1)
    high = _edge(rejected, inside=peak, outside=population - (n - k) + 1)
    return low / population, high / population


def _edge(rejected: Callable[[IntArray], BoolArray], *, inside: IntArray, outside: IntArray) -> FloatArray:
    """The number farthest from ``inside`` that is not rejected, by bisection; ``outside`` itself is impossible."""
    while np.any(np.abs(outside - inside) > 1):
        middle = (inside + outside) // 2
        middle = np.where(np.abs(outside - inside) > 1, middle, inside)
        gone = rejected(middle)
        outside = np.where(gone, middle, outside)
        inside = np.where(gone, inside, middle)
    return inside.astype(np.float64)


def _falling(value: IntArray, count: IntArray) -> FloatArray:
    """Logarithm of ``value (value - 1) ... (value - count + 1)``."""
    return np.asarray(special.gammaln(value + 1.0) - special.gammaln(value - count + 1.0))
