"""Where a pool came from, in the words of whoever has to mend it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fieldcheck.core.errors import PoolError
from fieldcheck.core.types import BoolArray


@dataclass(frozen=True)
class Origin:
    """The file behind a pool and the names of its columns there.

    file
        As it is shown to the user; empty for arrays.
    columns
        By role (``confidence``, ``target``, ...), the name that the user gave; ``labels`` looks like the truth, and was
        not taken for it.
    line_of
        From a position in the pool to the line in a text file; only called when something is wrong.
    item_of
        From a position to the id there, once ids are known.
    scale
        What the numbers of the confidence were.
    settings
        From a role to a column, or to ``none``: what to say to have it read in the same way again.
    source
        Tells what was read, and how, from anything else, where the files were checked; else empty.
    """

    file: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    line_of: Callable[[int], int] | None = None
    item_of: Callable[[int], str] | None = None
    scale: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    source: str = ""

    def column(self, role: str) -> str:
        """The user's name for a role."""
        return self.columns.get(role, role)

    def place(self, position: int) -> str:
        """The data row, counted from 1, and the line where there are lines."""
        row = f"row {position + 1:,}"
        return f"{row}, line {self.line_of(position):,}" if self.line_of else row

    def error(self, problem: str, *, rule: str = "", hint: str = "") -> PoolError:
        """An error that starts with the file."""
        return PoolError(f"{self.file}: {problem}" if self.file else problem, rule=rule, hint=hint)

    def refuse(
        self,
        role: str,
        bad: BoolArray,
        *,
        problem: str,
        value: Callable[[int], Any],
        rule: str = "",
        hint: str = "",
    ) -> None:
        """Raise when any item is bad, with the count, the first one, its place and its value.

        bad
            One per item: True where the value breaks the rule.
        value
            From a position to the value there.
        """
        count = int(np.count_nonzero(bad))
        if not count:
            return
        first = int(np.argmax(bad))
        who = f"'{self.item_of(first)}' " if self.item_of else ""
        raise self.error(
            f"column '{self.column(role)}' {problem} for {count:,} of {len(bad):,} items, "
            f"first {who}with {shown(value(first))} ({self.place(first)})",
            rule=rule,
            hint=hint,
        )


def shown(value: Any) -> str:
    """A value as it would stand in a file."""
    if value is None:
        return "nothing"
    plain = value.item() if isinstance(value, np.generic) else value
    return f"'{plain}'" if isinstance(plain, str) else str(plain)
