"""Ordered pivotal sampling: a fixed number of items with given inclusion probabilities, spread along an order.

Neighbours in the order fight for their place, so a sample has about as many items from each stretch of it as the
probabilities say. Systematic sampling does that too, but on a fixed order it knows only a handful of samples and has
no honest variance. Chauvet (On a characterization of ordered pivotal sampling, Bernoulli 2012) showed that the
pivotal method equals Deville's systematic sampling, in which one item is drawn from each unit of the running sum, and
an item that lies across the border of two units is drawn at most once: that takes one step per drawn item, not one
per item of the population.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fieldcheck.numerics.draws import uniforms

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_UNIT = 2**36
"""Probabilities become whole multiples of 1/_UNIT, so that their sums are exact on every machine."""


def ordered_pivotal(inclusion: FloatArray, rng: np.random.Generator) -> IntArray:
    """Positions of the drawn items, in order.

    inclusion
        Probability of each item, in the order to spread over; their sum is the (whole) number of items to draw.
    """
    count = round(float(inclusion.sum()))
    ends = np.cumsum(_whole(inclusion, count))
    borders = np.searchsorted(ends, np.arange(1, count, dtype=np.int64) * _UNIT, side="left")
    below = np.concatenate([[0], ends])[borders]
    # An item across the i-th border has the part `before` in the unit that ends there and the part `after` in the
    # next one.
    before = (np.arange(1, count, dtype=np.int64) * _UNIT - below) / _UNIT
    after = (ends[borders] - np.arange(1, count, dtype=np.int64) * _UNIT) / _UNIT
    places = _walk(before.tolist(), after.tolist(), uniforms(rng, 2 * count).reshape(count, 2).tolist())
    targets = ((np.arange(count) + np.array(places)) * _UNIT).astype(np.int64)
    found = np.searchsorted(ends, targets, side="right")
    return np.asarray(np.minimum(found, len(inclusion) - 1), dtype=np.int64)


def _walk(before: list[float], after: list[float], coins: list[list[float]]) -> list[float]:
    """Where in each unit, from 0 to 1, the draw falls."""
    places = [coins[0][0]] if coins else []
    for first, second, (coin, place) in zip(before, after, coins[1:], strict=True):
        taken = places[-1] >= 1.0 - first
        if taken:
            places.append(second + place * (1.0 - second))
        elif coin * (1.0 - first) < second:
            places.append(place * second)
        else:
            places.append(second + place * (1.0 - second))
    return places


def _whole(inclusion: FloatArray, count: int) -> IntArray:
    """Whole numbers that add up to ``count`` units exactly: what rounding leaves goes to the largest."""
    whole = np.rint(inclusion * _UNIT).astype(np.int64)
    rest = count * _UNIT - int(whole.sum())
    largest = np.argsort(-np.minimum(inclusion, 1.0 - inclusion), kind="stable")[: max(1, min(len(whole), 64))]
    share, extra = divmod(rest, len(largest))
    whole[largest] += share
    whole[largest[0]] += extra
    return whole
