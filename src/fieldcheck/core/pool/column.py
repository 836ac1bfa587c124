"""One column of a pool: a numpy array of numbers or truth values, or a chunked Arrow array of anything else.

Numbers are not copied where that is possible; text stays in Arrow, where short strings take a fraction of
what Python objects take.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.origin import Origin
from fieldcheck.core.types import BoolArray, FloatArray


def check_lengths(columns: Mapping[str, Any], origin: Origin) -> int:
    """The common length of all columns that are there."""
    sizes = {name: len(column) for name, column in columns.items() if column is not None}
    name, size = next(iter(sizes.items()))
    for other, length in sizes.items():
        if length != size:
            raise origin.error(
                f"'{origin.column(other)}' has {length:,} values, '{origin.column(name)}' has {size:,}",
                rule="every column has one value per item",
            )
    if size == 0:
        raise origin.error(
            "the pool is empty", rule="a pool has at least one item", hint="a file with rows under its header"
        )
    return size


Column: TypeAlias = Any


EXACT = 2.0**53
"""Whole floats up to here are the integer that they look like."""


DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


def as_column(values: Any, name: str) -> Column:
    """A column from a list, a numpy array, a pandas series or an Arrow array."""
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise PoolError(f"'{name}' has {values.ndim} dimensions", rule="one value per item")
    if isinstance(values, np.ndarray) and not values.dtype.isnative:  # of another machine; Arrow does not take it
        values = values.astype(values.dtype.newbyteorder("="))
    plain = isinstance(values, np.ndarray) and not isinstance(values, np.ma.MaskedArray)
    if plain and values.dtype.kind in "iufb":
        return values
    return _from_arrow(_to_arrow(values, name))


def _to_arrow(values: Any, name: str) -> Any:
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        return values
    if isinstance(values, np.ndarray) and values.dtype.kind == "S":
        values = np.char.decode(values, "utf-8", "replace")
    try:
        array = values if isinstance(values, pa.Array) else pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, UnicodeError) as error:
        raise PoolError(
            f"'{name}' is not one kind of values: {str(error).splitlines()[0]}",
            rule="a column holds numbers, or text, or truth values",
        ) from error
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def as_arrow(column: Column) -> Any:
    """An Arrow array of a column, without a copy; of numbers not by ``pa.array``, which loads pandas."""
    import pyarrow as pa

    if not isinstance(column, np.ndarray):
        return column
    if column.dtype.kind not in "iuf" or not column.dtype.isnative:
        return pa.array(column)
    return pa.Array.from_buffers(
        pa.from_numpy_dtype(column.dtype), len(column), [None, pa.py_buffer(np.ascontiguousarray(column))]
    )


def _from_arrow(array: Any) -> Column:
    import pyarrow as pa

    kind = array.type
    if pa.types.is_dictionary(kind):
        return _from_arrow(array.cast(kind.value_type))
    if pa.types.is_null(kind) or pa.types.is_decimal(kind):
        return _numpy(array.cast(pa.float64()))
    if pa.types.is_boolean(kind):
        return _numpy(array if array.null_count == 0 else array.cast(pa.int8()))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return _numpy(array)
    return array.cast(pa.string()) if str(kind) == "string_view" else array


def _numpy(array: Any) -> Any:
    """Whole numbers with gaps become floats with nan: that is what Arrow does."""
    if array.null_count == 0 and str(array.type) != "bool" and array.num_chunks:
        # Not by to_numpy, which loads pandas where it is installed: more than reading a million items.
        parts = [np.from_dlpack(chunk) for chunk in array.chunks]
        found = parts[0] if len(parts) == 1 else np.concatenate(parts)
        found.flags.writeable = False
        return found
    if array.num_chunks == 1:
        return array.chunk(0).to_numpy(zero_copy_only=False)
    return array.to_numpy()


def is_text(column: Column) -> bool:
    """True for a column of strings."""
    return not isinstance(column, np.ndarray) and str(column.type) in ("string", "large_string")


def is_numeric(column: Column) -> bool:
    """True for a column of numbers or truth values."""
    return isinstance(column, np.ndarray)


def whole(values: npt.NDArray[np.floating[Any]]) -> BoolArray:
    """One per value: True where a float is an integer that floats count exactly; False for nan and infinity."""
    return np.asarray((np.abs(values) < EXACT) & (values == np.trunc(values)))


def missing(column: Column) -> BoolArray:
    """One per item: True where there is no value (nan, null, or empty text)."""
    if isinstance(column, np.ndarray):
        return np.isnan(column) if column.dtype.kind == "f" else np.zeros(len(column), dtype=bool)
    import pyarrow.compute as pc

    gone = np.asarray(column.is_null().to_numpy())
    if is_text(column):
        lengths: Any = pc.binary_length(column)
        gone = gone | np.asarray(lengths.to_numpy() == 0)
    return gone


def value_at(column: Column, position: int) -> Any:
    """One value as a plain Python object."""
    value = column[position]
    return value.item() if isinstance(value, np.generic) else value.as_py()


def take(column: Column, positions: Any) -> Column:
    """The values at some positions."""
    return column[positions] if isinstance(column, np.ndarray) else column.take(positions)


def numbers(column: Column, role: str, *, origin: Origin) -> FloatArray:
    """The column as float64, nan where it has no value."""
    if isinstance(column, np.ndarray):
        return column.astype(np.float64, copy=False)
    import pyarrow as pa

    try:
        return np.asarray(_numpy(column.cast(pa.float64())))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        origin.refuse(
            role,
            not_numbers(column),
            problem="is not a number",
            value=lambda position: value_at(column, position),
            rule="this column holds numbers, with a decimal point",
            hint="shares (0.93) or percent (93 %) in every row; or go without: --column confidence=none"
            if role == "confidence"
            else "replace decimal commas by points, or name the right column",
        )
        raise PoolError(f"column '{origin.column(role)}' does not hold numbers: {column.type}") from None


def not_numbers(column: Column) -> BoolArray:
    """One per item: True where the text is there and is not a number. For messages: slow."""
    return np.array([value is not None and not _reads_as_number(str(value)) for value in column.to_pylist()])


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def closest(name: str, names: Iterable[str], *, origin: Origin) -> str:
    """The column of that name, in any case; an error that names the closest one where there is none."""
    have = list(names)
    if name in have:
        return name
    alike = [one for one in have if one.strip().lower() == name.strip().lower()]
    if len(alike) == 1:
        return alike[0]
    near = difflib.get_close_matches(name.lower(), [one.lower() for one in have], n=1, cutoff=0.5)
    guess = [one for one in have if near and one.lower() == near[0]]
    raise origin.error(
        f"no column '{name}'" + (": several differ only in case" if alike else ""),
        rule="columns: " + ", ".join(have),
        hint=f"'{guess[0]}'" if guess else "one of these",
    )
