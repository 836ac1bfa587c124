"""What a file of labels says, before anybody has looked whether it fits the campaign."""

from __future__ import annotations

import re
from dataclasses import dataclass

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
