"""CSV and its like, read by Arrow as text and typed column by column.

Arrow's own type inference looks at the first block only and fails on a file with the first fraction further
down.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from fieldcheck.core import words
from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.column import Column
from fieldcheck.core.pool.origin import Origin
from fieldcheck.files import text as texts
from fieldcheck.files.limits import check_size
from fieldcheck.sources.cells import MISSING, typed, with_commas
from fieldcheck.sources.pools.layout import Layout, find_layout, is_data, is_remark
from fieldcheck.sources.roles import ROWS, ColumnMap
from fieldcheck.sources.table import RawTable, check_names

BLOCK = 1 << 23
"""Bytes that Arrow looks at in one go; a row must fit."""


START = 1 << 18
"""Characters in which the header and the first rows are looked for."""


@dataclass(frozen=True)
class CsvPools:
    """Text with something between the cells: a tab for .tsv, else whatever divides the first rows alike."""

    name: ClassVar[str] = "csv"
    suffixes: ClassVar[tuple[str, ...]] = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")

    def read(self, path: Path, columns: ColumnMap, *, encoding: str | None) -> RawTable:
        """The columns of a text file."""
        file = _File(path, encoding or texts.wide(path))
        with texts.reading_text(path, file.encoding, PoolError):
            found = file.layout()
            _check_header(path, found)
            cells, remarks = _table(file, found)
        origin = Origin(file=str(path), line_of=partial(line_of, file, found))
        names = ["", *found.names] if found.row_names else list(found.names)
        kept, notes = _without_empty(cells, [name.strip() for name in names])
        check_names(kept, origin)
        read = {name: with_commas(typed(column), between=found.delimiter) for name, column in kept.items()}
        commas = dict.fromkeys(said for _, said in read.values() if said)
        return RawTable(
            {name: column for name, (column, _) in read.items()},
            origin,
            form=", ".join([*found.words, *commas, texts.encoding_words(path, file.encoding)]),
            rows=_row_names(read),
            notes=(*notes, *remarks),
        )

    def write(self, table: Any, path: Path) -> None:
        """Write an Arrow table with a header."""
        from pyarrow import csv as arrow

        delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
        arrow.write_csv(table, path, write_options=arrow.WriteOptions(delimiter=delimiter))


@dataclass(frozen=True)
class _File:
    """A text file, compressed or not."""

    path: Path
    encoding: str | None

    def layout(self) -> Layout:
        tabs = ".tsv" in [one.lower() for one in self.path.suffixes]
        with texts.unpacked(self.path, self.encoding or texts.UTF8) as stream:
            start = stream.read(START)
        return find_layout(start, delimiter="\t" if tabs else None, cut=len(start) == START)

    def rows(self, delimiter: str, *, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
        """Rows that are not empty, with the line that each starts on, from 1; the header is among them."""
        with texts.unpacked(self.path, self.encoding or texts.UTF8) as stream:
            reader = csv.reader(stream, delimiter=delimiter, strict=strict)
            start = 1
            for row in reader:
                if row:
                    yield start, row
                start = reader.line_num + 1

    def readable(self, delimiter: str) -> Iterator[tuple[int, list[str]]]:
        """The rows up to the first that Python cannot read: its cells have a size limit that Arrow's do not have."""
        with suppress(csv.Error):
            yield from self.rows(delimiter)

    def quotes(self) -> int:
        """How many there are: without any, Arrow need not look for line ends inside cells."""
        size = quotes = 0
        with texts.unpacked_bytes(self.path) as stream:
            for part in iter(partial(stream.read, BLOCK), b""):
                size, quotes = size + len(part), quotes + part.count(b'"')
                check_size(self.path, size, PoolError)
        return quotes


def _row_names(read: dict[str, Any]) -> str | None:
    """The index that pandas writes, the row names of R."""
    return next((name for name in read if name.strip().lower() in ROWS), None)


def _check_header(path: Path, found: Layout) -> None:
    if is_data(found.names):
        raise PoolError(
            f"{path}: the first line holds values, not names: '{found.delimiter.join(found.names)[:99]}'",
            rule="the columns have names, in a line above the values",
            hint="add a first line such as " + found.delimiter.join(("id", "prediction", "confidence")),
        )


