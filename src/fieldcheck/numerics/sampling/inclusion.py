"""Inclusion probabilities of one wave: how likely each item is to be drawn, given what is believed about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from fieldcheck.numerics.exact import ExactSum, Mapped, Range, Top, blocks, scan
from fieldcheck.numerics.types import BoolArray, FloatArray, IntArray

Objective = Literal["estimate", "balanced", "expose", "protected"]


_LEAST = 1e-4
"""Expected losses below this count as this: nothing is believed to be that safe."""


NEVER = 1e300
"""Stands for infinity where a number is kept in a file."""


C = TypeVar("C")
R = TypeVar("R")


class ItemStretch(Protocol):
    """Some items in a row, and what is believed about each before a wave.

    start
        Position of the first of them.
    expected, spread
        Mean (above 0) and variance of each item's loss.
    order
        What a wave is spread along, in whole numbers.
    left
        True where no earlier wave drew the item.
    missed
        The chance that none did.
    """

    @property
    def start(self) -> int: ...

    @property
    def expected(self) -> FloatArray: ...

    @property
    def spread(self) -> FloatArray: ...

    @property
    def order(self) -> IntArray: ...

    @property
    def left(self) -> BoolArray: ...

    @property
    def missed(self) -> FloatArray: ...

    def part(self, which: IntArray) -> ItemStretch: ...


@dataclass(frozen=True, eq=False)
class ArrayStretch:
    """Items in memory; ``map`` takes some of them after the other."""

    expected: FloatArray
    spread: FloatArray
    left: BoolArray
    order: IntArray
    missed: FloatArray
    start: int = 0

    def map(self, step: Callable[[Any, C], R], given: C) -> Iterator[R]:
        return (step(self._some(slice(*both), both[0]), given) for both in blocks(len(self.expected)))

    def part(self, which: IntArray) -> ArrayStretch:
        return self._some(which)

    @property
    def size(self) -> int:
        return len(self.expected)

    def without(self, items: IntArray) -> ArrayStretch:
        """The same, of which some more cannot be drawn."""
        left = self.left.copy()
        left[items] = False
        return replace(self, left=left)

    def _some(self, which: slice | IntArray, start: int = 0) -> ArrayStretch:
        believed = self.expected[which], self.spread[which]
        return ArrayStretch(*believed, self.left[which], self.order[which], self.missed[which], start)

    @classmethod
    def of(
        cls, expected: FloatArray, spread: FloatArray, drawn: BoolArray, *, order: IntArray | None = None
    ) -> ArrayStretch:
        """Before a wave, of items of which some were drawn."""
        none = np.broadcast_to(np.int64(0), len(expected)) if order is None else order
        return cls(expected, spread, ~drawn, none, np.broadcast_to(np.float64(1), len(expected)))


@dataclass(frozen=True)
class Inclusion:
    """How what is believed about an item becomes its chance in one wave.

    floor
        Share of the size that is the same for all, in [0, 1].
    level
        Mean size of the items that may be drawn.
    factor
        From sizes to chances.
    cut
        ``expose`` only: from this expected loss on, items are drawn for sure.
    """

    objective: str
    floor: float
    level: float = 1.0
    factor: float = 1.0
    cut: float = NEVER

    def size(self, expected: FloatArray, spread: FloatArray) -> FloatArray:
        """What the chance is proportional to, but for the floor: the spread of the loss, or for failures the loss."""
        if self.objective == "expose" and self.cut < NEVER:
            return np.sqrt(spread / np.maximum(1 - expected / self.cut, 0.02))
        if self.objective in ("estimate", "protected"):
            return np.sqrt(spread)
        return np.maximum(expected, _LEAST)

    def mixed(self, size: Any) -> Any:
        """With the floor; 1 on average."""
        return (1 - self.floor) * size / self.level + self.floor if self.level > 0 else np.ones_like(size)

    def of(self, expected: FloatArray, spread: FloatArray) -> FloatArray:
        """The chance of each item."""
        chance = np.minimum(self.mixed(self.size(expected, spread)) * self.factor, 1.0)
        if self.cut < NEVER:
            chance[expected >= self.cut] = 1.0
        return np.asarray(chance)

    def __call__(self, stretch: ItemStretch) -> FloatArray:
        return self.of(stretch.expected, stretch.spread)

    def sizes(self, stretch: ItemStretch) -> FloatArray:
        """Of the items that are left to chance."""
        rest = stretch.left if self.cut >= NEVER else stretch.left & (stretch.expected < self.cut)
        return np.asarray(self.mixed(self.size(some(stretch.expected, rest), some(stretch.spread, rest))))


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
    items = ArrayStretch.of(expected, spread, drawn)
    return settled(items, count, objective=objective, floor=floor, certain=certain).of(expected, spread)


def some(values: npt.NDArray[Any], which: BoolArray) -> npt.NDArray[Any]:
    """Those of some items; where it is all of them, which is most often so, nothing is copied."""
    return values if which.all() else values[which]


@dataclass(frozen=True)
class SizeSums:
    """Of the items that are left: how many, sum and range of their sizes."""

    count: int
    total: ExactSum
    sizes: Range

    @classmethod
    def of(cls, sizes: FloatArray) -> SizeSums:
        return cls(len(sizes), ExactSum.of(sizes), Range.of(sizes))

    def __add__(self, other: SizeSums) -> SizeSums:
        return SizeSums(self.count + other.count, self.total + other.total, self.sizes + other.sizes)


def size_sums(stretch: ItemStretch, chances: Inclusion) -> tuple[SizeSums, int]:
    """A step: of those left to chance, and how many are sure."""
    size = chances.size(stretch.expected, stretch.spread)
    if chances.cut >= NEVER:
        return SizeSums.of(some(size, stretch.left)), 0
    sure = stretch.expected >= chances.cut
    return SizeSums.of(size[stretch.left & ~sure]), int(np.count_nonzero(stretch.left & sure))


def settled(
    items: Mapped, count: float, *, objective: str, floor: float, certain: float, sums: SizeSums | None = None
) -> Inclusion:
    """The chances of a wave of ``count``; ``wave_inclusion`` has the words.

    sums
        Of the sizes, where they are known.
    """
    chances = Inclusion(objective, floor)
    if objective == "expose":
        # One label is always left to chance, or the other items could not be drawn at all.
        cut = _cut(items, min(round(certain * count), math.ceil(count) - 1))
        chances, sums = Inclusion(objective, floor, cut=cut), None
    sure = 0
    if sums is None:
        sums, sure = scan(items, size_sums, chances)
    level = float(sums.total) / sums.count if sums.count else 0.0
    made = Inclusion(objective, floor, level, cut=chances.cut)
    top = float(made.mixed(np.float64(sums.sizes.high))) if sums.count else 0.0
    # The sizes with the floor are 1 on average.
    (factor,) = factors(items, (made,), sums.count, count - sure, total=sums.count, tops=(top,))
    return Inclusion(objective, floor, level, factor, chances.cut)


class Sized(Protocol):
    """Something that has sizes to draw in proportion to."""

    def sizes(self, stretch: ItemStretch) -> FloatArray:
        """Of the items that are left to chance."""
        ...


def factors(
    items: Mapped, sized: tuple[Sized, ...], left: int, count: float, *, total: float, tops: tuple[float, ...]
) -> tuple[float, ...]:
    """For each, the factor at which ``min(size × factor, 1)`` adds up to ``count``.

    left, total
        How many items are left to chance, and the sum of their sizes.
    tops
        The largest size of each.
    """
    if count >= left:
        return (NEVER,) * len(sized)
    if count <= 0:
        return (0.0,) * len(sized)
    found = [count / total] * len(sized)
    growing = [at for at, top in enumerate(tops) if top * found[at] >= 1.0]
    for _ in range(100):
        if not growing:
            break
        below = scan(items, _uncapped, tuple((sized[at], found[at]) for at in growing))
        better = {at: (count - capped) / float(rest) for at, (capped, rest) in zip(growing, below, strict=True)}
        growing = [at for at in growing if better[at] > found[at] * (1 + 1e-15)]
        for at in growing:
            found[at] = better[at]
    return tuple(found)


def _uncapped(stretch: ItemStretch, asked: tuple[tuple[Sized, float], ...]) -> tuple[tuple[int, ExactSum], ...]:
    """For each: how many sizes are capped, and the sum of the others."""
    found = []
    for sized, factor in asked:
        sizes = sized.sizes(stretch)
        full = sizes * factor >= 1.0
        found.append((int(np.count_nonzero(full)), ExactSum.of(sizes[~full])))
    return tuple(found)


def _cut(items: Mapped, count: int) -> float:
    """The smallest expected loss among the ``count`` largest, of more; ties at the cut are left to chance."""
    if count <= 0:
        return NEVER
    largest = -scan(items, _largest, count + 1).columns[0]
    lower, upper = (float(largest[count]) if len(largest) > count else -np.inf), float(largest[count - 1])
    return upper if upper > lower else float(np.nextafter(upper, np.inf))


def _largest(stretch: ItemStretch, count: int) -> Top:
    return Top.of((-stretch.expected[stretch.left],), count)
