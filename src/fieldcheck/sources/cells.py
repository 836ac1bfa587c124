"""Cells to typed columns: whole numbers, numbers, truth values, or text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fieldcheck.core.pool.column import Column, as_column, is_text

ERRORS = ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!")
"""What spreadsheets, and SPSS, write where a value could not be had."""


MISSING = ("", "nan", "NaN", "NAN", "None", "null", "NULL", "NA", "N/A", "n/a", "#N/A", "#NV", "<NA>", r"\N", *ERRORS)
"""Unquoted cells that mean that there is no value; ``#NV`` is Excel's in German, ``\\N`` PostgreSQL's."""


NAME = r"^[+-]?0[0-9xX][0-9a-fA-F]*$"
"""Digits that are a name, not a number: with leading zeros, or hexadecimal."""


LONG = r"^[+-]?[0-9]{17,}$"
"""Digits that a float would round."""


GERMAN = r"^[+-]?(\d+|\d{1,3}(\.\d{3})+|)(,\d+)?$"
ENGLISH = r"^[+-]?\d{1,3}(,\d{3})*(\.\d+)?$"
"""Numbers with decimal commas, and with commas between thousands."""


SURELY_DECIMAL = r"^[+-]?(0?,\d+|\d+,(\d{1,2}|\d{4,})|\d{4,},\d+|\d{1,3}(\.\d{3})+,\d+)$"
SURELY_THOUSANDS = r"^[+-]?\d{1,3}((,\d{3}){2,}(\.\d+)?|(,\d{3})+\.\d+)$"
"""What only one of the two can mean: 1,234 is neither."""


BLANK = r"[\s\x{a0}\x{2009}\x{202f}]"
"""White space, the kinds that never break a line too."""


PERCENT = rf"^[+-]?\d+([.,]\d+)?{BLANK}*%$"


GROUPED = rf"^[+-]?\d{{1,3}}((['\x{{2019}}]|{BLANK})\d{{3}})+([.,]\d+)?$|^[+-]?\d{{1,3}}([.,]\d+)?$"
"""Numbers with apostrophes or blanks between thousands, as in Switzerland and France."""


LOOKED_AT = 100
"""Cells that are looked at before a whole column is."""


def typed(cells: Any) -> Column:
    """The narrowest type that every cell of a chunked array of strings reads as, without losing a digit."""
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = _without_dots(pc.utf8_trim_whitespace(cells))
    for kind, unless in ((pa.int64(), NAME), (pa.float64(), LONG), (pa.bool_(), NAME)):
        if pc.any(pc.match_substring_regex(trimmed, unless)).as_py():
            return trimmed
        try:
            return as_column(_cast(trimmed, kind), "")
        except pa.ArrowInvalid:
            continue
    return trimmed


def _without_dots(cells: Any) -> Any:
    """The cells without the lone points that Stata and SAS write for no value; among words a point is a word."""
    import pyarrow as pa
    import pyarrow.compute as pc

    lone = pc.equal(cells, ".")
    if not pc.any(lone).as_py():
        return cells
    others = pc.if_else(lone, pa.scalar(None, cells.type), cells)
    try:
        others.cast(pa.float64())
    except pa.ArrowInvalid:
        return cells
    return others


def _cast(cells: Any, kind: Any) -> Any:
    """A cast that gives up after the first cells, so that long columns of text are not read thrice."""
    cells.slice(0, LOOKED_AT).cast(kind)
    return cells.cast(kind)


def with_commas(column: Column, *, between: str = "") -> tuple[Column, str]:
    """Text that is numbers with commas in them as numbers, and what the commas were; else the column as it is.

    between
        What stands between the cells: where that is a comma, no tool writes decimal commas.
    """
    if not is_text(column) or not len(column):
        return column, ""
    if _all(column, GERMAN) and _any(column, SURELY_DECIMAL):
        return _numbers(_without(column, "."), comma="."), "decimal commas"
    if _all(column, ENGLISH) and _any(column, SURELY_THOUSANDS if between != "," else ","):
        return _numbers(column, comma=""), "commas between thousands"
    if _all(column, GROUPED) and _any(column, rf"\d(['\x{{2019}}]|{BLANK})\d"):
        return _numbers(_plain_groups(column), comma="."), "apostrophes or blanks between thousands"
    return column, ""


