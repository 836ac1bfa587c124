"""Results that come out the same to the last bit however the items are split, and in whatever order they come.

A step looks at some items of a population and gives a small result; ``scan`` adds the results of all steps. What is
added here is exact, so one part, many parts, and parts on many machines say the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from fieldcheck.numerics.types import FloatArray, IntArray

BLOCK = 1 << 15
"""Items looked at in one go: what is worked out about them stays in the cache of a processor."""


_FINEST = 1022
"""Numbers count in multiples of 2**-_FINEST, which is finer than any that is not a leftover of rounding."""


C = TypeVar("C")
R = TypeVar("R")


class Mapped(Protocol):
    """Items in parts that steps are mapped over."""

    def map(self, step: Callable[[Any, C], R], given: C) -> Iterator[R]: ...


def scan(items: Mapped, step: Callable[[Any, C], R], given: C) -> R:
    """The results of all parts, added up; those of tuples one by one."""
    return merged(items.map(step, given))


def merged(results: Iterable[R]) -> R:
    """Some results of a step, added up."""
    every = iter(results)
    total = next(every)
    for one in every:
        total = _both(total, one)
    return total


def _both(first: Any, second: Any) -> Any:
    if isinstance(first, np.ndarray) and first.flags.writeable:  # not where an engine shares what it sends
        first += second  # a result is its step's own: large counts are not copied
        return first
    return tuple(map(_both, first, second)) if isinstance(first, tuple) else first + second


@dataclass(frozen=True)
class ExactSum:
    """A sum of floats without any rounding; as a float it is rounded once, as by ``math.fsum``.

    units
        In multiples of 2**-_FINEST.
    beyond
        Sum of what is infinite or no number.
    """

    units: int = 0
    beyond: float = 0.0

    @classmethod
    def of(cls, values: FloatArray) -> ExactSum:
        """Of these numbers: cut into pieces so short that a float counts their sum exactly."""
        rest = np.asarray(values, dtype=np.float64).ravel()
        low, top = _ends(rest)
        if not math.isfinite(top):
            fine = np.isfinite(rest)
            return cls(cls.of(rest[fine]).units, float(rest[~fine].sum()))
        return cls(sum(_units(piece, shift) for piece, shift in _pieces(rest, low, top)))

    def __add__(self, other: ExactSum) -> ExactSum:
        return ExactSum(self.units + other.units, self.beyond + other.beyond)

    @property
    def exact(self) -> Fraction:
        """What is finite of it."""
        return Fraction(self.units, 1 << _FINEST)

    def __float__(self) -> float:
        return self.units / (1 << _FINEST) + self.beyond


def _pieces(values: FloatArray, low: float, top: float) -> Iterator[tuple[FloatArray, int]]:
    """Finite numbers as sums of pieces, to be used one by one: multiples of ``2**-shift``, with the shift.

    They are so short that a float counts the sum of a piece of all numbers, or of some of them, exactly.

    low, top
        ``_ends`` of the numbers.
    """
    rest, space = values, 53 - len(values).bit_length()
    room, last = min(space, 50), 53 - math.frexp(low)[1] if low > 0 else math.inf
    while top:
        shift = min(room - math.frexp(top)[1], _FINEST)
        leading = _leading(rest, shift)
        yield leading, shift
        if shift == _FINEST:
            return
        rest = np.subtract(rest, leading, out=leading)
        if last <= min(shift + 1 + space, _FINEST):  # what is left of each has no finer bit than this
            yield rest, int(last)
            return
        _, top = _ends(rest)


def _leading(values: FloatArray, shift: int) -> FloatArray:
    """Each as the nearest multiple of ``2**-shift``: added to a number that large, a float has no room for more."""
    if shift < -900:
        return np.asarray(np.rint(values * 2.0**shift) * 2.0**-shift)
    large = 1.5 * 2.0 ** (52 - shift)
    found = values + large
    found -= large
    return found


def _units(values: FloatArray, shift: int) -> int:
    """The sum of multiples of ``2**-shift`` that a float counts."""
    return int(math.ldexp(values.sum(), shift)) << (_FINEST - shift)


def _ends(values: FloatArray) -> tuple[float, float]:
    """The smallest, and the largest in size; of none 0."""
    low = float(values.min()) if len(values) else 0.0
    return low, max(float(values.max()), -low) if len(values) else 0.0


def summed(*columns: FloatArray) -> tuple[ExactSum, ...]:
    """The sum of each."""
    return tuple(map(ExactSum.of, columns))


@dataclass(frozen=True, eq=False)
class GroupedSum:
    """Sums of floats by group without any rounding: an ``ExactSum`` for each.

    units, beyond
        One per group, as there; units are whole numbers of any length.
    """

    units: npt.NDArray[np.object_]
    beyond: FloatArray

    @classmethod
    def of(cls, values: FloatArray, group: IntArray, count: int) -> GroupedSum:
        """Of these numbers, each in one of so many groups."""
        low, top = _ends(values)
        if not math.isfinite(top):
            fine = np.isfinite(values)
            beyond = np.bincount(group[~fine], values[~fine], count)
            return cls(cls.of(values[fine], group[fine], count).units, beyond.astype(np.float64))
        units = np.zeros(count, dtype=object)
        for piece, shift in _pieces(values, low, top):
            counted = np.ldexp(np.bincount(group, piece, count), shift).astype(np.int64)
            units += counted.astype(object) << (_FINEST - shift)
        return cls(units, np.zeros(count))

    def __add__(self, other: GroupedSum) -> GroupedSum:
        return GroupedSum(self.units + other.units, self.beyond + other.beyond)

    @property
    def rounded(self) -> FloatArray:
        """As floats, each rounded once."""
        return np.array([one / (1 << _FINEST) for one in self.units.tolist()], dtype=np.float64) + self.beyond


def grouped(group: IntArray, count: int, *columns: FloatArray) -> tuple[GroupedSum, ...]:
    """The sums of each column by group."""
    return tuple(GroupedSum.of(column, group, count) for column in columns)


@dataclass(frozen=True)
class Range:
    """The smallest and the largest of some numbers; of none, infinite the other way round."""

    low: float = math.inf
    high: float = -math.inf

    @classmethod
    def of(cls, values: npt.NDArray[Any]) -> Range:
        return cls(values.min().item(), values.max().item()) if len(values) else cls()

    def __add__(self, other: Range) -> Range:
        return Range(min(self.low, other.low), max(self.high, other.high))


@dataclass(frozen=True, eq=False)
class GatheredRows:
    """Some values of some items, put together in the order of the parts.

    columns
        All of the same length.
    """

    columns: tuple[npt.NDArray[Any], ...]

    def __add__(self, other: GatheredRows) -> GatheredRows:
        return GatheredRows(tuple(np.concatenate(both) for both in zip(self.columns, other.columns, strict=True)))


@dataclass(frozen=True, eq=False)
class Top:
    """The first rows in an order, of all that were seen.

    columns
        One value per row each. Rows stand in the order of the first one, ties in that of the next.
    count
        How many are kept at most.
    """

    columns: tuple[npt.NDArray[Any], ...]
    count: int

    @classmethod
    def of(cls, columns: tuple[npt.NDArray[Any], ...], count: int) -> Self:
        """Of these rows; most of many go by a partition, not by a sort."""
        if len(columns[0]) > 4 * count:
            near = _first_rows(columns, count)
            columns = tuple(one[near] for one in columns)
        order = np.lexsort(columns[::-1])[:count]
        return cls(tuple(one[order] for one in columns), count)

    def __add__(self, other: Top) -> Top:
        both = zip(self.columns, other.columns, strict=True)
        return Top.of(tuple(np.concatenate(one) for one in both), self.count)


def _first_rows(columns: tuple[npt.NDArray[Any], ...], count: int) -> IntArray:
    """Rows among which the first ones are, in no order; where many share a value, those that the next one decides."""
    first = columns[0]
    last = np.partition(first, count - 1)[count - 1]
    below, level = np.flatnonzero(first < last), np.flatnonzero(first == last)
    if len(columns) > 1 and len(level) > 4 * count:
        level = level[_first_rows(tuple(one[level] for one in columns[1:]), count - len(below))]
    return np.concatenate([below, level])


def blocks(size: int, start: int = 0) -> Iterator[tuple[int, int]]:
    """First and last+1 of the items to look at in one go."""
    return ((at, min(at + BLOCK, size)) for at in range(start, size, BLOCK))
