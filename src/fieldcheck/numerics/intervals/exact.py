"""Exact intervals for the failure rate of a simple random sample.

Both invert two one-sided tests at half the error each, so that the coverage is at least ``level`` for every
number of failures in the pool (Clopper and Pearson, Biometrika 1934; for finite pools Wright, Exact Confidence
Bounds when Sampling from Small Finite Universes, 1991).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from fieldcheck.numerics import special
from fieldcheck.numerics.search import first

Bounds = tuple[float, float]


def clopper_pearson(failures: int, n: int, *, level: float) -> Bounds:
    """Bounds for the failure rate after ``n`` draws with replacement."""
    tail = (1 - level) / 2
    low = float(special.betaincinv(failures, n - failures + 1, tail)) if failures > 0 else 0.0
    high = float(special.betaincinv(failures + 1, n - failures, 1 - tail)) if failures < n else 1.0
    return low, high


@lru_cache(maxsize=4096)
def hypergeometric(failures: int, n: int, population: int, *, level: float) -> Bounds:
    """Bounds for the failure rate of a pool after ``n`` of its items; a point when those are all."""
    tail = (1 - level) / 2
    low = _fewest(failures, n, population, tail=tail)
    high = population - _fewest(n - failures, n, population, tail=tail)
    return low / population, high / population


def _fewest(failures: int, n: int, population: int, *, tail: float) -> int:
    """The smallest number of failures in the pool with which seeing so many is likelier than ``tail``."""
    share = special.betaincinv(failures, n - failures + 1, tail) if failures else 0.0
    left = math.sqrt(1 - n / population)  # without replacement, a bound is so much nearer to what was seen
    guess, limit = failures / n + (float(share) - failures / n) * left, float(special.ndtri(tail))

    def above(total: int) -> float:
        # As a normal quantile it is nearly a straight line.
        chance = _at_least(failures, n, total, population=population)
        found = float(special.ndtri(min(max(chance, 1e-300), 1 - 1e-16))) - limit
        return found if chance > tail else min(found, -1e-9)

    step = max(1, round(0.02 * left * population * math.sqrt((guess * (1 - guess) + 1 / n) / n)))
    return first(above, failures, population - (n - failures), guess=round(guess * population), step=step)


def _at_least(failures: int, n: int, total: int, *, population: int) -> float:
    """Chance of at least this many failures among ``n`` of a pool with ``total`` of them.

    Sums ratios of neighbouring terms around the mode: no large factorials cancel, so it is as good for ten million
    items as for ten. Terms over 12 standard deviations and 40 counts away do not matter in double precision.
    """
    first, last = max(0, n - (population - total)), min(n, total)
    share = total / population
    reach = 12 * math.sqrt(n * share * (1 - share)) + 40
    first, last = max(first, math.floor(n * share - reach)), min(last, math.ceil(n * share + reach))
    if failures <= first or failures > last:
        return float(failures <= first)
    x = np.arange(first, last, dtype=np.float64)
    steps = np.log((total - x) * (n - x) / ((x + 1) * (population - total - n + x + 1)))
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    terms = np.exp(logs - logs.max())
    return float(terms[failures - first :].sum() / terms.sum())
