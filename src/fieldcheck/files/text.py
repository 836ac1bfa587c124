"""Text in any encoding, and long cells in CSV files."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TextIO, cast

from fieldcheck.core.errors import FieldcheckError

UTF8 = "utf-8-sig"

WIDE = (b"\xff\xfe", b"\xfe\xff")
"""Byte-order marks of UTF-16."""

WIDEST = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)

WITHOUT_MARK: dict[tuple[bool, ...], str] = {
    (True, False, True, False): "utf-16-le",
    (False, True, False, True): "utf-16-be",
}
"""Which of the first bytes are not 0."""

GZIP = b"\x1f\x8b"
DAMAGED = (OSError, EOFError, zlib.error)
"""What reading a file raises whose bytes cannot be had, or cannot be unpacked."""

NOT_TEXT = {b"PK\x03\x04": "a spreadsheet or a zip file", b"SQLite f": "a database", b"PAR1": "a Parquet file"}

USUAL_CELL = csv.field_size_limit()
"""Characters of a cell that Python reads unless it is told otherwise."""

_LIMIT = threading.RLock()  # reentrant: a file that is dropped half read may be closed at any moment

_WANTED: list[int] = []
"""Characters that the files which are being read want allowed."""


@contextmanager
def long_cells(longest: int) -> Iterator[None]:
    """Cells of so many characters can be read: items may be whole documents, and Python's own limit is short.

    The limit is one for the whole process. It holds as long as any file is half read, and is put back then: what others
    read must not depend on what was read here.
    """
    with _LIMIT:
        _WANTED.append(longest)
        csv.field_size_limit(max(USUAL_CELL, *_WANTED))
    try:
        yield
    finally:
        with _LIMIT:
            _WANTED.remove(longest)
            csv.field_size_limit(max([USUAL_CELL, *_WANTED]))


@contextmanager
def open_text(
    path: Path, encoding: str | None, error: type[FieldcheckError], *, errors: str = "strict"
) -> Iterator[TextIO]:
    """The file as text: in UTF-8, with a byte-order mark or without, unless told otherwise.

    errors
        As Python has it: ``surrogateescape`` makes a lone surrogate of a byte that is no text.
    """
    with (
        reading_text(path, encoding, error),
        path.open(encoding=encoding or UTF8, errors=errors, newline="") as stream,
    ):
        yield stream


@contextmanager
def unpacked_bytes(path: Path) -> Iterator[IO[bytes]]:
    """The file, as it was before it was compressed."""
    with path.open("rb") as stream:
        packed = stream.read(len(GZIP)) == GZIP
        stream.seek(0)
        if not packed:
            yield stream
            return
        with gzip.open(stream) as plain:
            yield cast(IO[bytes], plain)


@contextmanager
def unpacked(path: Path, encoding: str) -> Iterator[TextIO]:
    """The same as text, with its line ends as they are."""
    with unpacked_bytes(path) as stream, io.TextIOWrapper(stream, encoding=encoding, newline="") as text:
        yield text


def wide(path: Path) -> str | None:
    """UTF-16 or UTF-32 where a byte-order mark, or zeros in every second byte, say so; None elsewhere."""
    try:
        with unpacked_bytes(path) as stream:
            start = stream.read(4)
        if start.startswith(WIDE):
            return "utf-32" if start in WIDEST else "utf-16"
        return WITHOUT_MARK.get(tuple(map(bool, start)))
    except DAMAGED:  # whoever reads on says so
        return None


def encoding_words(path: Path, encoding: str | None) -> str:
    """The encoding for people."""
    if encoding is not None:
        return encoding.upper()
    with unpacked_bytes(path) as stream:
        return "UTF-8 with BOM" if stream.read(3) == codecs.BOM_UTF8 else "UTF-8"


@contextmanager
def reading_text(path: Path, encoding: str | None, error: type[FieldcheckError]) -> Iterator[None]:
    """Around whatever reads a text file: what is no text in this encoding is refused, with the byte and its line."""
    try:
        codecs.lookup(encoding or UTF8)
        _check_start(path, encoding, error)
        yield
    except FileNotFoundError:
        raise error(f"{path}: not found", rule="a file that is there", hint="check its name and folder") from None
    except LookupError as problem:
        if isinstance(problem, IndexError | KeyError):
            raise
        rule = "an encoding that Python knows"
        raise error(f"{path}: no encoding '{encoding}'", rule=rule, hint="--encoding latin-1") from None
    except UnicodeError as problem:
        raise error(
            f"{path} is not text in {encoding or 'UTF-8'}{_where(path, encoding, problem)}",
            rule="text files are read as UTF-8 unless told otherwise",
            hint="another --encoding"
            if encoding
            else "--encoding latin-1, or whatever it was written with (Excel on Windows: --encoding cp1252)",
        ) from problem
    except DAMAGED as problem:
        said = getattr(problem, "strerror", "") or "it is not whole"
        raise error(f"{path}: cannot be read ({said})", rule="a text file") from problem


def _check_start(path: Path, encoding: str | None, error: type[FieldcheckError]) -> None:
    with unpacked_bytes(path) as stream:
        start = stream.read(4096)
    kind = next((words for magic, words in NOT_TEXT.items() if start.startswith(magic)), None)
    if kind is not None:
        raise error(f"{path} is {kind}", rule="a text file: CSV, or JSON", hint="save it as CSV UTF-8")
    if encoding is None and (start.startswith(WIDE) or b"\0" in start):
        raise error(
            f"{path} is not text in UTF-8: byte {max(start.find(0), 0):,} (line 1) looks like UTF-16",
            rule="text files are read as UTF-8 unless told otherwise",
            hint="--encoding utf-16 (or --encoding latin-1, or whatever the file was written with)",
        )


def _where(path: Path, encoding: str | None, problem: UnicodeError) -> str:
    """Byte (from 0) and line (from 1) that cannot be decoded; a stream only knows its own buffer."""
    if not isinstance(problem, UnicodeDecodeError):
        return ""
    with unpacked_bytes(path) as stream:
        content = stream.read()
    try:
        content.decode(encoding or "utf-8")
        start = problem.start
    except UnicodeDecodeError as whole:
        start = whole.start
    line = content.count(b"\n", 0, start) + 1
    return f": byte {start:,} (line {line:,})"
