"""The tests of a region: all of them, or a seeded sample where they are too many to list.

What a query says about single axes and about the order bounds the region by a box. A box that is small is listed; of
a large one tests are drawn, order by order, since the order is what robustness and most queries depend on.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fieldcheck.core.rng import stream
from fieldcheck.core.space import Space
from fieldcheck.core.types import BoolArray, FloatArray, IntArray

LISTED = 20_000_000
"""Tests that are listed; each takes some bytes."""


ROUND, LEAST = 60_000, 4_000
"""Tests that are drawn at once, and of each order at least."""


FEW = 50_000
"""An order with so many tests is listed."""


ENOUGH, ROUNDS = 20_000, 40
"""Draws end with so many tests of the region, or after so many rounds."""


@dataclass(frozen=True, eq=False)
class Selection:
    """Tests of a region.

    tests
        Their numbers, in ascending order.
    stands
        For how many tests of the region each stands: 1 where all are there.
    strata
        The order that each was drawn from; empty where all are there.
    sizes, draws
        By order: tests of the box, and how many of them were drawn, also outside of the region; 0: all were looked at.
    """

    tests: IntArray
    stands: FloatArray
    strata: IntArray
    sizes: IntArray
    draws: IntArray

    @classmethod
    def whole(cls, tests: IntArray) -> Selection:
        """All tests of a region."""
        none = np.zeros(0, dtype=np.int64)
        return cls(tests, np.ones(len(tests)), none, none, none)

    @property
    def sampled(self) -> bool:
        """Whether there are more tests in the region than these."""
        return bool(self.draws.any())

    @property
    def total(self) -> int:
        """Tests of the region; estimated where they were drawn."""
        return round(math.fsum(self.stands.tolist())) if self.sampled else len(self.tests)

    def only(self, kept: BoolArray) -> Selection:
        """Those of a part of the region."""
        strata = self.strata[kept] if len(self.strata) else self.strata
        return replace(self, tests=self.tests[kept], stands=self.stands[kept], strata=strata)

    def error(self, values: FloatArray, weights: FloatArray) -> float:
        """Standard error of the weighted mean of some values, by which tests were drawn: that of a ratio, by order.

        weights
            One per test; they sum to 1 and include what each stands for.
        """
        if not self.sampled:
            return 0.0
        parts, variance = weights * (values - float(weights @ values)), 0.0
        for order in np.flatnonzero(self.draws).tolist():
            own, count = parts[self.strata == order], int(self.draws[order])
            # Draws outside of the region are zeros; a part is already multiplied with what a draw stands for.
            variance += max(float((own**2).sum() - own.sum() ** 2 / count), 0.0) * count / max(count - 1, 1)
        return math.sqrt(variance)


@dataclass(frozen=True, eq=False)
class Box:
    """All tests with some levels of each axis and some orders: it holds a region, and may hold more.

    levels
        By axis, the levels that are there, in ascending order.
    orders
        One per number of perturbations at work: True where there may be tests with so many.
    """

    space: Space
    levels: Sequence[IntArray]
    orders: BoolArray

    @classmethod
    def of(cls, space: Space, allowed: Mapping[str, BoolArray]) -> Box:
        """What is allowed by name; what is not named may be anything."""
        levels = [
            np.flatnonzero(allowed.get(name, np.ones(size, dtype=bool))).astype(np.int64)
            for name, size in zip(space.names, space.shape, strict=True)
        ]
        return cls(space, levels, allowed.get("order", np.ones(len(space.axes) + 1, dtype=bool)))

    @property
    def size(self) -> int:
        return math.prod(map(len, self.levels))

    @property
    def small(self) -> bool:
        """Whether its tests can be listed."""
        return self.size <= LISTED

    def listed(self) -> IntArray:
        """All its tests, of any order, in ascending order."""
        found = np.zeros((1,) * len(self.levels), dtype=np.int64)
        for at, own in enumerate(self.levels):
            shape = [1] * len(self.levels)
            shape[at] = len(own)
            found = found * self.space.shape[at] + own.reshape(shape)
        return found.reshape(-1)

    @cached_property
    def _ways(self) -> list[list[int]]:
        """By axis and order, the tests of the axes from there on with so many of them at work."""
        ways = [[1] + [0] * len(self.levels)]
        for own in reversed(self.levels):
            off, on = int(own[0] == 0) if len(own) else 0, int(np.count_nonzero(own))
            later = ways[0]
            ways.insert(0, [off * later[at] + (on * later[at - 1] if at else 0) for at in range(len(later))])
        return ways

    @property
    def sizes(self) -> list[int]:
        """Its tests by order."""
        return [count if there else 0 for count, there in zip(self._ways[0], self.orders.tolist(), strict=True)]

    def drawn(self, order: int, count: int, rng: np.random.Generator) -> IntArray:
        """So many tests of one order, each as likely as the others."""
        left, found = np.full(count, order), np.zeros(count, dtype=np.int64)
        for at, own in enumerate(self.levels):
            on, now, later = own[own > 0], self._ways[at], self._ways[at + 1]
            chance = np.array([len(on) * later[r - 1] / now[r] if r and now[r] else 0.0 for r in range(len(now))])
            works = rng.random(count) < chance[left]
            level = on[np.minimum((rng.random(count) * len(on)).astype(np.int64), len(on) - 1)] if len(on) else 0
            found = found * self.space.shape[at] + np.where(works, level, 0)
            left = left - works
        return found

    def of_order(self, order: int) -> IntArray:
        """All tests of one order."""
        found = []
        for axes in itertools.combinations(range(len(self.levels)), order):
            if all(own[0] == 0 for at, own in enumerate(self.levels) if at not in axes):
                rows = list(itertools.product(*(self.levels[at][self.levels[at] > 0].tolist() for at in axes)))
                severities = np.zeros((len(rows), len(self.levels)), dtype=np.int64)
                severities[:, list(axes)] = np.array(rows, dtype=np.int64).reshape(len(rows), len(axes))
                found.append(self.space.numbers(severities))
        return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)

    def sampled(self, fits: Callable[[IntArray], BoolArray], *, seed: int) -> Selection:
        """A sample of those of its tests that fit, order by order."""
        sizes = np.array(self.sizes, dtype=np.float64)
        large = sizes > FEW
        share = np.where(large, sizes, 0.0) / max(float(sizes[large].sum()), 1.0)
        each = np.where(large, np.maximum(LEAST, np.round(ROUND * share)), 0).astype(np.int64)
        kept = [
            (order, self._fitting(fits, self.of_order(order)))
            for order in np.flatnonzero(~large & (sizes > 0)).tolist()
        ]
        rounds = 0
        for found in self._rounds(each, seed):
            kept += [(order, self._fitting(fits, own)) for order, own in found]
            rounds += 1
            if sum(len(own) for _, own in kept) >= ENOUGH:
                break
        tests = np.concatenate([np.zeros(0, dtype=np.int64), *(own for _, own in kept)])
        strata = np.repeat([order for order, _ in kept], [len(own) for _, own in kept]).astype(np.int64)
        draws, place = each * rounds, np.argsort(tests, kind="stable")
        stands = np.where(large, sizes / np.maximum(draws, 1), 1.0)[strata]
        return Selection(tests[place], stands[place], strata[place], sizes.astype(np.int64), draws)

    def _rounds(self, each: IntArray, seed: int) -> Iterator[list[tuple[int, IntArray]]]:
        for number in range(ROUNDS if each.any() else 0):
            rng = stream(seed, "query", number)
            yield [(order, self.drawn(order, int(each[order]), rng)) for order in np.flatnonzero(each).tolist()]

    @staticmethod
    def _fitting(fits: Callable[[IntArray], BoolArray], tests: IntArray) -> IntArray:
        return tests[fits(tests)]
