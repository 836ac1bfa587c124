"""How far off the labelled predictions of a regression model are, in bins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fieldcheck.core.types import FloatArray, IntArray

BINS = 10

PUBLISHED_TOP = 25.0
"""Degrees; the ICSE'24 paper bins 0, 2.5, ..., 25 (tables 4 and 5)."""


@dataclass(frozen=True, eq=False)
class OffsetBins:
    """Bins of equal width, and the bin of every item of the pool.

    edges
        One more than there are bins, in the shown unit.
    bin_of
        One per item; an offset beyond the last edge is in the last bin.
    """

    edges: FloatArray
    bin_of: IntArray

    @classmethod
    def of(cls, offsets: FloatArray, scale: float | None) -> OffsetBins:
        """Bins of 2.5 up to 25 of the scaled offsets; without a scale, ten up to the largest offset."""
        shown = offsets * (1.0 if scale is None else scale)
        top = PUBLISHED_TOP if scale is not None else float(shown.max()) or 1.0
        edges = np.linspace(0.0, top, BINS + 1)
        bin_of = np.clip(np.searchsorted(edges, shown, side="right") - 1, 0, BINS - 1)
        return cls(edges, bin_of.astype(np.int64))

    def count(self, items: IntArray) -> IntArray:
        """Number of these items in each bin."""
        return np.bincount(self.bin_of[items], minlength=BINS).astype(np.int64)
