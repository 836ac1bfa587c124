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

from fieldcheck.numerics.sampling.draws import uniforms

FloatArray = npt.NDArray[np.float64]

IntArray = npt.NDArray[np.int64]

_UNIT = 2**36
"""Probabilities become whole multiples of 1/_UNIT, so that their sums are exact on every machine."""

_COIN = 2**53
"""Uniform numbers are whole multiples of 1/_COIN."""


def ordered_pivotal(inclusion: FloatArray, rng: np.random.Generator) -> IntArray:
    """Positions of the drawn items, in order.

    inclusion
        Probability of each item, in the order to spread over; their sum is the (whole) number of items to draw.
    """
    count = round(float(inclusion.sum()))
    ends = np.cumsum(_whole(inclusion, count))
    units = np.arange(1, count, dtype=np.int64) * _UNIT
    borders = np.searchsorted(ends, units, side="left")
    below = np.concatenate([[0], ends])[borders]
    # An item across the i-th border has the part `before` in the unit that ends there and the part `after` in the
    # next one.
    coins = (uniforms(rng, 2 * count) * _COIN).astype(np.int64).reshape(count, 2)
    places = _walk((units - below).tolist(), (ends[borders] - units).tolist(), coins.tolist())
    targets = np.arange(count, dtype=np.int64) * _UNIT + np.array(places, dtype=np.int64)
    return np.searchsorted(ends, targets, side="right").astype(np.int64, copy=False)


def _walk(before: list[int], after: list[int], coins: list[list[int]]) -> list[int]:
    """Where in each unit the draw falls, from 0 to ``_UNIT - 1``: whole numbers, so that a border has two sides."""
    places = [_UNIT * coins[0][0] // _COIN] if coins else []
    for first, second, (coin, place) in zip(before, after, coins[1:], strict=True):
        taken = places[-1] >= _UNIT - first
        if not taken and coin * (_UNIT - first) < second * _COIN:
            places.append(second * place // _COIN)
        else:
            places.append(second + (_UNIT - second) * place // _COIN)
    return places


def _whole(inclusion: FloatArray, count: int) -> IntArray:
    """Whole numbers that add up to ``count`` units exactly: what rounding leaves goes where it matters least."""
    whole = np.rint(inclusion * _UNIT).astype(np.int64)
    rest = count * _UNIT - int(whole.sum())
    largest = _largest(np.minimum(inclusion, 1.0 - inclusion), max(1, min(len(whole), 64)))
    share, extra = divmod(rest, len(largest))
    whole[largest] += share
    whole[largest[0]] += extra
    return whole


def _largest(values: FloatArray, count: int) -> IntArray:
    """Positions of the largest values, the largest first, the earlier one of equals; without sorting all of them."""
    least = np.partition(values, len(values) - count)[len(values) - count]
    above, ties = np.flatnonzero(values > least), np.flatnonzero(values == least)
    above = above[np.argsort(-values[above], kind="stable")]
    return np.concatenate([above, ties[: count - len(above)]])
