"""Files of labels, as people and other programs write them: read piece by piece, so that a huge file does no harm.

A reader yields what each line says, or why it cannot be taken; whether it fits the campaign is found out later.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from fieldcheck.campaign.exchange.base import Fault, LabelLine
from fieldcheck.campaign.exchange.formats import recognised
from fieldcheck.core.errors import LabelError

UTF8 = "utf-8-sig"


_NOT_TEXT = {b"PK\x03\x04": "a spreadsheet or a zip file", b"SQLite f": "a database", b"PAR1": "a Parquet file"}


_WIDE = (b"\xff\xfe", b"\xfe\xff")


def read_lines(path: Path, *, encoding: str | None = None) -> Iterator[LabelLine | Fault]:
    """What a file says, line by line or task by task, in any of the formats."""
    with _opened(path, encoding) as stream:
        start = stream.read(4096)
        stream.seek(0)
        yield from recognised(start).read(stream, path)


@contextmanager
def _opened(path: Path, encoding: str | None) -> Iterator[TextIO]:
    """The file as text. A byte that is no text becomes a lone surrogate: its line is named, the others are read."""
    _check_encoding(encoding or UTF8)
    try:
        _check_text(path, encoding)
        with path.open(encoding=encoding or UTF8, errors="surrogateescape", newline="") as stream:
            yield stream
    except FileNotFoundError:
        raise LabelError(f"{path}: not found", rule="a file of labels", hint="check its name and folder") from None
    except UnicodeError as error:
        raise LabelError(
            f"{path} is not text in {encoding or 'UTF-8'} ({error})", hint="--encoding with what it was written in"
        ) from None
    except OSError as error:
        raise LabelError(f"{path}: cannot be read ({error.strerror})", rule="a CSV or JSON file") from None


def _check_encoding(encoding: str) -> None:
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise LabelError(
            f"no encoding '{encoding}'", rule="an encoding that Python knows", hint="--encoding latin-1"
        ) from None


def _check_text(path: Path, encoding: str | None) -> None:
    with path.open("rb") as stream:
        start = stream.read(4096)
    kind = next((words for magic, words in _NOT_TEXT.items() if start.startswith(magic)), None)
    if kind is not None:
        raise LabelError(f"{path} is {kind}", rule="labels come as CSV or JSON", hint="save it as CSV UTF-8")
    if encoding is None and (start.startswith(_WIDE) or b"\0" in start):
        raise LabelError(
            f"{path} is not text in UTF-8",
            rule="files are read as UTF-8 unless told otherwise",
            hint="--encoding utf-16",
        )
    if not start.strip(b"\xef\xbb\xbf \t\r\n"):
        raise LabelError(f"{path} is empty", rule="a header with id and label, and one line per item")
