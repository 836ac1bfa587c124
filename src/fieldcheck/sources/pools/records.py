"""Rows and records to a table: what spreadsheets, JSON files and lists of dicts hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fieldcheck.core.pool.column import Column
from fieldcheck.core.pool.origin import Origin
from fieldcheck.sources import ranked
from fieldcheck.sources.cells import column_of, with_commas
from fieldcheck.sources.pools.arrow import as_matrix
from fieldcheck.sources.pools.layout import header_row, is_data
from fieldcheck.sources.roles import ROWS
from fieldcheck.sources.table import RawTable, check_names

DEPTH = 4
"""Objects inside of objects that become columns; what is deeper is left out."""


PICTURES = ("path", "url", "src")
"""Where objects that stand for a picture say which one."""


def from_rows(rows: Sequence[Sequence[Any]], origin: Origin, *, form: str) -> RawTable:
    """A table from rows of cells, one of which holds the names; what is empty around it is left out."""
    filled = [list(row) for row in rows if any(_is_there(cell) for cell in row)]
    if not filled:
        raise origin.error("no row", rule="a pool has a header and at least one row")
    at = header_row(filled)
    names, body = [str("" if cell is None else cell).strip() for cell in filled[at]], filled[at + 1 :]
    if is_data(filled[at]):
        raise origin.error(
            f"the first row holds values, not names: {', '.join(names)[:99]}",
            rule="the columns have names, in a row above the values",
            hint="add a first row such as id, prediction, confidence",
        )
    if not body:
        raise origin.error("no row under the header", rule="a pool has at least one item")
    cells = [[row[place] if place < len(row) else None for row in body] for place in range(len(names))]
    kept = [place for place, name in enumerate(names) if name or any(map(_is_there, cells[place]))]
    check_names([names[place] for place in kept], origin)
    said = f", {at} row{'s' if at > 1 else ''} above the header left out" if at else ""
    return from_lists({names[place]: cells[place] for place in kept}, origin, form=form + said)


def _is_there(cell: Any) -> bool:
    return cell is not None and str(cell).strip() != ""


def from_records(records: Sequence[Mapping[str, Any]], origin: Origin, *, form: str) -> RawTable:
    """A table from one object per item; objects inside of it become columns of their own."""
    flat = [_flat(record) for record in records]
    names = list(dict.fromkeys(name for record in flat for name in record))
    return from_lists({name: [record.get(name) for record in flat] for name in names}, origin, form=form)


def _flat(record: Mapping[str, Any], prefix: str = "", depth: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, held in record.items():
        value = held[0] if isinstance(held, list) and len(held) == 1 and isinstance(held[0], Mapping) else held
        name = f"{prefix}{key}"
        if not isinstance(value, Mapping):
            found[name] = value
        elif (picture := _picture(value)) is not None:
            found[name] = picture
        elif depth < DEPTH:
            found.update(_flat(value, f"{name}_", depth + 1))
    return found


def _picture(value: Mapping[str, Any]) -> str | None:
    """Weights & Biases writes a picture as an object with its path; so do others."""
    if "_type" not in value and not set(value) <= {"bytes", *PICTURES}:
        return None
    return next((value[key] for key in PICTURES if isinstance(value.get(key), str)), None)


def from_lists(lists: Mapping[str, Sequence[Any]], origin: Origin, *, form: str, rows: str | None = None) -> RawTable:
    """A table from one list per column."""
    import pyarrow as pa

    columns: dict[str, Column] = {}
    matrices: dict[str, Any] = {}
    notes: list[str] = []
    commas: dict[str, None] = {}
    lists, names, ranks = ranked.together(lists)
    notes += ranks
    for name, values in lists.items():
        column, mixed = (None, False) if name in names else column_of(values)
        if column is None:
            matrix = _matrix(values, pa)
            if matrix is None:
                columns[name] = pa.chunked_array([pa.array([_plain(value) for value in values], pa.string())])
                notes.append(f"'{name}' holds lists or objects: read as text")
            else:
                matrices[name] = matrix
            continue
        columns[name], said = with_commas(column)
        commas.update({said: None} if said else {})
        if mixed:
            notes.append(f"'{name}' holds numbers and text: read as text")
    index = next((name for name in columns if name.strip().lower() in ROWS), rows)
    words = ", ".join([form, *commas])
    return RawTable(columns, origin, matrices=matrices, names=names, form=words, rows=index, notes=tuple(notes))


def _matrix(values: Sequence[Any], pa: Any) -> Any:
    try:
        return as_matrix(pa.chunked_array([pa.array(values)]))
    except (pa.ArrowException, AttributeError, TypeError, ValueError):
        return None


def _plain(value: Any) -> str | None:
    """A list of one text is that text; other lists and objects as they are written."""
    if value is None:
        return None
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        return value[0]
    return str(value)


def is_listed(values: Iterable[Any]) -> bool:
    """Whether some value is a list of several."""
    return any(isinstance(value, list) and len(value) > 1 for value in values)
