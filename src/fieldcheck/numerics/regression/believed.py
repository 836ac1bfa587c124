"""What a risk model says about a population, stretch by stretch: what waves are drawn by, and looked back at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, TypeVar

import numpy as np

from fieldcheck.numerics.exact import ExactSum, Range
from fieldcheck.numerics.regression.population import Population
from fieldcheck.numerics.regression.risk import Belief, RiskRule
from fieldcheck.numerics.sampling.inclusion import ArrayStretch, Inclusion, ItemStretch, SizeSums, size_sums
from fieldcheck.numerics.types import BoolArray, FloatArray, IntArray

C = TypeVar("C")
R = TypeVar("R")


_STEPS = 1e9
"""Places in the order for a difference of 1 of the log odds, which are rounded to as many digits."""


@dataclass(frozen=True, eq=False)
class SettledWave:
    """A wave that was drawn.

    share
        Of its items that have a label; in its random order they are a smaller wave.
    """

    belief: Belief
    chances: Inclusion
    share: float = 1.0

    @classmethod
    def stored(
        cls, belief: Belief, objective: str, floor: float, scales: FloatArray, share: float = 1.0
    ) -> SettledWave:
        """From what is kept of its chances: the floor, and level, factor and cut."""
        level, factor, cut = scales.tolist()
        return cls(belief, Inclusion(objective, floor, level, factor, cut), share)

    @property
    def key(self) -> str:
        """Tells it from others."""
        return f"{self.belief.key} {self.chances} {self.share}"

    def inclusion(self, rule: RiskRule, expected: FloatArray) -> FloatArray:
        """By what was expected: the chance to be drawn, and labelled."""
        return self.chances.of(expected, rule.spread(expected)) * self.share

    def chance(self, rule: RiskRule, part: Population) -> FloatArray:
        """The same, one per item of a part."""
        return self.inclusion(rule, rule.expected(self.belief, part))


@dataclass(frozen=True, eq=False)
class BeforeWave:
    """What is believed before a wave: all that a step needs to know beside the items.

    drawn
        Positions of the items that cannot be drawn any more, in order.
    past
        Waves before.
    """

    rule: RiskRule
    belief: Belief
    drawn: IntArray
    past: tuple[SettledWave, ...] = ()


@dataclass(frozen=True, eq=False)
class Believed:
    """A population before a wave."""

    population: Population
    outlook: BeforeWave

    @property
    def size(self) -> int:
        return self.population.size

    def map(self, step: Callable[[Any, C], R], given: C) -> Iterator[R]:
        return self.population.map(_look, (self.outlook, step, given))

    def without(self, items: IntArray) -> Believed:
        """The same, of which some more cannot be drawn."""
        drawn = np.union1d(self.outlook.drawn, items)
        return Believed(self.population, replace(self.outlook, drawn=drawn))


def _look(part: Population, given: tuple[BeforeWave, Callable[[Any, C], R], C]) -> R:
    outlook, step, own = given
    return step(_Part(part, outlook), own)


@dataclass(frozen=True, eq=False)
class _Part:
    """A stretch of a population, looked at as far as a step asks."""

    items: Population
    outlook: BeforeWave

    @property
    def start(self) -> int:
        return self.items.start

    @cached_property
    def odds(self) -> FloatArray:
        rule, belief = self.outlook.rule, self.outlook.belief
        return self.items.kept("odds", f"{rule.key} {belief.key}", lambda: rule.odds(belief, self.items))

    @cached_property
    def expected(self) -> FloatArray:
        return self.outlook.rule.loss(self.odds)

    @cached_property
    def spread(self) -> FloatArray:
        return self.outlook.rule.spread(self.expected)

    @cached_property
    def order(self) -> IntArray:
        return np.rint(self.odds * _STEPS).astype(np.int64)

    @cached_property
    def left(self) -> BoolArray:
        return ~inside(self.outlook.drawn, self.items)

    @property
    def missed(self) -> FloatArray:
        return missed(self.outlook.past, self.outlook.rule, self.items)

    def part(self, which: IntArray) -> ItemStretch:
        expected = self.outlook.rule.loss(self.odds[which])
        return ArrayStretch.of(expected, self.outlook.rule.spread(expected), ~self.left[which])


def missed(
    waves: tuple[SettledWave, ...], rule: RiskRule, part: Population, known: Mapping[int, FloatArray] | None = None
) -> FloatArray:
    """One per item of a part: the chance that none of the waves drew it. Of all but the last it stays the same.

    known
        By number of a wave, the losses expected then, where they were worked out.
    """

    def by(number: int) -> FloatArray:
        wave, found = waves[number], (known or {}).get(number)
        return 1 - wave.inclusion(rule, rule.expected(wave.belief, part) if found is None else found)

    if not waves:
        return np.ones(part.size)
    *others, last = range(len(waves))
    if not others:
        return by(last)
    key = " ".join([rule.key, *(waves[number].key for number in others)])
    return part.kept("missed", key, lambda: reduce(np.multiply, map(by, others))) * by(last)


def inside(positions: IntArray, part: Population) -> BoolArray:
    """One per item of a part: whether it is among some positions, which are in order."""
    found = np.zeros(part.size, dtype=bool)
    first, last = np.searchsorted(positions, [part.start, part.start + part.size])
    found[positions[first:last] - part.start] = True
    return found


@dataclass(frozen=True)
class First:
    """What a first look at all items says.

    total
        Sum of the expected losses.
    sums
        Of the sizes of those that may be drawn.
    along
        Smallest and largest place in the order.
    """

    total: ExactSum
    sums: SizeSums
    along: Range

    def __add__(self, other: First) -> First:
        return First(self.total + other.total, self.sums + other.sums, self.along + other.along)


def first_look(stretch: ItemStretch, objective: str) -> First:
    """A step."""
    sums, _ = size_sums(stretch, Inclusion(objective, 0.0))
    return First(ExactSum.of(stretch.expected), sums, Range.of(stretch.order))
