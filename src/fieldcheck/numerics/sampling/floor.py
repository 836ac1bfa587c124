"""The floor of a wave: the share of the chances that is the same for all items, however safe they look.

A failure that hides where all looks safe is seen with a chance in proportion to the floor: a high one protects, a low
one leaves more labels for where failures are expected.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from fieldcheck.numerics.intervals.moments import WORST, gamma_quantile
from fieldcheck.numerics.sampling.inclusion import wave_inclusion

FloatArray = npt.NDArray[np.float64]

BoolArray = npt.NDArray[np.bool_]

LEAST, MOST, ABOVE = 0.10, 0.25, 0.05
"""Chosen by hand on 18 pools, accurate and under-confident ones among them."""

FLOORS = (0.15, 0.25, 0.35, 0.5, 0.65, 0.8, 1.0)


def estimating_floor(expected: FloatArray) -> float:
    """For the smallest error: low where failures are rare, since then little is lost if a few of them hide."""
    return float(np.clip(ABOVE + expected.mean(), LEAST, MOST))


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
    risk = 1 - (1 - expected) * (1 - 1 / budget)
    size = population or len(expected)
    widths = [_width(expected, risk, missed, drawn, count=count, floor=floor, size=size) for floor in FLOORS]
    return FLOORS[int(np.argmin(np.round(widths, 9)))]


def _width(
    expected: FloatArray,
    risk: FloatArray,
    missed: FloatArray,
    drawn: BoolArray,
    *,
    count: float,
    floor: float,
    size: int,
) -> float:
    inclusion = wave_inclusion(
        expected, expected * (1 - expected), drawn, count, objective="estimate", floor=floor, certain=0.0
    )
    chance = 1 - missed * (1 - inclusion)
    least, rate = float(chance.min()), float(expected.mean())
    unseen = WORST / (size * -math.log1p(-least)) if least < 1 else 0.0
    variance = float((risk * (1 - risk) * (1 / chance - 1)).mean()) / size
    high = gamma_quantile(rate + unseen, variance + unseen**2, q=0.975)
    return high - gamma_quantile(rate, variance, q=0.025)
