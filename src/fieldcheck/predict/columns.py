"""Columns that are put together batch by batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


class Column:
    """Rows that are put together from batches, in memory that is asked for once; texts are a list."""

    def __init__(self, size: int, dtype: npt.DTypeLike | None = None) -> None:
        self._size, self._dtype = size, dtype
        self.rows: Any = None

    def fill(self, start: int, values: Any) -> None:
        """Put a batch into its place; batches come in order."""
        if isinstance(values, list):
            self.rows = [] if self.rows is None else self.rows
            self.rows.extend(values)
            return
        if self.rows is None:
            self.rows = np.empty((self._size, *values.shape[1:]), self._dtype or values.dtype)
        self.rows[start : start + len(values)] = values
