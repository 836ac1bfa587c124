"""The same items in several pools, found by id."""

from __future__ import annotations

from typing import Any

import numpy as np

from fieldcheck.core import words
from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.column import as_arrow
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.types import IntArray

SHOWN = 3
"""Ids that are named where they are in one pool only."""


def aligned(reference: Pool, other: Pool) -> Pool:
    """The other pool in the order of the first. Where that is its own order, both may stay in their shards."""
    if other.task != reference.task:
        raise PoolError(
            f"'{reference.name}' is a {reference.task}, '{other.name}' a {other.task}",
            rule="models that are compared do the same task",
            hint="--task classification or regression",
        )
    if len(other) == len(reference) and all([*reference.beside([other], _alike, None, needs=("id",))]):
        return other
    return other.select(_places(reference.in_memory(), other.in_memory()))


def _alike(rows: tuple[Pool, ...], _: None) -> bool:
    """A step: whether the ids are the same in the same order; without a look at each where they are stored alike."""
    ours, theirs = (one.ids for one in rows)
    if isinstance(ours, np.ndarray) and isinstance(theirs, np.ndarray):
        return np.array_equal(ours, theirs)
    return bool(_texts(ours).equals(_texts(theirs)))


def _texts(ids: Any) -> Any:
    """As text: an integer and its text are the same id."""
    import pyarrow as pa

    return (pa.chunked_array([as_arrow(ids)]) if isinstance(ids, np.ndarray) else ids).cast(pa.large_string())


def _places(reference: Pool, other: Pool) -> IntArray:
    """Where the items of the first are in the other."""
    import pyarrow.compute as pc

    ours, theirs = (_texts(pool.ids).combine_chunks() for pool in (reference, other))
    found = pc.index_in(ours, value_set=theirs)
    missing, extra = ours.filter(found.is_null()), theirs.filter(pc.invert(pc.is_in(theirs, value_set=ours)))
    if len(missing) or len(extra):
        raise PoolError(
            f"'{reference.name}' and '{other.name}' are not the same items: {_only(missing, reference.name)}; "
            f"{_only(extra, other.name)}",
            rule="both files hold the same items, matched by id",
            hint="keep the items that are in all files; --column id=NAME where ids are in another column",
        )
    return np.asarray(found.to_numpy(), dtype=np.int64)


def _only(ids: Any, where: str) -> str:
    shown = words.some([f"'{name}'" for name in ids.slice(0, SHOWN + 1).to_pylist()], SHOWN)
    return f"{len(ids):,} only in '{where}'" + (f" ({shown})" if len(ids) else "")
