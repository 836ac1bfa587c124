"""A fingerprint of rows that does not depend on how they are split: digests of blocks of rows, and of these a digest.

A part of a pool gives the digests of the blocks that it holds whole, and the bytes of the few rows of others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core.pool.ids import as_bytes
from fieldcheck.core.types import Task

ROWS = 1 << 15
"""Rows of a block, counted from the first of the pool."""


LENGTH = 16
"""Letters of a fingerprint."""


@dataclass(frozen=True)
class Fingerprint:
    """Of some rows.

    blocks
        By number, the digest of a block.
    loose
        Of blocks that are not whole: by the first row of a piece, the bytes of its columns.
    """

    blocks: Mapping[int, bytes]
    loose: Mapping[int, tuple[bytes, ...]]

    def __add__(self, other: Fingerprint) -> Fingerprint:
        return Fingerprint({**self.blocks, **other.blocks}, {**self.loose, **other.loose})

    def short(self, names: Sequence[str]) -> str:
        """Of all rows of a pool, with the names of its columns."""
        pieces: dict[int, list[tuple[bytes, ...]]] = {}
        for row in sorted(self.loose):
            pieces.setdefault(row // ROWS, []).append(self.loose[row])
        joined = {at: _digest(tuple(map(b"".join, zip(*own, strict=True)))) for at, own in pieces.items()}
        blocks = {**self.blocks, **joined}
        whole = hashlib.sha256("\0".join(names).encode())
        for at in sorted(blocks):
            whole.update(blocks[at])
        return whole.hexdigest()[:LENGTH]


def fingerprint(
    columns: Sequence[Any], predictions: npt.NDArray[Any] | None, classes: Sequence[str], task: Task, start: int
) -> Fingerprint:
    """Of some rows, from the one at position ``start`` on.

    columns
        Ids, then numbers.
    predictions
        Codes of classes, which count by their names, or numbers.
    """
    names = np.array([int.from_bytes(hashlib.sha256(one.encode()).digest()[:8], "little") for one in classes], "<u8")
    size, blocks, loose = len(columns[0]), dict[int, bytes](), dict[int, tuple[bytes, ...]]()
    at = start
    while at < start + size:
        end = min((at // ROWS + 1) * ROWS, start + size)
        rows = slice(at - start, end - start)
        said = [] if predictions is None else [predictions[rows]]
        parts = [part for column in columns for part in _bytes(column[rows])]
        parts += [_numbers(one) if task == "regression" else names[one].tobytes() for one in said]
        if end - at == ROWS:
            blocks[at // ROWS] = _digest(tuple(parts))
        else:
            loose[at] = tuple(parts)
        at = end
    return Fingerprint(blocks, loose)


def _digest(parts: tuple[bytes, ...]) -> bytes:
    total = hashlib.blake2b(digest_size=32)  # where a processor has no instructions for SHA, twice as fast
    for part in parts:
        total.update(len(part).to_bytes(8, "little"))
        total.update(part)
    return total.digest()


def _bytes(column: Any) -> list[bytes]:
    floats = isinstance(column, np.ndarray) and column.dtype.kind == "f"
    return [_numbers(column)] if floats else as_bytes(column)


def _numbers(values: npt.NDArray[Any]) -> bytes:
    return np.ascontiguousarray(values, dtype="<f8").tobytes()
