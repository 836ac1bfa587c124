"""Normal scores of a column of a population: the rank of each value as a quantile of the normal distribution."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fieldcheck.numerics import special
from fieldcheck.numerics.exact import GatheredRows, Mapped, scan
from fieldcheck.numerics.order import Column, at_ranks, ordered_bits
from fieldcheck.numerics.types import FloatArray, IntArray

MANY = 1 << 20
"""Up to so many items, each value has its rank."""


CELLS = 1 << 18
"""In larger populations values share so many cells, filled about evenly, and the rank of a cell counts for all in it:
forty items of ten million, in place of a table as long as the population on every machine."""


_COARSE = 47
"""Of 63 bits of a float, those that a first count leaves out: what is left is its sign, its exponent and four more."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores by value.

    score
        One per value, or per cell.
    values
        Different values in increasing order; None where they are counted in cells.
    first, cells
        By the leading bits of a value: its first cell, and how many there are for these bits.
    """

    score: FloatArray
    values: FloatArray | None = None
    first: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    cells: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def of(self, values: FloatArray) -> FloatArray:
        """One per value; those of the population have the scores of their ranks."""
        if self.values is None:
            return self.score.take(_cell(values, self.first, self.cells))
        return self.score[np.searchsorted(self.values, values)]


def normal_scores(items: Mapped, column: Column, size: int) -> Scores:
    """By two passes, or one where items are few: ties share their rank."""
    if size <= MANY:
        found = scan(items, _different, column)
        values, at = np.unique(found.columns[0], return_inverse=True)
        counts = np.bincount(at, weights=found.columns[1]).astype(np.int64)
        return Scores(_quantiles(counts, size), values=values)
    coarse = scan(items, _coarse_counts, column)
    cells = -(-coarse * CELLS // size)
    first = np.cumsum(cells) - cells
    counts = scan(items, _fine_counts, (column, first, cells))
    return Scores(_quantiles(counts, size), first=first, cells=cells)


def median(items: Mapped, column: Column, size: int) -> float:
    """The middle value, or the mean of the two in the middle."""
    return float(at_ranks(items, column, [(size - 1) // 2, size // 2]).mean())


def _quantiles(counts: IntArray, size: int) -> FloatArray:
    ends = np.cumsum(counts)
    with np.errstate(invalid="ignore"):  # an empty cell before the first value
        return np.asarray(special.ndtri((ends - (counts - 1) / 2 - 0.5) / size))


def _different(part: Any, column: Column) -> GatheredRows:
    return GatheredRows(np.unique(column(part), return_counts=True))


def _coarse_counts(part: Any, column: Column) -> IntArray:
    return np.bincount(_bits(column(part)) >> _COARSE, minlength=1 << (63 - _COARSE))


def _fine_counts(part: Any, given: tuple[Column, IntArray, IntArray]) -> IntArray:
    column, first, cells = given
    return np.bincount(_cell(column(part), first, cells), minlength=int(cells.sum()))


def _cell(values: FloatArray, first: IntArray, cells: IntArray) -> IntArray:
    inside = _bits(values)
    lead = inside >> _COARSE
    inside >>= _COARSE - 32
    inside &= 0xFFFFFFFF
    inside *= cells.take(lead)
    inside >>= 32
    inside += first.take(lead)
    return inside


def _bits(values: FloatArray) -> IntArray:
    """Whole numbers from 0 to 2**63 - 1 in the order of these floats, of which two of the same half are one."""
    found = ordered_bits(values)
    found >>= 1
    found += 1 << 62
    return found
