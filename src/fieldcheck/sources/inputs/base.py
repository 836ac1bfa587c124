"""What every source of inputs is: a file or a folder, opened as items that are read when they are needed."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Protocol, runtime_checkable

from fieldcheck.core.inputs import Inputs
from fieldcheck.sources.inputs.options import Wanted


@runtime_checkable
class InputSource(Protocol):
    """A kind of files or folders that hold items.

    name, suffixes
        The word for people; how its files end, in small letters with the dot. Folders have none.
    last
        It is asked after all others, because it takes nearly anything.
    """

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    last: ClassVar[bool]

    @classmethod
    def accepts(cls, path: Path) -> bool:
        """Whether what is at this path is for this source."""
        ...

    def open(self, path: Path, wanted: Wanted) -> Inputs:
        """The items; see ``fieldcheck.sources.open_inputs`` for what may be wanted."""
        ...


class BySuffix:
    """The part of a source that is told by how its files end."""

    suffixes: ClassVar[tuple[str, ...]]
    last: ClassVar[bool] = False

    @classmethod
    def accepts(cls, path: Path) -> bool:
        return path.suffix.lower() in cls.suffixes and path.is_file()
