"""An interval for the mean loss from draws with unequal probabilities, and when to distrust it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fieldcheck.numerics.intervals.moments import allowance, gamma_quantile
from fieldcheck.numerics.types import FloatArray

HIDDEN = 0.01
"""Share of a pool that a sample may practically never reach before its interval is distrusted."""


class WeightedInterval(NamedTuple):
    """Bounds, whether they can be trusted, and if not, why."""

    low: float
    high: float
    trusted: bool
    note: str


def weighted_mean(
    terms: FloatArray,
    *,
    level: float,
    bound: float,
    weights: FloatArray | None = None,
    hidden: float | None = None,
    top: float = 1.0,
) -> WeightedInterval:
    """Bounds for the mean of which each term is an unbiased estimate.

    The upper bound allows for a failure with the heaviest weight among the draws: items that were drawn and passed
    show what a failure there would have weighed. For losses without a limit the largest term stands for it.

    terms
        One per draw: loss times weight, ``y/(Nπ)``. DeepEST's steps are of the same kind.
    bound
        The heaviest weight in the pool, ``1/(N min π)``; infinite if some item cannot be drawn.
    weights
        One per draw: ``1/(Nπ)``. Left out, ``bound`` takes their place, which is safe and wide.
    hidden
        Share of the pool out of reach, from ``out_of_reach``. Left out: all, if one item may outweigh the sample.
    top
        The largest possible mean: 1 for failures, infinite for losses without a limit.
    """
    n, tail = len(terms), (1 - level) / 2
    mean, variance = float(terms.mean()), float(terms.var(ddof=1)) / n if n > 1 else np.inf
    up, up_variance = allowance(np.array([_worst(terms, bound=bound, weights=weights, top=top) / n]))
    # A gamma distribution also for failure rates: a weighted estimate of one may lie above 1.
    high = gamma_quantile(mean + up, variance + up_variance, q=1 - tail) if np.isfinite(variance + up) else top
    low = gamma_quantile(mean, variance, q=tail) if np.isfinite(variance) else 0.0
    note = _distrust(n, bound=bound, hidden=hidden)
    return WeightedInterval(min(low, top), min(high, top), not note, note)


def _worst(terms: FloatArray, *, bound: float, weights: FloatArray | None, top: float) -> float:
    if not np.isfinite(top):
        return float(terms.max()) or np.inf  # all losses zero: there is no scale
    return top * bound if weights is None else top * min(float(weights.max()), bound)


def out_of_reach(probabilities: FloatArray, draws: int) -> float:
    """Share of the pool whose items outweigh the sample: one failure there would move the estimate by more than 1.

    probabilities
        One per item of the pool: chance per draw.
    """
    return float(np.mean(probabilities * len(probabilities) * draws < 1))


def _distrust(draws: int, *, bound: float, hidden: float | None) -> str:
    share = float(bound > draws) if hidden is None else hidden
    if share <= HIDDEN:
        return ""
    part = "part" if hidden is None else f"{100 * share:.0f} %"
    return (
        f"{part} of the pool is so unlikely to be drawn that one failure there would move the estimate by more "
        f"than 1 ({draws} labels, heaviest weight {bound:.3g}); a floor on the probabilities prevents this"
    )
