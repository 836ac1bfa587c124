"""Files of labels, as people and other programs write them: read piece by piece, so that a huge file does no harm.

A reader yields what each line says, or why it cannot be taken; whether it fits the campaign is found out later.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fieldcheck.campaign.exchange.base import Fault, LabelLine
from fieldcheck.campaign.exchange.formats import recognised
from fieldcheck.core.errors import LabelError
from fieldcheck.files.text import open_text


def read_lines(path: Path, *, encoding: str | None = None) -> Iterator[LabelLine | Fault]:
    """What a file says, line by line or task by task, in any of the formats."""
    # A byte that is no text becomes a lone surrogate: its line is named, the others are read.
    with open_text(path, encoding, LabelError, errors="surrogateescape") as stream:
        start = stream.read(4096)
        stream.seek(0)
        if not start.strip():
            raise LabelError(f"{path} is empty", rule="a header with id and label, and one line per item")
        yield from recognised(start).read(stream, path)
