"""Ordered pivotal sampling: a fixed number of items with given inclusion probabilities, spread along an order.

Neighbours in the order fight for their place, so a sample has about as many items from each stretch of it as the
probabilities say. Systematic sampling does that too, but on a fixed order it knows only a handful of samples and has
no honest variance. Chauvet (On a characterization of ordered pivotal sampling, Bernoulli 2012) showed that the
pivotal method equals Deville's systematic sampling, in which one item is drawn from each unit of the running sum, and
an item that lies across the border of two units is drawn at most once: that takes one step per drawn item, not one
per item of the population.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.numerics.exact import GatheredRows, Mapped, Range, Top, scan
from fieldcheck.numerics.sampling.draws import uniforms
from fieldcheck.numerics.sampling.inclusion import ArrayStretch, ItemStretch, some
from fieldcheck.numerics.types import FloatArray, IntArray

Chance = Callable[[Any], FloatArray]
"""From a stretch to the chance of each item; it is sent to where the items are."""


_UNIT = 2**36
"""Probabilities become whole multiples of 1/_UNIT, so that their sums are exact on every machine."""


_COIN = 2**53
"""Uniform numbers are whole multiples of 1/_COIN."""


_BITS = 16
"""Of the number of bins that units are counted in along the order, at most."""


_FETCHED = 1 << 13
"""Bins with more items than this are counted in finer ones before their items are fetched."""


_SHARERS = 64
"""Items that take what rounding to whole units leaves."""


def ordered_pivotal(inclusion: FloatArray, rng: np.random.Generator) -> IntArray:
    """Positions of the drawn items, in order.

    inclusion
        Probability of each item, in the order to spread over; their sum is the (whole) number of items to draw.
    """
    size = len(inclusion)
    items = ArrayStretch.of(inclusion, inclusion, np.zeros(size, dtype=bool), order=np.arange(size))
    return np.sort(np.concatenate(pick(items, _expected, rng, along=Range(0, max(size - 1, 0)), size=size)))


def _expected(stretch: ItemStretch) -> FloatArray:
    return stretch.expected


def pick(
    items: Mapped, chance: Chance, rng: np.random.Generator, *, along: Range, size: int
) -> tuple[IntArray, IntArray]:
    """Items with these chances, of those that are left, spread along an order: those that are sure, and the others.

    along
        Smallest and largest place in the order.
    size
        Of the population.
    """
    bins = _Bins.over(int(along.low), int(along.high), min(_BITS, size.bit_length()))
    sure, sharers, counted = scan(items, _count_units, (chance, bins))
    total = int(counted[:, 0].sum())
    count = round(total / _UNIT)
    positions = np.sort(sure.columns[0]).astype(np.int64, copy=False)
    if not count:
        return positions, np.zeros(0, dtype=np.int64)
    line = _Line(items, chance, bins, counted, _shared(sharers, count * _UNIT - total), size)
    borders = np.arange(1, count, dtype=np.int64) * _UNIT
    # An item across the i-th border has the part `before` in the unit that ends there and the part `after` in the
    # next one.
    _, below, above = line.at(borders - 1)
    coins = (uniforms(rng, 2 * count) * _COIN).astype(np.int64).reshape(count, 2)
    places = _walk((borders - below).tolist(), (above - borders).tolist(), coins.tolist())
    targets = np.arange(count, dtype=np.int64) * _UNIT + np.array(places, dtype=np.int64)
    return positions, line.at(targets)[0]


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


@dataclass(frozen=True)
class _Bins:
    """Places in the order, ``2**shift`` of them a bin."""

    low: int
    shift: int
    count: int

    @classmethod
    def over(cls, low: int, high: int, bits: int) -> _Bins:
        """At most ``2**bits`` of them."""
        return cls(low, max((high - low).bit_length() - bits, 0), 1 << bits)

    def of(self, order: IntArray) -> IntArray:
        return (order - self.low) >> self.shift


def _whole(chance: FloatArray) -> IntArray:
    return np.rint(chance * _UNIT).astype(np.int64)


def _counts(at: IntArray, units: IntArray, size: int) -> IntArray:
    """By bin: units, and items. A float counts the units of a stretch exactly."""
    found = np.empty((size, 2), dtype=np.int64)
    found[:, 0] = np.bincount(at, weights=units, minlength=size)
    found[:, 1] = np.bincount(at, minlength=size)
    return found


def _count_units(stretch: ItemStretch, given: tuple[Chance, _Bins]) -> tuple[GatheredRows, Top, IntArray]:
    """A step: who is sure; who matters least for rounding; units by bin."""
    chance, bins = given
    found = chance(stretch)
    full = found >= 1.0
    sure, rest = np.flatnonzero(stretch.left & full), stretch.left & ~full
    at, order = some(found, rest), some(stretch.order, rest)
    position = stretch.start + some(np.arange(len(found)), rest)
    sharers = Top.of((-np.minimum(at, 1.0 - at), order, position), _SHARERS)
    return GatheredRows((stretch.start + sure,)), sharers, _counts(bins.of(order), _whole(at), bins.count)


def _shared(sharers: Top, rest: int) -> GatheredRows:
    """Order, position and further units of those that take what rounding leaves: where it matters least."""
    _, order, position = sharers.columns
    share, extra = divmod(rest, len(order))
    further = np.full(len(order), share)
    further[0] += extra
    return GatheredRows((order, position, further))


@dataclass(frozen=True)
class _Cell:
    """Some places in the order, and of items at the same place some positions; each up to and with the last.

    below
        Units before it.
    items
        How many are in it.
    """

    first: tuple[int, int]
    last: tuple[int, int]
    below: int
    items: int

    @property
    def single(self) -> bool:
        """One place, shared by many items."""
        return self.first[0] == self.last[0]


@dataclass(eq=False)
class _Line:
    """The units of all items one after the other, along the order, ties by position.

    counted
        Units and items by bin.
    shared
        Further units of some items.
    """

    items: Mapped
    chance: Chance
    bins: _Bins
    counted: IntArray
    shared: GatheredRows
    size: int
    ends: IntArray = field(init=False)

    def __post_init__(self) -> None:
        order, _, further = self.shared.columns
        np.add.at(self.counted[:, 0], self.bins.of(order), further)
        self.ends = np.cumsum(self.counted[:, 0])

    def at(self, units: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """For each unit, counted from 0: the item that it belongs to, where that one begins, and where it ends."""
        if not len(units):
            return (np.zeros(0, dtype=np.int64),) * 3
        hit = np.unique(np.searchsorted(self.ends, units, side="right")).tolist()
        cells = self._small([self._cell(one) for one in hit], units)
        order, position, whole = self._fetched(cells)
        by = np.lexsort((position, order))
        order, position, whole = order[by], position[by], whole[by]
        # Within a cell units run on from those before it.
        number = _cell_of(order, position, cells)
        ends = np.cumsum(whole)
        first = np.searchsorted(number, np.arange(len(cells)))
        before = np.array([cell.below for cell in cells]) - (ends - whole)[first]
        ends = ends + before[number]
        found = np.searchsorted(ends, units, side="right")
        return position[found], (ends - whole)[found], ends[found]

    def _cell(self, number: int) -> _Cell:
        low = self.bins.low + (number << self.bins.shift)
        below = int(self.ends[number - 1]) if number else 0
        last = low + (1 << self.bins.shift) - 1
        return _Cell((low, 0), (last, self.size - 1), below, int(self.counted[number, 1]))

    def _small(self, cells: list[_Cell], units: IntArray) -> list[_Cell]:
        """The same, where there are too many items only those parts in which the units lie."""
        while large := [cell for cell in cells if cell.items > _FETCHED and cell.first != cell.last]:
            counted = scan(self.items, _count_cells, self._given(large)).reshape(len(large), 1 << _FINER, 2)
            parts = [part for cell, own in zip(large, counted, strict=True) for part in self._parts(cell, own, units)]
            cells = sorted([cell for cell in cells if cell not in large] + parts, key=lambda cell: cell.below)
        return cells

    def _parts(self, cell: _Cell, counted: IntArray, units: IntArray) -> list[_Cell]:
        bins, column = _inside(cell)
        order, position, further = self.shared.columns
        own = _cell_of(order, position, [cell]) == 0
        np.add.at(counted[:, 0], bins.of((order, position)[column][own]), further[own])
        ends = cell.below + np.cumsum(counted[:, 0])
        inside = units[(units >= cell.below) & (units < ends[-1])]
        found = []
        for number in np.unique(np.searchsorted(ends, inside, side="right")).tolist():
            low = bins.low + (number << bins.shift)
            high = min(low + (1 << bins.shift) - 1, cell.last[column])
            place = cell.first[0]
            first, last = ((place, low), (place, high)) if column else ((low, 0), (high, self.size - 1))
            found.append(_Cell(first, last, int(ends[number] - counted[number, 0]), int(counted[number, 1])))
        return found

    def _given(self, cells: list[_Cell]) -> _Given:
        flags = np.zeros(self.bins.count, dtype=bool)
        flags[self.bins.of(np.array([cell.first[0] for cell in cells]))] = True
        return self.chance, self.bins, flags, tuple(cells)

    def _fetched(self, cells: list[_Cell]) -> tuple[IntArray, IntArray, IntArray]:
        order, position, whole = scan(self.items, _fetch, self._given(cells)).columns
        for at, further in zip(self.shared.columns[1].tolist(), self.shared.columns[2].tolist(), strict=True):
            whole[position == at] += further
        return order, position, whole


def _inside(cell: _Cell) -> tuple[_Bins, int]:
    """Finer bins, and whether they are of the order (0) or of positions (1)."""
    column = int(cell.single)
    low, high = cell.first[column], cell.last[column]
    return _Bins.over(low, high, _FINER), column


_FINER = 8
"""Bits of the number of finer bins."""


def _cell_of(order: IntArray, position: IntArray, cells: list[_Cell] | tuple[_Cell, ...]) -> IntArray:
    """The number of the cell of each item; -1 where it is in none. Cells are in order and do not overlap."""
    first = np.array([cell.first for cell in cells]).T
    last = np.array([cell.last for cell in cells]).T
    at = np.searchsorted(first[0], order, side="right") - 1
    # Several cells may share one place in the order: then positions decide.
    for number in range(len(cells) - 1, 0, -1):
        if first[0, number] == first[0, number - 1]:
            at = np.where((at == number) & (order == first[0, number]) & (position < first[1, number]), number - 1, at)
    ok = (at >= 0) & (order <= last[0][at]) & (position >= first[1][at]) & (position <= last[1][at])
    return np.where(ok, at, -1)


_Given = tuple[Chance, _Bins, npt.NDArray[np.bool_], tuple[_Cell, ...]]
"""What a step needs to know of some cells; the flags say in which bins they are."""


def _inside_cells(stretch: ItemStretch, given: _Given) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Of the items of some cells that are left to chance: the number of the cell, order, position and units."""
    chance, bins, flags, cells = given
    near = np.flatnonzero(flags.take(bins.of(stretch.order)) & stretch.left)
    found = chance(stretch.part(near))
    open_ = found < 1.0
    near, whole = near[open_], _whole(found[open_])
    order, position = stretch.order[near], stretch.start + near
    number = _cell_of(order, position, cells)
    own = number >= 0
    return number[own], order[own], position[own], whole[own]


def _count_cells(stretch: ItemStretch, given: _Given) -> IntArray:
    """A step: units and items in the finer bins of some cells, one cell after the other."""
    number, order, position, whole = _inside_cells(stretch, given)
    finer = [_inside(cell) for cell in given[3]]
    low, shift, column = np.array([(bins.low, bins.shift, column) for bins, column in finer]).T[:, number]
    at = (np.where(column == 1, position, order) - low) >> shift
    return _counts((number << _FINER) + at, whole, len(finer) << _FINER)


def _fetch(stretch: ItemStretch, given: _Given) -> GatheredRows:
    """A step: order, position and units of the items of some cells."""
    return GatheredRows(_inside_cells(stretch, given)[1:])
