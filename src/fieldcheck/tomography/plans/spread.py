"""Few inputs in many tests of all orders: the default."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.space import Space
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.plans.base import Adds, Rows, all_tests, of_order, random_order, shuffled, spendable

UNIFORM = 8
"""Of so many rows in a space too large to touch, one is uniform over all tests; the others take an order first."""


@dataclass(frozen=True)
class Spread:
    """Few inputs in many tests of all orders; the inputs of different rows are independent.

    Where the budget allows, every test gets the same number of inputs, give or take one. A larger space is drawn from:
    one row in eight uniform over all tests, the others by order first, low ones more often, and then a random test of
    that order: most that can be learnt is where few perturbations come together. A surrogate that smooths over
    neighbouring tests makes more of this than of many inputs in few tests.
    """

    name: ClassVar[str] = "spread"
    title: ClassVar[str] = "Few inputs in many tests of all orders"
    paper: ClassVar[str] = "this project"
    adds: ClassVar[Adds] = "rows"
    usual: ClassVar[int | None] = 20_000

    def rows(self, space: Space, inputs: int, *, budget: int | None, seed: int) -> Rows:
        wanted = spendable(budget, space.size * inputs, default=self.usual)
        if wanted >= space.size:
            return _everywhere(space, inputs, wanted, seed)
        return _drawn(space, inputs, wanted, seed)


def _everywhere(space: Space, inputs: int, budget: int, seed: int) -> Rows:
    """Every test as often as every other, give or take one, each time on another input."""
    each, rest = divmod(budget, space.size)
    extra = shuffled(all_tests(space), seed)[:rest]
    tests = np.sort(np.concatenate([np.repeat(all_tests(space), each), extra]))
    _, starts, counts = np.unique(tests, return_index=True, return_counts=True)
    place = np.arange(len(tests)) - np.repeat(starts, counts)
    rows = _others(tests, place, inputs, seed)
    order = random_order(len(tests), seed)
    return Rows(tests[order], rows[order], np.full(len(tests), 1 / space.size))


def _others(tests: IntArray, place: IntArray, inputs: int, seed: int) -> IntArray:
    """The input of each row: a random one of the data, another one for every place within a test."""
    found = np.empty(len(tests), dtype=np.int64)
    for first in range(0, len(tests), 2000):
        block = slice(first, first + 2000)
        distinct, which = np.unique(tests[block], return_inverse=True)
        ranks = np.argsort(ItemStreams.of(seed, "spread/inputs", distinct, 0).words(inputs), axis=1, kind="stable")
        found[block] = ranks[which, place[block]]
    return found


def _drawn(space: Space, inputs: int, budget: int, seed: int) -> Rows:
    """Some uniform over the space, the others by order: the first rows of one sequence that differ.

    A larger budget has the rows of a smaller one first.
    """
    tests, items = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    for attempt in itertools.count():
        places = np.arange(2 * budget * attempt, 2 * budget * (attempt + 1))
        tests = np.concatenate([tests, _mixture(space, places, seed)])
        items = np.concatenate([items, ItemStreams.of(seed, "spread/items/0", places, 0).below(inputs)[:, 0]])
        _, first = np.unique(np.column_stack([tests, items]), axis=0, return_index=True)
        kept = np.sort(first)[:budget]
        if len(kept) == budget:
            return Rows(tests[kept], items[kept], draw_chance(space, tests[kept]))
    raise AssertionError("unreachable")


def _mixture(space: Space, places: IntArray, seed: int) -> IntArray:
    """The tests at some places of the sequence."""
    shape = np.array(space.shape)
    draws = ItemStreams.of(seed, "spread/tests/0", places, 0)
    uniform = space.numbers((draws.uniforms(len(shape)) * shape).astype(np.int64))
    weights = _order_weights(len(shape))
    orders = np.searchsorted(np.cumsum(weights), draws.below(int(weights.sum()), lane=1)[:, 0], side="right")
    by_order = of_order(space, orders, ItemStreams.of(seed, "spread/orders/0", places, 0))
    return np.where(places % UNIFORM == 0, uniform, by_order)


def _order_weights(axes: int) -> IntArray:
    """How often each order is taken, from 0 on: 2 for the highest, one more for each below; 2 for order 0, one test."""
    return np.array([2, *range(axes + 1, 1, -1)], dtype=np.int64)


def draw_chance(space: Space, tests: IntArray) -> FloatArray:
    """Probability of each test in one draw of ``spread`` in a space that is too large to touch every test."""
    severities = space.severities(tests)
    axes = len(space.axes)
    ways = np.array([math.comb(axes, order) for order in range(axes + 1)], dtype=np.float64)
    levels = np.where(severities > 0, np.array([axis.levels for axis in space.axes], dtype=np.float64), 1.0)
    share = _order_weights(axes) / _order_weights(axes).sum() / ways
    by_order = share[np.count_nonzero(severities, axis=1)] / levels.prod(axis=1)
    return np.asarray((1 / space.size + (UNIFORM - 1) * by_order) / UNIFORM)
