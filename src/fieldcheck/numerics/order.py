"""Values of a population by their rank, exact: counts by the leading bits of floats, finer where a rank lies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fieldcheck.numerics.exact import GatheredRows, Mapped, scan
from fieldcheck.numerics.types import FloatArray, IntArray

Column = Callable[[Any], FloatArray]
"""From some items to their values. It is sent to other processes: a function of a module, or an object."""


FETCHED = 1 << 16
"""So many values are looked at one by one; of more, it is counted which have the same leading bits."""


_FIRST, _MORE = 16, 12
"""Bits that a first count goes by (sign, exponent and four more), and bits that each further one adds."""


def at_ranks(items: Mapped, column: Column, ranks: Sequence[int], counts: IntArray | None = None) -> FloatArray:
    """The values with these ranks, in the order asked for; the smallest has rank 0.

    counts
        ``leading_counts`` of all parts, where they are known.
    """
    counts = scan(items, _leading_counts, column) if counts is None else counts
    shift, left = 64 - _FIRST, np.asarray(ranks, dtype=np.int64)
    at, left, held = _cells(np.broadcast_to(counts, (len(left), len(counts))), left)
    lead = at - (1 << (_FIRST - 1))
    while shift and _total(lead, held) > FETCHED:
        bits = min(_MORE, shift)
        cells, which = np.unique(lead, return_inverse=True)
        at, left, held = _cells(scan(items, _finer_counts, (column, cells, shift, bits))[which], left)
        lead, shift = (lead << bits) + at, shift - bits
    if not shift:
        return _floats(lead)
    cells = np.unique(lead)
    found = np.sort(scan(items, _inside, (column, cells, shift)).columns[0])
    first = np.searchsorted(ordered_bits(found) >> shift, lead)
    return np.asarray(found[first + left])


def quantiles(items: Mapped, column: Column, shares: Sequence[float], counts: IntArray) -> FloatArray:
    """As numpy has them, by linear interpolation between two values.

    counts
        ``leading_counts`` of all parts.
    """
    size = int(counts.sum())
    place = (size - 1) * np.asarray(shares)
    low = np.floor(place).astype(np.int64)
    ranks = [*low.tolist(), *np.minimum(low + 1, size - 1).tolist()]
    pairs = at_ranks(items, column, ranks, counts).reshape(2, -1).T
    return np.array([np.quantile(pair, share) for pair, share in zip(pairs, place - low, strict=True)])


def leading_counts(values: FloatArray) -> IntArray:
    """How many values have each of the first leading bits."""
    return np.bincount((ordered_bits(values) >> (64 - _FIRST)) + (1 << (_FIRST - 1)), minlength=1 << _FIRST)


def _leading_counts(part: Any, column: Column) -> IntArray:
    return leading_counts(column(part))


def ordered_bits(values: FloatArray) -> IntArray:
    """Whole numbers in the order of these floats; -0 is 0."""
    found: IntArray = np.add(values, 0.0, dtype=np.float64).view(np.int64)
    if len(found) and found.min() < 0:
        found ^= _turned(found)
    return found


def _floats(bits: IntArray) -> FloatArray:
    """The inverse of ``ordered_bits``."""
    return (bits ^ _turned(bits)).view(np.float64)


def _turned(bits: IntArray) -> IntArray:
    """What turns negative numbers the other way round."""
    return (bits >> 63) & np.int64(2**63 - 1)


def _cells(counts: IntArray, ranks: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """For each row of counts and its rank: the cell that it lies in, its rank there, and how many lie there."""
    ends, rows = np.cumsum(counts, axis=1), np.arange(len(ranks))
    at = (ends <= ranks[:, None]).sum(axis=1)
    held = counts[rows, at]
    return at, ranks - (ends[rows, at] - held), held


def _total(lead: IntArray, held: IntArray) -> int:
    """Values in all different cells."""
    _, first = np.unique(lead, return_index=True)
    return int(held[first].sum())


def _finer_counts(part: Any, given: tuple[Column, IntArray, int, int]) -> IntArray:
    """A step: one row per cell, how many of its values have each of the next bits."""
    column, cells, shift, bits = given
    found = ordered_bits(column(part))
    lead = found >> shift
    inner = ((found[lead == cell] >> (shift - bits)) & ((1 << bits) - 1) for cell in cells.tolist())
    return np.array([np.bincount(one, minlength=1 << bits) for one in inner])


def _inside(part: Any, given: tuple[Column, IntArray, int]) -> GatheredRows:
    column, cells, shift = given
    values = column(part)
    return GatheredRows((values[np.isin(ordered_bits(values) >> shift, cells)],))
