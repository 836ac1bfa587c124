"""Text cells to typed columns: whole numbers, numbers, truth values, or text."""

from __future__ import annotations

from typing import Any

from fieldcheck.core.pool.column import Column, as_column

MISSING = ("", "nan", "NaN", "NAN", "None", "null", "NULL", "NA", "N/A", "#N/A", "<NA>")
"""Unquoted cells that mean that there is no value."""


NAME = r"^[+-]?0[0-9xX][0-9a-fA-F]*$"
"""Digits that are a name, not a number: with leading zeros, or hexadecimal."""


LONG = r"^[+-]?[0-9]{17,}$"
"""Digits that a float would round."""


def typed(cells: Any) -> Column:
    """The narrowest type that every cell of a chunked array of strings reads as, without losing a digit."""
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(cells)
    for kind, unless in ((pa.int64(), NAME), (pa.float64(), LONG), (pa.bool_(), NAME)):
        if pc.any(pc.match_substring_regex(trimmed, unless)).as_py():
            return trimmed
        try:
            return as_column(_cast(trimmed, kind), "")
        except pa.ArrowInvalid:
            continue
    return trimmed


def _cast(cells: Any, kind: Any) -> Any:
    """A cast that gives up after the first cells, so that long columns of text are not read thrice."""
    cells.slice(0, 100).cast(kind)
    return cells.cast(kind)
