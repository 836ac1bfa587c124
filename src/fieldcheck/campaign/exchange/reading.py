"""Files of labels, as people and other programs write them: read piece by piece, so that a huge file does no harm.

A reader yields what each line says, or why it cannot be taken; whether it fits the campaign is found out later.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from fieldcheck.campaign.exchange.base import Fault, LabelLine
from fieldcheck.campaign.exchange.csv import read_csv
from fieldcheck.campaign.exchange.label_studio import read_tasks
from fieldcheck.core.errors import LabelError
from fieldcheck.files.text import open_text


def read_lines(path: Path, *, encoding: str | None = None) -> Iterator[LabelLine | Fault]:
    """The lines of a CSV or TSV file, or the tasks of a Label Studio export, one after the other."""
    # A byte that is no text becomes a lone surrogate: its line is named, the others are read.
    with open_text(path, encoding, LabelError, errors="surrogateescape") as stream:
        _refuse_empty(stream, path)
        reader = read_tasks if _is_json(stream) else read_csv
        yield from reader(stream, path)


def _refuse_empty(stream: TextIO, path: Path) -> None:
    if not stream.read(4096).strip():
        raise LabelError(f"{path} is empty", rule="a header with id and label, and one line per item")
    stream.seek(0)


def _is_json(stream: TextIO) -> bool:
    start = stream.read(4096).lstrip()
    stream.seek(0)
    return start[:1] in ("[", "{")