def from_percent(column: Column) -> Column | None:
    """Text such as ``61.7%`` as shares; None where it is none."""
    if not is_text(column) or not len(column) or not _all(column, PERCENT):
        return None
    import pyarrow.compute as pc

    return _numbers(pc.replace_substring_regex(column, rf"{BLANK}*%$", ""), comma=".") / 100


PAIR = r"""^[(\[]\s*(?:'(?P<one>[^']*)'|"(?P<two>[^"]*)"|(?P<bare>[^'",]+))\s*,\s*(?P<score>[0-9.eE+-]+)\s*[)\]]$"""


def pairs_of(column: Column) -> tuple[Column, Column] | None:
    """Text such as ``('cat', 0.9)`` as classes and scores; None where it is something else."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not is_text(column) or not len(column) or column.null_count or not _all(column, PAIR):
        return None
    parts = pc.extract_regex(column, pattern=PAIR)
    words = [pc.struct_field(parts, name) for name in ("one", "two", "bare")]
    classes = pc.utf8_trim_whitespace(pc.binary_join_element_wise(*words, ""))
    try:
        return classes, as_column(pc.struct_field(parts, "score").cast(pa.float64()), "")
    except pa.ArrowInvalid:
        return None


LISTED = r"^\[[-+0-9.eE,\s]+\]$"


def matrix_of(column: Column) -> Any:
    """Text such as ``[0.1, 0.9]`` as one row of numbers each; None where it is something else."""
    if not is_text(column) or not len(column) or column.null_count or not _all(column, LISTED):
        return None
    rows = [np.array(cell[1:-1].replace(",", " ").split(), dtype=object) for cell in column.to_pylist()]
    if len({len(row) for row in rows}) > 1:
        return None
    try:
        return np.array(rows).astype(np.float64)
    except ValueError:
        return None


def _all(column: Any, pattern: str) -> bool:
    import pyarrow.compute as pc

    for part in (column.slice(0, LOOKED_AT), column):
        if not pc.all(pc.match_substring_regex(part, pattern), min_count=0).as_py():
            return False
    return bool(column.null_count < len(column))


def _any(column: Any, pattern: str) -> bool:
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring_regex(column, pattern)).as_py())


def _without(column: Any, letter: str) -> Any:
    import pyarrow.compute as pc

    return pc.replace_substring(column, letter, "")


def _plain_groups(column: Any) -> Any:
    import pyarrow.compute as pc

    return pc.replace_substring_regex(column, rf"['\x{{2019}}]|{BLANK}", "")


def _numbers(column: Any, *, comma: str) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return as_column(pc.replace_substring(column, ",", comma).cast(pa.float64()), "")


def column_of(values: Sequence[Any]) -> tuple[Column | None, bool]:
    """A column from cells of any kind, and whether kinds were mixed; None where they are lists or objects."""
    import pyarrow as pa

    given = [None if value is None or (isinstance(value, str) and value in MISSING) else value for value in values]
    if any(isinstance(value, list | dict | tuple) for value in given):
        return None, False
    kinds = {_kind(value) for value in given if value is not None}
    if not kinds:
        return np.full(len(given), np.nan), False
    if len(kinds) > 1 or kinds == {"text"}:
        text = pa.chunked_array([pa.array([_as_text(value) for value in given], pa.string())])
        return typed(text), len(kinds) > 1
    try:
        return as_column(pa.array(given), ""), False
    except (pa.ArrowException, OverflowError):
        return pa.chunked_array([pa.array([_as_text(value) for value in given], pa.string())]), False


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "truth"
    return "number" if isinstance(value, int | float) else "text"


def _as_text(value: Any) -> str | None:
    if value is None:
        return None
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
