"""The floor of a wave: the share of the chances that is the same for all items, however safe they look.

A failure that hides where all looks safe is seen with a chance in proportion to the floor: a high one protects, a low
one leaves more labels for where failures are expected.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from fieldcheck.numerics.exact import ExactSum, Mapped, Range, scan
from fieldcheck.numerics.intervals.moments import WORST, gamma_quantile
from fieldcheck.numerics.sampling.inclusion import ArrayStretch, Inclusion, ItemStretch, SizeSums, factors, size_sums
from fieldcheck.numerics.types import BoolArray, FloatArray

LEAST, MOST, ABOVE = 0.10, 0.25, 0.05
"""Chosen by hand on 18 pools, accurate and under-confident ones among them."""

FLOORS = (0.15, 0.25, 0.35, 0.5, 0.65, 0.8, 1.0)


def estimating_floor(rate: float) -> float:
    """For the smallest error: low where failures are rare, since then little is lost if a few of them hide.

    rate
        Mean chance to fail.
    """
    return min(max(ABOVE + rate, LEAST), MOST)


def protecting_floor(
    expected: FloatArray,
    missed: FloatArray,
    drawn: BoolArray,
    *,
    count: float,
    budget: int,
    population: int | None = None,
) -> float:
    """For the narrowest protected interval, as it is forecast if all labels that are left were one wave.

    expected
        One per item: its chance to fail, as believed.
    missed
        One per item: the chance that no wave drew it so far.
    count
        Labels that are left.
    budget
        All labels of the campaign: a failure in this many may hide anywhere.
    population
        Items that those given stand for, where they are a part.
    """
    items = replace(ArrayStretch.of(expected, expected * (1 - expected), drawn), missed=missed)
    sums, _ = scan(items, size_sums, Inclusion("estimate", 0.0))
    size = len(expected)
    return narrowest(items, sums, float(expected.mean()), size, count=count, budget=budget, stands_for=population)


def narrowest(
    items: Mapped,
    sums: SizeSums,
    rate: float,
    size: int,
    *,
    count: float,
    budget: int,
    stands_for: int | None = None,
) -> float:
    """The same for items in parts; all floors are looked at in one pass.

    sums
        Of the sizes of those that may be drawn.
    rate
        Mean chance to fail.
    """
    level = float(sums.total) / sums.count if sums.count else 0.0
    made = tuple(Inclusion("estimate", floor, level) for floor in FLOORS)
    tops = tuple(float(one.mixed(np.float64(sums.sizes.high))) if sums.count else 0.0 for one in made)
    scales = factors(items, made, sums.count, count, total=sums.count, tops=tops)
    scaled = tuple(replace(one, factor=factor) for one, factor in zip(made, scales, strict=True))
    found = scan(items, _variances, (scaled, 1 / budget))
    population = stands_for or size
    widths = [_width(rate, least.low, float(total) / size, population) for least, total in found]
    return FLOORS[int(np.argmin(np.round(widths, 9)))]


def _variances(stretch: ItemStretch, given: tuple[tuple[Inclusion, ...], float]) -> tuple[tuple[Range, ExactSum], ...]:
    """For each floor: the smallest chance, and the sum of the variances of all items."""
    every, hidden = given
    expected, missed = stretch.expected, stretch.missed
    risk = 1 - (1 - expected) * (1 - hidden)
    spread, size, found = risk * (1 - risk), every[0].size(expected, stretch.spread), []
    for one in every:
        chance = 1 - missed * (1 - np.minimum(one.mixed(size) * one.factor, 1.0))
        found.append((Range.of(chance), ExactSum.of(spread * (1 / chance - 1))))
    return tuple(found)


def _width(rate: float, least: float, variance: float, size: int) -> float:
    unseen = WORST / (size * -math.log1p(-least)) if least < 1 else 0.0
    variance /= size
    high = gamma_quantile(rate + unseen, variance + unseen**2, q=0.975)
    return high - gamma_quantile(rate, variance, q=0.025)