def _table(file: _File, found: Layout) -> tuple[Any, tuple[str, ...]]:
    """The cells, and what to say about lines that are no rows."""
    import pyarrow as pa

    remarks: list[str] = []
    try:
        cells = _cells(file, found, remarks)
    except pa.ArrowInvalid as error:
        if "UTF8" in str(error):
            raise UnicodeDecodeError("utf-8", b"", 0, 1, "invalid") from error
        raise _ragged(file, found, error=error) from error
    if not cells.num_rows:
        raise _no_row(file.path)
    said = (
        f"{words.counted(len(remarks), 'line')} left out that no row is, first '{remarks[0][:60]}'" if remarks else ""
    )
    return cells, (said,) if said else ()


def _cells(file: _File, found: Layout, remarks: list[str]) -> Any:
    import pyarrow as pa
    from pyarrow import csv as arrow

    width = len(found.names) + found.row_names
    numbered = [str(at) for at in range(width)]
    # What is quoted is meant: a class may be called "None".
    convert = arrow.ConvertOptions(
        column_types=dict.fromkeys(numbered, pa.string()),
        null_values=list(MISSING),
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )

    def other_width(row: Any) -> str:
        if not is_remark(row.text):
            return "error"
        remarks.append(row.text.strip())
        return "skip"

    quotes = file.quotes()
    if quotes % 2:
        _check_closed(file, found.delimiter)
    return arrow.read_csv(
        file.path,
        read_options=arrow.ReadOptions(
            encoding=file.encoding or "utf8", block_size=BLOCK, column_names=numbered, skip_rows=found.until
        ),
        parse_options=arrow.ParseOptions(
            delimiter=found.delimiter, newlines_in_values=quotes > 0, invalid_row_handler=other_width
        ),
        convert_options=convert,
    )


def _without_empty(cells: Any, names: list[str]) -> tuple[dict[str, Column], tuple[str, ...]]:
    """The columns without those that have neither a name nor a value, and without empty rows at the end."""
    kept = [at for at, name in enumerate(names) if name or cells.column(at).null_count < cells.num_rows]
    filled = cells.num_rows
    while filled > 1 and all(not cells.column(at)[filled - 1].is_valid for at in kept):
        filled -= 1
    gone = cells.num_rows - filled
    notes = (f"{gone:,} empty row{'s' if gone > 1 else ''} at the end left out",) if gone else ()
    return _named([names[at] for at in kept], [cells.column(at).slice(0, filled) for at in kept]), notes


def _named(names: list[str], columns: list[Any]) -> dict[str, Any]:
    """By name; of those that have the same, the second and further ones keep a mark until they are refused."""
    found: dict[str, Any] = {}
    for name, column in zip(names, columns, strict=True):
        found[name + " " * sum(name == one.strip() for one in found)] = column
    return found


def _check_closed(file: _File, delimiter: str) -> None:
    """Refuse a quote that is never closed: every row after it would silently become part of one cell."""
    start = 1
    try:
        for line, _ in file.rows(delimiter, strict=True):
            start = line
    except csv.Error as error:
        if "end of data" in str(error):
            raise PoolError(
                f"{file.path}: a quote is opened after line {start:,} and never closed",
                rule="quotes come in pairs; inside a quoted cell they are doubled",
            ) from error


def _ragged(file: _File, found: Layout, *, error: Exception) -> PoolError:
    width = len(found.names) + found.row_names
    for line, row in file.readable(found.delimiter):
        if line > found.until and len(row) != width and not is_remark(found.delimiter.join(row)):
            return PoolError(
                f"{file.path}, line {line:,}: {len(row)} values for {width} columns: "
                f"'{found.delimiter.join(row)[:99]}'",
                rule="every row has one value per column",
                hint="quote values that contain the delimiter; write decimal points, not commas",
            )
    if "Empty CSV" in str(error) or "too short" in str(error):
        return _no_row(file.path)
    return PoolError(f"{file.path} cannot be read as CSV: {error}", rule="one row per line, one value per column")


def _no_row(path: Path) -> PoolError:
    return PoolError(f"{path}: no row under the header", rule="a pool has at least one item")


def line_of(file: _File, found: Layout, position: int) -> int:
    """The line on which an item starts, from 1."""
    width = len(found.names) + found.row_names
    rows = (line for line, row in file.readable(found.delimiter) if line > found.until and len(row) == width)
    return next((line for at, line in enumerate(rows) if at == position), found.until + position + 1)
