"""Columns that are put together batch by batch."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.accuracy.auxiliary.base import FittedAuxiliary, Trace
from fieldcheck.core.types import FloatArray, Task


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


BLOCK = 2_048
"""Items in a block. With fewer, DSA reads its reference more often than its products take to compute."""


BYTES = 1 << 26
"""Most that a block holds: where items are large, it has fewer of them."""


@dataclass(frozen=True, eq=False)
class FittedVariable:
    """A fitted variable, and the parts of a trace that it looks at besides the predictions."""

    fitted: FittedAuxiliary
    parts: frozenset[str]


@dataclass(eq=False)
class Gathered:
    """The values of one variable over a pool. It is given blocks of one size, whatever the size of the batches."""

    asked: FittedVariable
    task: Task
    values: Column
    _block: dict[str, Any] = field(default_factory=dict)
    _size: int = 0
    _filled: int = 0
    _done: int = 0

    def add(self, trace: Trace) -> None:
        """Take the next batch; values are computed when a block is full."""
        parts = {name: getattr(trace, name) for name in (self.asked.parts & trace.has()) | {"predictions"}}
        self._size = self._size or block_size(parts)
        start = 0
        while start < len(trace):
            stop = min(len(trace), start + self._size - self._filled)
            self._fill({name: rows[start:stop] for name, rows in parts.items()}, stop - start)
            start = stop
            if self._filled == self._size:
                self._flush()

    def finish(self) -> FloatArray:
        """One value per item, finished."""
        return self.asked.fitted.finish(self.complete())

    def complete(self) -> FloatArray:
        """One value per item, as the variable gives them; what still waits is computed first."""
        if self._filled:
            self._flush()
        values: FloatArray = self.values.rows
        return values

    def _fill(self, parts: dict[str, Any], count: int) -> None:
        """Copy items into the block: a model may use the memory of one answer for the next."""
        for name, rows in parts.items():
            if isinstance(rows, list):
                self._block[name] = self._block.get(name, [])[: self._filled] + rows
                continue
            if name not in self._block:
                self._block[name] = np.empty((self._size, *rows.shape[1:]), rows.dtype)
            self._block[name][self._filled : self._filled + count] = rows
        self._filled += count

    def _flush(self) -> None:
        parts = {name: rows[: self._filled] for name, rows in self._block.items()}
        self.values.fill(self._done, self.asked.fitted.values(Trace(self.task, **parts)))
        self._done, self._filled = self._done + self._filled, 0


def block_size(parts: dict[str, Any]) -> int:
    """Items that make up a block of these parts; texts take hardly any memory."""
    arrays = [rows for rows in parts.values() if not isinstance(rows, list)]
    item: int = sum(rows.dtype.itemsize * math.prod(rows.shape[1:]) for rows in arrays)
    return max(1, min(BLOCK, BYTES // item))
