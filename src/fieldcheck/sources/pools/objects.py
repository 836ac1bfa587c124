"""What is in memory to a table: data frames of pandas, polars and Arrow, dicts of columns, lists of dicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.column import as_column
from fieldcheck.core.pool.origin import Origin
from fieldcheck.sources.pools.arrow import from_arrow
from fieldcheck.sources.pools.records import from_records
from fieldcheck.sources.table import RawTable, check_names


def from_object(source: Any) -> RawTable:
    """The columns of a data frame, a dict of columns or a list of dicts."""
    if isinstance(source, Mapping):
        return _of_dict(source)
    if hasattr(source, "iloc") and hasattr(source, "columns"):
        return _of_pandas(source)
    if hasattr(source, "__arrow_c_stream__"):
        return _of_arrow(source)
    if isinstance(source, Sequence) and source and all(isinstance(one, Mapping) for one in source):
        return from_records(source, Origin(), form="list of dicts")
    raise PoolError(
        f"a pool cannot be made of {type(source).__name__}",
        rule="a file; a data frame of pandas, polars or Arrow; a dict of columns; a list of dicts",
        hint="fieldcheck.from_arrays, for single arrays",
    )


def _of_dict(source: Mapping[Any, Any]) -> RawTable:
    columns: dict[str, Any] = {}
    matrices: dict[str, Any] = {}
    for key, values in source.items():
        shape = getattr(values, "shape", ())
        if len(shape) == 2 or (len(shape) == 0 and _is_nested(values)):
            matrices[str(key)] = np.asarray(values)
        else:
            columns[str(key)] = as_column(values, str(key))
    return RawTable(columns, matrices=matrices, form="dict of columns")


def _is_nested(values: Any) -> bool:
    return isinstance(values, Sequence) and len(values) > 0 and isinstance(values[0], list | tuple | np.ndarray)


def _of_pandas(frame: Any) -> RawTable:
    """The columns of a data frame; without an id among them, its index is it."""
    check_names([str(key) for key in frame.columns], Origin())
    columns = {str(key): as_column(frame[key], str(key)) for key in frame.columns}
    name = str(frame.index.name or "")
    if frame.index.nlevels > 1 or name in columns:
        return RawTable(columns, form="pandas frame")
    return RawTable({name: as_column(frame.index.to_series(), "index"), **columns}, form="pandas frame", rows=name)


def _of_arrow(source: Any) -> RawTable:
    import pyarrow as pa

    table = pa.table(source)
    check_names(table.column_names, Origin())
    form = type(source).__module__.partition(".")[0] + " frame"
    return from_arrow({name: table.column(name) for name in table.column_names}, Origin(), form=form)
