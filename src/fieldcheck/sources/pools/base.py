"""What every format of pools is: a file with a row per item, read as columns by their part."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

from fieldcheck.core.pool.origin import Origin
from fieldcheck.sources.roles import ColumnMap, Roles

Reading = tuple[Roles, Origin, tuple[str, ...]]
"""The columns by their part, where they stood in the file, and what the user should know."""


@runtime_checkable
class PoolFormat(Protocol):
    """A format that pools are read from.

    name, suffixes
        The word for people; how its files end, in small letters with the dot.
    """

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]

    def read(self, path: Path, columns: ColumnMap, *, truth: str | None, encoding: str | None) -> Reading:
        """The columns of a file; see ``fieldcheck.sources.load`` for what may be said about them."""
        ...


@runtime_checkable
class WrittenFormat(PoolFormat, Protocol):
    """A format that pools are also written in."""

    def write(self, table: Any, path: Path) -> None:
        """Write an Arrow table, so that ``read`` gives it back."""
        ...
