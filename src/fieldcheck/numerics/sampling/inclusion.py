"""Inclusion probabilities of one wave: how likely each item is to be drawn, given what is believed about it."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

BoolArray = npt.NDArray[np.bool_]

Objective = Literal["estimate", "balanced", "expose", "protected"]

_LEAST = 1e-4
"""Expected losses below this count as this: nothing is believed to be that safe."""


def wave_inclusion(
    expected: FloatArray,
    spread: FloatArray,
    drawn: BoolArray,
    count: float,
    *,
    objective: str,
    floor: float,
    certain: float,
) -> FloatArray:
    """One probability per item; those of the items not drawn before add up to ``count``.

    Items drawn before get one by the same formula: the pooled estimate weighs every item by the chance that *any*
    wave drew it, and without theirs it would be many times worse than simple random sampling.

    expected, spread
        Mean (above 0) and variance of each item's loss, as believed.
    drawn
        True where an item was drawn in an earlier wave.
    count
        Items to draw; a forecast from a part of the population may have a fraction of one.
    objective
        One of ``Objective``.
    floor
        Share of the size that is the same for all, in [0, 1].
    certain
        ``expose`` only: share of the wave that goes to the riskiest items outright; never all of it.
    """
    left = ~drawn
    sure = np.zeros(len(expected), dtype=bool)
    size = _size(expected, spread, objective)
    if objective == "expose":
        # One label is always left to chance, or the other items could not be drawn at all.
        cut = _cut(expected[left], min(round(certain * count), math.ceil(count) - 1))
        sure = expected >= cut
        size = np.sqrt(spread / np.maximum(1 - expected / cut, 0.02)) if np.isfinite(cut) else size
    rest = left & ~sure
    count -= int(np.count_nonzero(left & sure))
    level = float(size[rest].mean()) if rest.any() else 0.0
    mixed = (1 - floor) * size / level + floor if level > 0 else np.ones_like(size)
    inclusion = np.minimum(mixed * scale_to(mixed[rest], count), 1.0)
    inclusion[sure] = 1.0
    return inclusion


def _size(expected: FloatArray, spread: FloatArray, objective: str) -> FloatArray:
    """What the probability is proportional to: the spread of the loss, or for failures the loss itself."""
    return np.sqrt(spread) if objective in ("estimate", "protected") else np.maximum(expected, _LEAST)


def _cut(expected: FloatArray, count: int) -> float:
    """The smallest expected loss among the ``count`` largest, of more; ties at the cut are left to chance."""
    if count <= 0:
        return np.inf
    at = len(expected) - count
    ordered = np.partition(expected, (at - 1, at))
    lower, upper = float(ordered[at - 1]), float(ordered[at])
    return upper if upper > lower else np.nextafter(upper, np.inf)


def scale_to(size: FloatArray, count: float) -> float:
    """The factor at which ``min(size × factor, 1)`` adds up to ``count``."""
    if count >= len(size):
        return np.inf
    if count <= 0:
        return 0.0
    factor = count / float(size.sum())
    for _ in range(100):
        full = size * factor >= 1.0
        capped = int(np.count_nonzero(full))
        better = (count - capped) / float(size[~full].sum())
        if better <= factor * (1 + 1e-15):
            break
        factor = better
    return factor
