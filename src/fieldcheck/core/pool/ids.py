"""The ids of a pool: 64-bit integers, or text in a chunked Arrow array."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.column import Column, as_arrow, is_text, missing, value_at, whole
from fieldcheck.core.pool.origin import Origin
from fieldcheck.core.types import BoolArray, IntArray

Ids: TypeAlias = Any


def as_ids(column: Column, origin: Origin) -> Ids:
    """Integers where every id is a whole number ("0.0" counts), else text; every item has one."""
    origin.refuse(
        "id",
        missing(column),
        problem="has no id",
        value=lambda position: value_at(column, position),
        rule="every item has an id of its own",
        hint="fill the column, or leave it out: items are then numbered from 0",
    )
    integers = _integers(column)
    return _text(column) if integers is None else integers


def _integers(column: Column) -> IntArray | None:
    if not isinstance(column, np.ndarray) or column.dtype.kind == "b":
        return None
    if column.dtype.kind == "f" and not np.all(whole(column)):
        return None
    if column.dtype == np.uint64 and len(column) and column.max() > np.iinfo(np.int64).max:
        return None
    return column.astype(np.int64, copy=False)


def _text(column: Column) -> Any:
    import pyarrow as pa

    if is_text(column):
        return column
    array = pa.chunked_array([as_arrow(column)]) if isinstance(column, np.ndarray) else column
    return array.cast(pa.string())


def check_unique(ids: Ids, origin: Origin) -> None:
    """Refuse ids that occur twice. Ids in increasing order cost one comparison each, no sort."""
    if not _has_duplicates(ids):
        return
    origin.refuse(
        "id",
        repeated(ids),
        problem="repeats an id",
        value=lambda position: value_at(ids, position),
        rule="every item has an id of its own",
        hint="drop the repeated rows, map another column: --column id=NAME, or number the rows: --column id=none",
    )


def _has_duplicates(ids: Ids) -> bool:
    if is_increasing(ids):
        return False
    if isinstance(ids, np.ndarray):
        ordered = np.sort(ids)
        return bool(np.any(ordered[1:] == ordered[:-1]))
    return len(ids.unique()) < len(ids)


def is_increasing(ids: Ids) -> bool:
    """True where every id is larger than the one before."""
    if isinstance(ids, np.ndarray):
        return bool(np.all(ids[1:] > ids[:-1]))
    import pyarrow.compute as pc

    later: Any = pc.greater(ids.slice(1), ids.slice(0, len(ids) - 1))
    return bool(pc.all(later, min_count=0).as_py())


def repeated(ids: Ids) -> BoolArray:
    """One per item: True where an earlier item has the same id."""
    codes = ids if isinstance(ids, np.ndarray) else _codes(ids)
    _, first = np.unique(codes, return_index=True)
    again = np.ones(len(codes), dtype=bool)
    again[first] = False
    return again


def _codes(ids: Any) -> IntArray:
    encoded = ids.combine_chunks().dictionary_encode()
    return np.asarray(encoded.indices.to_numpy(), dtype=np.int64)


def positions(ids: Ids, wanted: Iterable[str | int], *, origin: Origin) -> IntArray:
    """Where the wanted ids are, in the order asked for; text that is a whole number finds an integer id."""
    asked = list(wanted)
    result = places(ids, asked)
    if np.any(result < 0):
        raise _unknown([str(one) for one, at in zip(asked, result, strict=True) if at < 0], ids, origin)
    return result


def places(ids: Ids, asked: Sequence[str | int]) -> IntArray:
    """Where some ids are; -1: nowhere."""
    import pyarrow as pa
    import pyarrow.compute as pc

    keys = [_integer(one) for one in asked] if isinstance(ids, np.ndarray) else [str(one) for one in asked]
    array = pa.chunked_array([as_arrow(ids)]) if isinstance(ids, np.ndarray) else ids
    # The hash table is built over the few ids asked for; the pool is only read once.
    distinct = pa.array(list(dict.fromkeys(keys)), array.type)
    where = np.full(len(distinct), -1, dtype=np.int64)
    hits = pc.index_in(array, value_set=distinct, skip_nulls=True)
    found = np.flatnonzero(pc.is_valid(hits).to_numpy())
    where[hits.take(found).to_numpy()] = found
    index = {key: int(position) for key, position in zip(distinct.to_pylist(), where, strict=True)}
    return np.array([index[key] for key in keys], dtype=np.int64)


def _integer(text: str | int) -> int | None:
    try:
        value = float(text) if isinstance(text, str) and "." in text else int(text)
        return int(value) if value == int(value) and -(2**63) <= value < 2**63 else None
    except (ValueError, OverflowError):
        return None


def _unknown(absent: list[str], ids: Ids, origin: Origin) -> PoolError:
    return origin.error(
        f"no item '{absent[0]}' in this pool" + (f" (nor {len(absent) - 1:,} others)" if absent[1:] else ""),
        rule=f"ids run from '{value_at(ids, 0)}' to '{value_at(ids, len(ids) - 1)}'",
        hint="the same pool that the items were drawn from",
    )


def as_bytes(ids: Ids) -> list[bytes]:
    """Bytes that are the same for the same ids, however they are stored; of text its lengths, then its letters."""
    if isinstance(ids, np.ndarray):
        return [np.ascontiguousarray(ids, dtype="<i8").tobytes()]
    import pyarrow.compute as pc

    array = ids.combine_chunks()
    lengths: Any = pc.binary_length(array)
    width = np.int64 if str(array.type).startswith("large") else np.int32
    _, ends, letters = array.buffers()
    first, last = np.frombuffer(ends, width)[[array.offset, array.offset + len(array)]].tolist()
    held = b"" if letters is None else letters[first:last].to_pybytes()
    return [lengths.to_numpy(zero_copy_only=False).astype("<i8").tobytes(), held]
