"""Where the header of a table is, and what stands between its cells: told from the first rows."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from fieldcheck.core import words

LOOKED_AT = 60
"""Rows that are looked at."""


DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}


REMARKS = 12
"""Rows in which remarks are looked for above the names."""


COUNT = re.compile(r"\(?[\d,.]+ rows?( in set)?( \([\d.]+ sec\))?\)?")
NUMBER = re.compile(r"[+-]?[\d.,]+(?:[eE][+-]?\d+)?\s*%?")


DATA = re.compile(r"[+-]?\d*[.,]\d+(?:[eE][+-]?\d+)?\s*%?|\d+\s*%")
"""A number with a fraction, or a percentage: what no column is called."""


@dataclass(frozen=True)
class Layout:
    """How the lines of a text are a table.

    names
        Of the columns, as they are written there.
    above, until
        Lines before the header; lines up to its end.
    row_names
        Whether rows begin with a name that the header has no column for, as R writes them.
    """

    delimiter: str
    names: tuple[str, ...]
    above: int = 0
    until: int = 1
    row_names: bool = False

    @property
    def words(self) -> list[str]:
        """The layout for people."""
        skipped = f"{words.counted(self.above, 'line')} above the header left out" if self.above else ""
        return [one for one in (DELIMITERS[self.delimiter] if len(self.names) > 1 else "", skipped) if one]


def find_layout(text: str, *, delimiter: str | None = None, cut: bool = False) -> Layout:
    """The layout of a text that begins like this.

    delimiter
        Where it is known.
    cut
        Whether the text goes on, so that its last row may not be whole.
    """
    tried = [_tried(text, one, cut=cut) for one in ([delimiter] if delimiter else DELIMITERS)]
    best = max(tried, key=lambda one: one[0])  # of equals the first
    return best[1]


def _tried(text: str, delimiter: str, *, cut: bool) -> tuple[tuple[bool, float, int], Layout]:
    """How well a delimiter divides the rows: into more than one cell, into as many each, into many."""
    rows = _rows(text, delimiter)
    rows = rows[:-1] if cut and len(rows) > 1 and len(rows) < LOOKED_AT else rows
    cells = [row for _, _, row in rows]
    width = usual_width(cells)
    at = header_row(cells)
    share = sum(len(row) == width for row in cells) / max(len(cells), 1)
    start, end, names = rows[at] if rows else (1, 1, [])
    named = len(names) == width - 1 and _begins_quoted(text, rows, at)
    end = rows[at + 1][1] if len(rows) > at + 1 and is_rule(rows[at + 1][2]) else end
    layout = Layout(delimiter, tuple(names), start - 1, end, row_names=named)
    return (width > 1, share, width), layout


def _rows(text: str, delimiter: str) -> list[tuple[int, int, list[str]]]:
    """The first rows that are not empty, with the lines that they begin and end on, from 1."""
    reader, start = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), 1
    rows = list[tuple[int, int, list[str]]]()
    with suppress(csv.Error):  # a cell that is longer than Python reads
        for row in reader:
            if row:
                rows.append((start, reader.line_num, row))
            if len(rows) == LOOKED_AT:
                break
            start = reader.line_num + 1
    return rows


def _begins_quoted(text: str, rows: Sequence[tuple[int, int, list[str]]], at: int) -> bool:
    """Whether every row but the header begins with a quote: only names do, numbers of a first column do not."""
    lines = text.splitlines()
    return len(rows) > at + 1 and all(lines[start - 1].startswith('"') for start, _, _ in rows[at + 1 :])


def usual_width(rows: Sequence[Sequence[Any]]) -> int:
    """Cells that most rows have."""
    return Counter(map(len, rows)).most_common(1)[0][0] if rows else 0


def header_row(rows: Sequence[Sequence[Any]]) -> int:
    """Which row names the columns: the first that is as wide as most, below titles and remarks."""
    width = usual_width(rows)
    if width < 2:
        return 0
    first = next((at for at, row in enumerate(rows) if _may_be_header(row, width)), 0)
    return next((at for at in range(first + 1, len(rows)) if _is_fuller(rows, first, at)), first)


def _may_be_header(row: Sequence[Any], width: int) -> bool:
    filled = [_is_there(cell) for cell in row]
    # The index that pandas writes has no name.
    return len(row) >= width - 1 and (sum(filled) >= 2 or filled == [False, True]) and not str(row[0]).startswith("# ")


def _is_fuller(rows: Sequence[Sequence[Any]], first: int, at: int) -> bool:
    """Whether a further row names columns that a first one has no names of their own for.

    That one is a remark of several cells, or names groups of columns.

    Below names stand values: other ones, and as many as there are names. Remarks stand at the top only.
    """
    row, above = rows[at], rows[first]
    gaps = len(above) < len(row) or any(not _is_there(cell) for cell in above[1:])
    gaps = gaps or (len({*map(str, above)}) < len(above) and len({*map(str, row)}) == len(row))
    if not gaps or at > REMARKS or len(row) < len(above) or not all(map(_is_there, row)) or any(map(_is_number, row)):
        return False
    below = rows[at + 1 :]
    held = [{str(one[place]).strip() for one in below if place < len(one)} for place in range(len(row))]
    return bool(below) and not any(str(cell).strip() in cells for cell, cells in zip(row, held, strict=True))


def _is_there(cell: Any) -> bool:
    return cell is not None and str(cell).strip() != ""


def _is_number(cell: Any) -> bool:
    return not isinstance(cell, str) or NUMBER.fullmatch(cell.strip()) is not None


def is_remark(line: str) -> bool:
    """Whether a line below the header is no row: a remark, a drawn line, or the count that a database ends with."""
    return line.strip().startswith("#") or is_rule([line]) or COUNT.fullmatch(line.strip()) is not None


def is_rule(cells: Sequence[Any]) -> bool:
    """Whether a row is a line that databases and Markdown draw between names and values."""
    drawn = "".join(map(str, cells)).strip()
    return len(drawn) > 2 and set(drawn) <= set("-+=:| ")


def is_data(names: Sequence[Any]) -> bool:
    """Whether what should be names are values: a table without a header."""
    return any(isinstance(name, float) or DATA.fullmatch(str(name).strip()) for name in names)
