"""What a file of labels says, before anybody has looked whether it fits the campaign."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol, TextIO, runtime_checkable

from fieldcheck.campaign.items import Content

LABEL = "label"

OURS = frozenset({"id", "fieldcheck_id", "prediction", LABEL, "reason", "remark", "annotator", "by"})
"""Columns that mean something when a file is read again."""

LONGEST = 1 << 24
"""Characters of one line, cell or task; more are not read."""

LONGEST_NAME, LONGEST_REASON = 1_000, 5_000
"""Characters of an id, a label or somebody's name; of a reason."""


# Lone surrogates stand for bytes that could not be decoded; no store can keep them, nor a zero byte.
_UNREADABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True)
class LabelLine:
    """What a file says about one item.

    where
        ``line 7`` or ``task 3``.
    item, text
        The id and the label as they are written there; no label: nobody has answered yet.
    by
        Who answered, where the file says so.
    skipped, reason
        True where the item could not be labelled, and why.
    """

    where: str
    item: str
    text: str
    by: str = ""
    skipped: bool = False
    reason: str = ""


@dataclass(frozen=True)
class Fault:
    """A piece of a file that cannot be taken, and why."""

    where: str
    problem: str

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}"


def readable(line: LabelLine) -> LabelLine | Fault:
    """The line, unless it holds bytes that are no text, or whole paragraphs where a name is expected."""
    if any(map(_UNREADABLE.search, (line.item, line.text, line.by, line.reason))):
        return Fault(line.where, "has bytes that are not UTF-8; save the file as UTF-8, or name its --encoding")
    longest = max(map(len, (line.item, line.text, line.by)))
    if longest > LONGEST_NAME or len(line.reason) > LONGEST_REASON:
        return Fault(line.where, f"{max(longest, len(line.reason)):,} characters in one cell; is a quote missing?")
    return line


def harmless(cell: object) -> object:
    """A text cell that a spreadsheet will not run as a formula; numbers stay as they are."""
    if not isinstance(cell, str) or cell[:1] not in ("=", "+", "-", "@", "\t", "\r"):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def meant(text: str) -> str:
    """The inverse of ``harmless``."""
    return text[1:] if text[:1] == "'" and harmless(text[1:]) == text else text


def is_ours(name: str) -> bool:
    """Whether a column of this name would mean something else when the file is read again."""
    return name.strip().lower() in OURS


@dataclass(frozen=True, eq=False)
class ToLabel:
    """An item that is written to a file, to be labelled.

    file
        Of a picture, as seen from the folder of the items; empty where it is not a file.
    prediction
        What the model says; None where it is not to be shown.
    """

    item: str
    content: Content
    file: str = ""
    prediction: str | float | None = None

    def cells(self) -> dict[str, str]:
        """What there is to see, as cells of a table."""
        others = {f"{name} (item)" if is_ours(name) else name: value for name, value in self.content.pairs}
        if self.content.kind == "image":
            return {"file": self.file, **others} if self.file else others
        return {"text": self.content.text, **others} if self.content.kind == "text" else others


@runtime_checkable
class LabelFormat(Protocol):
    """A kind of file that items go out in, and labels come back in."""

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    """Of files to be written in this format."""

    @staticmethod
    def recognises(start: str) -> bool:
        """Whether a file that begins like this, without blanks before it, is of this format."""
        ...

    @staticmethod
    def read(stream: TextIO, path: Path) -> Iterator[LabelLine | Fault]:
        """What each piece of a file says, or why it cannot be taken."""
        ...

    @staticmethod
    def write(items: Sequence[ToLabel], *, by: str, base: str) -> str:
        """A file to fill in.

        by
            Whose labels they will be; empty where that is left open.
        base
            What stands before the path of a picture, for programs that show it.
        """
        ...
