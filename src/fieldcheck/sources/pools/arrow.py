"""Columns of Arrow to a table: lists of numbers become matrices, pictures their paths, what is left is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fieldcheck.core.pool.column import Column, as_column
from fieldcheck.core.pool.origin import Origin
from fieldcheck.sources import ranked
from fieldcheck.sources.table import RawTable

INDEX = "__index_level_"
"""What the column begins with that pandas writes an index without a name to."""


LISTS = ("list", "fixed_size_list", "large_list")


def from_arrow(
    found: Mapping[str, Any],
    origin: Origin,
    *,
    form: str,
    names: Mapping[str, Sequence[str]] | None = None,
    rows: str | None = None,
) -> RawTable:
    """A table from chunked arrays by name."""
    columns: dict[str, Column] = {}
    matrices: dict[str, Any] = {}
    notes: list[str] = []
    found, scores, called, ranks = _ranked(found)
    matrices.update(scores)
    notes += ranks
    for name, array in found.items():
        kind = str(array.type)
        if kind.startswith(LISTS) and (matrix := as_matrix(array)) is not None:
            matrices[name] = matrix
        elif kind.startswith("struct"):
            path = _paths(array)
            columns.update({} if path is None else {name: path})
            notes += [] if path is not None else [f"'{name}' is left out: it holds {kind[:60]}"]
        else:
            columns[name] = as_column(array, name)
    known = {**(names or {}), **called}
    return RawTable(columns, origin, matrices=matrices, names=known, form=form, rows=rows, notes=tuple(notes))


def _ranked(found: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Sequence[str]], list[str]]:
    """The columns without lists of classes with their scores; these as matrices, with their classes, and notes."""
    import pyarrow as pa

    lists = {name: array for name, array in found.items() if str(array.type).startswith(LISTS)}
    if all(pa.types.is_primitive(array.type.value_type) for array in lists.values()):
        return dict(found), {}, {}, []
    made, names, notes = ranked.together({name: array.to_pylist() for name, array in lists.items()})
    left = {name: array for name, array in found.items() if name not in lists or (name in made and name not in names)}
    left |= {name: pa.chunked_array([values]) for name, values in made.items() if name not in lists}
    return left, {name: np.asarray(made[name]) for name in names}, names, notes


def as_matrix(array: Any) -> Any:
    """Lists of as many numbers each as one matrix; None where they are something else."""
    import pyarrow as pa
    import pyarrow.compute as pc

    inner = array.type.value_type
    if array.null_count or not (pa.types.is_floating(inner) or pa.types.is_integer(inner)) or not len(array):
        return None
    lengths = pc.unique(pc.list_value_length(array))
    width = lengths[0].as_py()
    if len(lengths) > 1 or not width:
        return None
    flat = pc.list_flatten(array).to_numpy()
    kind = np.float32 if pa.types.is_float32(inner) else np.float64
    return np.asarray(flat, dtype=kind).reshape(-1, width)


def _paths(array: Any) -> Any:
    """The files of pictures, as the package datasets keeps them; None where there are none."""
    import pyarrow.compute as pc

    names = [array.type.field(at).name for at in range(array.type.num_fields)]
    if "path" not in names:
        return None
    found = pc.struct_field(array, "path")
    return None if found.null_count else as_column(found, "path")
