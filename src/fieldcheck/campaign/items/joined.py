"""A second table with what people should see, joined to the pool by id."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from fieldcheck import sources
from fieldcheck.core.errors import InputsError, PoolError
from fieldcheck.core.pool import ids as identity
from fieldcheck.core.pool.column import value_at
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.types import IntArray
from fieldcheck.sources import guessing

LOOKED_AT = 2_000
"""Rows by which it is told which column holds the ids."""


def is_table(place: str) -> bool:
    """Whether it is a table, and not a folder or an array of images."""
    named = place.lower().endswith(sources.suffixes()) and not place.lower().endswith(".npz")
    return named and Path(place).is_file()


def row_of(place: str, pool: Pool, position: int) -> dict[str, Any]:
    """What the table says about an item; nothing where it is not in it."""
    table, rows, key = _joined(place, os.stat(place).st_mtime_ns, pool)
    row = int(rows[position])
    if row < 0:
        return {}
    return {name: value_at(table.columns[name], row) for name in _shown(table, pool) if name != key}


@lru_cache(maxsize=4)
def _shown(table: sources.RawTable, pool: Pool) -> tuple[str, ...]:
    """Columns that do not hold the right answers."""
    return tuple(name for name, held in table.columns.items() if not guessing.is_answer(name, held, pool.classes))


@lru_cache(maxsize=4)
def _joined(place: str, changed: int, pool: Pool) -> tuple[sources.RawTable, IntArray, str | None]:
    """The table, for each item of the pool its row there or -1, and the column of ids."""
    table = sources.open_table(place)
    own = pool.origin.columns.get("id", "")
    named = [name for name in table.columns if name.strip().lower() in (own.strip().lower(), "id")]
    tried = list(dict.fromkeys([*named, *table.columns]))
    share = {name: _overlap(table, name, pool) for name in tried if guessing.is_unique(table.columns[name])}
    best = max(share, key=lambda name: share[name], default=None)
    if best is not None and share[best] > 0:
        return table, _rows(table, best, pool), best
    if _numbered(pool) and len(next(iter(table.columns.values()))) == len(pool):
        return table, np.arange(len(pool)), None
    raise InputsError(
        f"no column of {place} holds ids of the pool, such as '{pool.id_of(0)}'",
        rule="what people should see is found by id; it would show nothing",
        hint="a table that has the ids of the pool in a column, once each",
    )


def _overlap(table: sources.RawTable, name: str, pool: Pool) -> float:
    return float(np.mean(_rows(table, name, pool)[:LOOKED_AT] >= 0))


def _rows(table: sources.RawTable, name: str, pool: Pool) -> IntArray:
    """By position in the pool, the row with the same id; -1 where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        theirs, ours = _as_text(identity.as_ids(table.columns[name], table.origin)), _as_text(pool.ids)
    except PoolError:
        return np.full(len(pool), -1)
    found = pc.index_in(ours, value_set=pa.array(theirs))
    return np.asarray(pc.fill_null(found, -1).to_numpy(zero_copy_only=False), dtype=np.int64)


def _as_text(ids: Any) -> Any:
    import pyarrow as pa

    array = pa.array(ids) if isinstance(ids, np.ndarray) else ids.combine_chunks()
    return array.cast(pa.large_string())


def _numbered(pool: Pool) -> bool:
    """Whether its items are numbered from 0, as where a file has no ids."""
    return isinstance(pool.ids, np.ndarray) and bool(np.array_equal(pool.ids, np.arange(len(pool))))
