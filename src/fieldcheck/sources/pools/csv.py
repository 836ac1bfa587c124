"""CSV and TSV, read by Arrow as text and typed column by column.

Arrow's own type inference looks at the first block only and fails on a file with the first fraction further
down.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.column import Column
from fieldcheck.core.pool.origin import Origin
from fieldcheck.files.text import UTF8, reading_text
from fieldcheck.sources.cells import MISSING, typed
from fieldcheck.sources.pools.base import Reading
from fieldcheck.sources.roles import ColumnMap, assign

BLOCK = 1 << 23
"""Bytes that Arrow looks at in one go; a row must fit."""


@dataclass(frozen=True)
class CsvPools:
    """Text with a delimiter: a tab for .tsv, else a comma or a semicolon, whichever the header has more of."""

    name: ClassVar[str] = "csv"
    suffixes: ClassVar[tuple[str, ...]] = (".csv", ".tsv")

    def read(self, path: Path, columns: ColumnMap, *, truth: str | None, encoding: str | None) -> Reading:
        """The columns of a text file by their part.

        The delimiter is a tab for .tsv, else a comma or a semicolon, whichever the header has more of.
        """
        with reading_text(path, encoding, PoolError):
            header, delimiter = _header(path, encoding or UTF8)
            _check_header(path, header)
            table = _table(path, header, delimiter=delimiter, encoding=encoding)
        origin = Origin(file=str(path), line_of=partial(line_of, path, delimiter=delimiter, encoding=encoding or UTF8))
        return assign(table, columns, truth=truth, origin=origin)

    def write(self, table: Any, path: Path) -> None:
        """Write an Arrow table with a header."""
        from pyarrow import csv as arrow

        delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
        arrow.write_csv(table, path, write_options=arrow.WriteOptions(delimiter=delimiter))


def _header(path: Path, encoding: str) -> tuple[list[str], str]:
    with path.open(encoding=encoding, newline="") as stream:
        line = stream.readline()
        tabs = path.suffix.lower() == ".tsv"
        delimiter = "\t" if tabs else max(",;", key=line.count)
        stream.seek(0)
        return next(filter(None, csv.reader(stream, delimiter=delimiter)), []), delimiter


def _check_header(path: Path, header: list[str]) -> None:
    counts = Counter(name.strip() for name in header)
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        raise PoolError(
            f"{path}: the column '{twice[0]}' is there {counts[twice[0]]} times (line 1)",
            rule="every column has its own name",
            hint="rename or drop one of them",
        )


def _table(path: Path, header: list[str], *, delimiter: str, encoding: str | None) -> dict[str, Column]:
    import pyarrow as pa

    try:
        cells = _cells(path, header, delimiter=delimiter, encoding=encoding)
    except pa.ArrowInvalid as error:
        if "UTF8" in str(error):
            raise UnicodeDecodeError("utf-8", b"", 0, 1, "invalid") from error
        raise _ragged(path, delimiter=delimiter, encoding=encoding or UTF8, error=error) from error
    if not cells.num_rows:
        raise _no_row(path)
    return {name.strip(): typed(cells.column(at)) for at, name in enumerate(header)}


def _cells(path: Path, header: list[str], *, delimiter: str, encoding: str | None) -> Any:
    import pyarrow as pa
    from pyarrow import csv as arrow

    # What is quoted is meant: a class may be called "None".
    convert = arrow.ConvertOptions(
        column_types=dict.fromkeys(header, pa.string()),
        null_values=list(MISSING),
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    quotes = _quotes(path)
    if quotes % 2:
        _check_closed(path, delimiter=delimiter, encoding=encoding or UTF8)
    parse = arrow.ParseOptions(delimiter=delimiter, newlines_in_values=quotes > 0)
    return arrow.read_csv(
        path,
        read_options=arrow.ReadOptions(encoding=encoding or "utf8", block_size=BLOCK),
        parse_options=parse,
        convert_options=convert,
    )


def _quotes(path: Path) -> int:
    """How many there are: without any, Arrow need not look for line ends inside cells."""
    with path.open("rb") as stream:
        return sum(part.count(b'"') for part in iter(partial(stream.read, BLOCK), b""))


def _check_closed(path: Path, *, delimiter: str, encoding: str) -> None:
    """Refuse a quote that is never closed: every row after it would silently become part of one cell."""
    start = 1
    try:
        for line, _ in _rows(path, delimiter=delimiter, encoding=encoding, strict=True):
            start = line
    except csv.Error as error:
        if "end of data" in str(error):
            raise PoolError(
                f"{path}: a quote is opened after line {start:,} and never closed",
                rule="quotes come in pairs; inside a quoted cell they are doubled",
            ) from error


def _ragged(path: Path, *, delimiter: str, encoding: str, error: Exception) -> PoolError:
    width = 0
    for line, row in _readable(path, delimiter=delimiter, encoding=encoding):
        width = width or len(row)
        if len(row) != width:
            return PoolError(
                f"{path}, line {line:,}: {len(row)} values for {width} columns: '{delimiter.join(row)[:99]}'",
                rule="every row has one value per column",
                hint="quote values that contain the delimiter; write decimal points, not commas",
            )
    if "Empty CSV" in str(error):
        return _no_row(path)
    return PoolError(f"{path} cannot be read as CSV: {error}", rule="one row per line, one value per column")


def _no_row(path: Path) -> PoolError:
    return PoolError(f"{path}: no row under the header", rule="a pool has at least one item")


def _rows(path: Path, *, delimiter: str, encoding: str, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not empty, with the line that each starts on, from 1; the header is the first."""
    with path.open(encoding=encoding, newline="") as stream:
        reader = csv.reader(stream, delimiter=delimiter, strict=strict)
        start = 1
        for row in reader:
            if row:
                yield start, row
            start = reader.line_num + 1


def _readable(path: Path, *, delimiter: str, encoding: str) -> Iterator[tuple[int, list[str]]]:
    """The rows up to the first that Python cannot read: its cells have a size limit that Arrow's do not have."""
    with suppress(csv.Error):
        yield from _rows(path, delimiter=delimiter, encoding=encoding)


def line_of(path: Path, position: int, *, delimiter: str, encoding: str) -> int:
    """The line on which an item starts, from 1."""
    rows = _readable(path, delimiter=delimiter, encoding=encoding)
    return next((line for at, (line, _) in enumerate(rows) if at == position + 1), position + 2)
