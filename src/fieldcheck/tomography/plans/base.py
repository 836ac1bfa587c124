"""Which tests to run on which inputs: a pure function of the space, the number of inputs, the budget and a seed."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from fieldcheck.core.errors import BudgetError, SpaceError
from fieldcheck.core.rng import ItemStreams, stream
from fieldcheck.core.space import Space
from fieldcheck.core.types import FloatArray, IntArray

PAPER = "Arif et al., TestifAI, ICSE 2026"


Adds = Literal["rows", "tests", "inputs"]


LISTED = 20_000_000
"""Tests that a plan can list one by one."""


CANDIDATES = 4000
"""Tests among which a space-filling subset is looked for."""


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
    """A way to spend inferences.

    adds
        What more inferences buy: single ``rows`` anywhere in the space, whole ``tests`` on all inputs, or ``inputs``,
        one more in every test. Rows are drawn: each has an input, and an order of perturbations, of its own, and a
        run goes on until the bands of the surrogate are narrow. The others run test by test, in every order.
    usual
        Inferences where neither a number nor a rule is given; None: all that the plan can use.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    adds: ClassVar[Adds]
    usual: ClassVar[int | None]

    def rows(self, space: Space, inputs: int, *, budget: int | None, seed: int) -> Rows:
        """Rows for so many inputs of the data and so many inferences; no budget is as many as the plan can use."""
        ...


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
    among = np.unique(of_order(space, orders, ItemStreams.of(seed, "filling", np.arange(len(orders)), 0)))
    places = space.severities(among) / np.array([axis.levels for axis in space.axes])
    chosen = [0]
    distance = np.full(len(among), np.inf)
    while len(chosen) < min(count, len(among)):
        distance = np.minimum(distance, ((places - places[chosen[-1]]) ** 2).sum(axis=1))
        chosen.append(int(distance.argmax()))
    return among[chosen]


def of_order(space: Space, orders: IntArray, draws: ItemStreams) -> IntArray:
    """One random test for each wanted order: random perturbations, each at a random level above 0."""
    axes = len(space.axes)
    chosen = draws.words(axes).argsort(axis=1).argsort(axis=1) < orders[:, None]
    levels = 1 + (draws.uniforms(axes, lane=1) * np.array([axis.levels for axis in space.axes])).astype(np.int64)
    return space.numbers(np.where(chosen, levels, 0))


def same_inputs(tests: IntArray, inputs: int, budget: int | None, seed: int) -> Rows:
    """The same random inputs for every test: as many as the budget allows."""
    each = min(inputs, spendable(budget, len(tests) * inputs) // len(tests))
    if not each:
        raise BudgetError(
            f"{budget:,} inferences for {len(tests):,} tests",
            rule="one input per test or more",
            hint=f"--inferences {len(tests) * min(inputs, 100)}, or --plan spread",
        )
    chosen = np.sort(shuffled(np.arange(inputs), seed)[:each])
    return Rows(np.repeat(tests, each), np.tile(chosen, len(tests)), np.full(len(tests) * each, np.nan))


def whole_tests(tests: IntArray, inputs: int, budget: int | None) -> Rows:
    count = spendable(budget, len(tests) * inputs) // inputs
    if not count:
        raise BudgetError(f"{budget:,} inferences", rule=f"a whole test takes {inputs:,}", hint="--plan spread")
    return Rows(np.repeat(tests[:count], inputs), np.tile(np.arange(inputs), count), np.full(count * inputs, np.nan))


def spendable(budget: int | None, most: int, *, default: int | None = None) -> int:
    if budget is None:
        return min(default or most, most)
    if budget < 1:
        raise BudgetError(f"{budget} inferences", rule="1 or more")
    return min(budget, most)


def all_tests(space: Space) -> IntArray:
    if space.size > LISTED:
        raise SpaceError(f"{space.size:.2g} tests", rule=f"at most {LISTED:,} can be listed", hint="--plan spread")
    return np.arange(space.size, dtype=np.int64)


def shuffled(values: IntArray, seed: int) -> IntArray:
    return values[random_order(len(values), seed)]


def random_order(count: int, seed: int) -> IntArray:
    """A random order; made of raw words, which numpy promises to keep."""
    return np.argsort(stream(seed, "plan", "order").bit_generator.random_raw(count), kind="stable").astype(np.int64)
