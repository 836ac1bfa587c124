"""Which tests to run on which inputs: a pure function of the space, the number of inputs, the budget and a seed."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from fieldcheck.core.draws import Draws
from fieldcheck.core.errors import BudgetError, SpaceError
from fieldcheck.core.registry import Registry
from fieldcheck.core.rng import stream
from fieldcheck.core.space import Space
from fieldcheck.core.types import FloatArray, IntArray

PAPER = "Arif et al., TestifAI, ICSE 2026"
LISTED = 20_000_000
"""Tests that a plan can list one by one."""

CANDIDATES = 4000
"""Tests among which a space-filling subset is looked for."""

UNIFORM = 8
"""Of so many rows in a space too large to touch, one is uniform over all tests; the others take an order first."""


@dataclass(frozen=True, eq=False)
class Rows:
    """What to run: one row per (test, input), in the order in which it is to be run.

    chance
        Probability with which one draw of the plan takes the test of this row; nan where tests are not drawn.
    """

    tests: IntArray
    inputs: IntArray
    chance: FloatArray

    def __len__(self) -> int:
        return len(self.tests)

    def part(self, at: slice | IntArray) -> Rows:
        """Some of the rows."""
        return Rows(self.tests[at], self.inputs[at], self.chance[at])

    def repeated(self, times: IntArray) -> Rows:
        """Each row so many times in a row."""
        return self.part(np.repeat(np.arange(len(self)), times))


def joined(*parts: Rows) -> Rows:
    """Rows one after the other."""
    none = Rows(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))
    columns = ([getattr(part, name) for part in (none, *parts)] for name in ("tests", "inputs", "chance"))
    return Rows(*(np.concatenate(column) for column in columns))


@runtime_checkable
class Plan(Protocol):
    """A way to spend inferences."""

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]

    def rows(self, space: Space, inputs: int, *, budget: int | None, seed: int) -> Rows:
        """Rows for so many inputs of the data and so many inferences; no budget is as many as the plan can use."""
        ...


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
    usual: ClassVar[int] = 20_000
    """Inferences where nobody says how many."""

    def rows(self, space: Space, inputs: int, *, budget: int | None, seed: int) -> Rows:
        wanted = _budget(budget, space.size * inputs, default=self.usual)
        if wanted >= space.size:
            return _everywhere(space, inputs, wanted, seed)
        return _drawn(space, inputs, wanted, seed)


@dataclass(frozen=True)
class Pairs:
    """All tests of orders 0, 1 and 2, on the same inputs.

    share
        Of the tests of orders 3 and 4, this share is added, far from each other.
    """

    name: ClassVar[str] = "pairs"
    title: ClassVar[str] = "All tests of orders up to two"
    paper: ClassVar[str] = PAPER

    share: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise SpaceError(f"pairs: share={self.share}", rule="a share is between 0 and 1")

    def rows(self, space: Space, inputs: int, *, budget: int | None, seed: int) -> Rows:
        low = low_orders(space, 2)
        tests = np.concatenate([low, *(self._further(space, order, seed) for order in (3, 4))])
        return _same_inputs(tests, inputs, budget, seed)

    def _further(self, space: Space, order: int, seed: int) -> IntArray:
        total = count_of_order(space, order)
        return space_filling(space, order, math.ceil(self.share * total), seed=seed)


@dataclass(frozen=True)
class Full:
    """Every test, on the same inputs."""

    name: ClassVar[str] = "full"
    title: ClassVar[str] = "Every test"
    paper: ClassVar[str] = PAPER

    def rows(self, space: Space, inputs: int, *, budget: int | None, seed: int) -> Rows:
        return _same_inputs(_all_tests(space), inputs, budget, seed)


@dataclass(frozen=True)
class Ordered:
    """Whole tests on all inputs, low orders first, in random order within an order; as many as the budget pays for."""

    name: ClassVar[str] = "ordered"
    title: ClassVar[str] = "Whole tests, low orders first"
    paper: ClassVar[str] = PAPER

    def rows(self, space: Space, inputs: int, *, budget: int | None, seed: int) -> Rows:
        tests = _shuffled(_all_tests(space), seed)
        return _whole_tests(tests[np.argsort(space.orders(tests), kind="stable")], inputs, budget)


@dataclass(frozen=True)
class Random:
    """Whole tests on all inputs, in random order; as many as the budget pays for."""

    name: ClassVar[str] = "random"
    title: ClassVar[str] = "Whole tests, in random order"
    paper: ClassVar[str] = PAPER

    def rows(self, space: Space, inputs: int, *, budget: int | None, seed: int) -> Rows:
        return _whole_tests(_shuffled(_all_tests(space), seed), inputs, budget)


registry: Registry[Plan] = Registry(
    "plan",
    "fieldcheck.plans",
    Spread,
    Pairs,
    Full,
    Ordered,
    Random,
    error=SpaceError,
    hint="fieldcheck tomography list plans",
)


def low_orders(space: Space, highest: int) -> IntArray:
    """Numbers of all tests up to an order, the lowest order first; also where the space is too large to list."""
    found = []
    for order in range(min(highest, len(space.axes)) + 1):
        for axes in itertools.combinations(range(len(space.axes)), order):
            levels = list(itertools.product(*(range(1, space.axes[axis].levels + 1) for axis in axes)))
            severities = np.zeros((len(levels), len(space.axes)), dtype=np.int64)
            severities[:, list(axes)] = levels
            found.append(space.numbers(severities))
    return np.concatenate(found)


def count_of_order(space: Space, order: int) -> int:
    """Number of tests in which so many perturbations are at work."""
    counts = [1] + [0] * order
    for axis in space.axes:
        counts = [
            counts[at] + (axis.levels * counts[at - 1] if at else 0) for at in range(order + 1)
        ]  # each axis is either off or at one of its levels
    return counts[order]


def space_filling(space: Space, order: int, count: int, *, seed: int) -> IntArray:
    """Tests of one order far from each other: each next one is the farthest from those before (Gonzalez, 1985)."""
    if not count:
        return np.zeros(0, dtype=np.int64)
    orders = np.full(max(CANDIDATES, 2 * count), order)
    among = np.unique(_of_order(space, orders, Draws.of(seed, "filling", np.arange(len(orders)), 0)))
    places = space.severities(among) / np.array([axis.levels for axis in space.axes])
    chosen = [0]
    distance = np.full(len(among), np.inf)
    while len(chosen) < min(count, len(among)):
        distance = np.minimum(distance, ((places - places[chosen[-1]]) ** 2).sum(axis=1))
        chosen.append(int(distance.argmax()))
    return among[chosen]


def _everywhere(space: Space, inputs: int, budget: int, seed: int) -> Rows:
    """Every test as often as every other, give or take one, each time on another input."""
    each, rest = divmod(budget, space.size)
    extra = _shuffled(_all_tests(space), seed)[:rest]
    tests = np.sort(np.concatenate([np.repeat(_all_tests(space), each), extra]))
    _, starts, counts = np.unique(tests, return_index=True, return_counts=True)
    place = np.arange(len(tests)) - np.repeat(starts, counts)
    rows = _others(tests, place, inputs, seed)
    order = _order(len(tests), seed)
    return Rows(tests[order], rows[order], np.full(len(tests), 1 / space.size))


def _others(tests: IntArray, place: IntArray, inputs: int, seed: int) -> IntArray:
    """The input of each row: a random one of the data, another one for every place within a test."""
    found = np.empty(len(tests), dtype=np.int64)
    for first in range(0, len(tests), 2000):
        block = slice(first, first + 2000)
        distinct, which = np.unique(tests[block], return_inverse=True)
        ranks = np.argsort(Draws.of(seed, "spread/inputs", distinct, 0).words(inputs), axis=1, kind="stable")
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
        items = np.concatenate([items, Draws.of(seed, "spread/items/0", places, 0).below(inputs)[:, 0]])
        _, first = np.unique(np.column_stack([tests, items]), axis=0, return_index=True)
        kept = np.sort(first)[:budget]
        if len(kept) == budget:
            return Rows(tests[kept], items[kept], draw_chance(space, tests[kept]))
    raise AssertionError("unreachable")


def _mixture(space: Space, places: IntArray, seed: int) -> IntArray:
    """The tests at some places of the sequence."""
    shape = np.array(space.shape)
    draws = Draws.of(seed, "spread/tests/0", places, 0)
    uniform = space.numbers((draws.uniforms(len(shape)) * shape).astype(np.int64))
    weights = _order_weights(len(shape))
    orders = np.searchsorted(np.cumsum(weights), draws.below(int(weights.sum()), lane=1)[:, 0], side="right")
    by_order = _of_order(space, orders, Draws.of(seed, "spread/orders/0", places, 0))
    return np.where(places % UNIFORM == 0, uniform, by_order)


def _order_weights(axes: int) -> IntArray:
    """How often each order is taken, from 0 on: 2 for the highest, one more for each below; 2 for order 0, one test."""
    return np.array([2, *range(axes + 1, 1, -1)], dtype=np.int64)


def _of_order(space: Space, orders: IntArray, draws: Draws) -> IntArray:
    """One random test for each wanted order: random perturbations, each at a random level above 0."""
    axes = len(space.axes)
    chosen = draws.words(axes).argsort(axis=1).argsort(axis=1) < orders[:, None]
    levels = 1 + (draws.uniforms(axes, lane=1) * np.array([axis.levels for axis in space.axes])).astype(np.int64)
    return space.numbers(np.where(chosen, levels, 0))


def draw_chance(space: Space, tests: IntArray) -> FloatArray:
    """Probability of each test in one draw of ``spread`` in a space that is too large to touch every test."""
    severities = space.severities(tests)
    axes = len(space.axes)
    ways = np.array([math.comb(axes, order) for order in range(axes + 1)], dtype=np.float64)
    levels = np.where(severities > 0, np.array([axis.levels for axis in space.axes], dtype=np.float64), 1.0)
    share = _order_weights(axes) / _order_weights(axes).sum() / ways
    by_order = share[np.count_nonzero(severities, axis=1)] / levels.prod(axis=1)
    return np.asarray((1 / space.size + (UNIFORM - 1) * by_order) / UNIFORM)


def _same_inputs(tests: IntArray, inputs: int, budget: int | None, seed: int) -> Rows:
    """The same random inputs for every test: as many as the budget allows."""
    each = min(inputs, _budget(budget, len(tests) * inputs) // len(tests))
    if not each:
        raise BudgetError(
            f"{budget:,} inferences for {len(tests):,} tests",
            rule="one input per test or more",
            hint=f"--inferences {len(tests) * min(inputs, 100)}, or --plan spread",
        )
    chosen = np.sort(_shuffled(np.arange(inputs), seed)[:each])
    return Rows(np.repeat(tests, each), np.tile(chosen, len(tests)), np.full(len(tests) * each, np.nan))


def _whole_tests(tests: IntArray, inputs: int, budget: int | None) -> Rows:
    count = _budget(budget, len(tests) * inputs) // inputs
    if not count:
        raise BudgetError(f"{budget:,} inferences", rule=f"a whole test takes {inputs:,}", hint="--plan spread")
    return Rows(np.repeat(tests[:count], inputs), np.tile(np.arange(inputs), count), np.full(count * inputs, np.nan))


def _budget(budget: int | None, most: int, *, default: int | None = None) -> int:
    if budget is None:
        return min(default or most, most)
    if budget < 1:
        raise BudgetError(f"{budget} inferences", rule="1 or more")
    return min(budget, most)


def _all_tests(space: Space) -> IntArray:
    if space.size > LISTED:
        raise SpaceError(f"{space.size:.2g} tests", rule=f"at most {LISTED:,} can be listed", hint="--plan spread")
    return np.arange(space.size, dtype=np.int64)


def _shuffled(values: IntArray, seed: int) -> IntArray:
    return values[_order(len(values), seed)]


def _order(count: int, seed: int) -> IntArray:
    """A random order; made of raw words, which numpy promises to keep."""
    return np.argsort(stream(seed, "plan", "order").bit_generator.random_raw(count), kind="stable").astype(np.int64)
