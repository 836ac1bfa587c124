"""What every format of pools is: a file with a row per item."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

from fieldcheck.sources.roles import ColumnMap
from fieldcheck.sources.table import RawTable


@runtime_checkable
class PoolFormat(Protocol):
    """A format that pools are read from.

    name, suffixes
        The word for people; how its files end, in small letters with the dot. A folder ends in ``/``.
    """

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]

    def read(self, path: Path, columns: ColumnMap, *, encoding: str | None) -> RawTable:
        """What a file holds.

        columns
            Those that were asked for, by their part: what nobody can use need not be read.
        encoding
            Of text files.
        """
        ...


@runtime_checkable
class WrittenFormat(PoolFormat, Protocol):
    """A format that pools are also written in."""

    def write(self, table: Any, path: Path) -> None:
        """Write an Arrow table, so that ``read`` gives it back."""
        ...
