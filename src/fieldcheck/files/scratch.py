"""Columns of a large pool in a folder for as long as the pool is open: what was read or worked out once is not again.

A file for each column, in which every part has its place, and says that it is there when all of it is. What cannot be
written is not kept, and made again.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core.pool.column import Column, as_arrow, as_column

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

PREFIX = "fieldcheck-columns"


_HEAD = 24
"""Bytes before the values of a part: eight each for their type, how many there are, and which part it is."""


_ROOM = 32
"""Bytes of an item, at most: its value, and where it is a part alone the head. What is not used of them is a hole."""


_WORDS = b"words"


_PIECE = 1 << 20
"""Bytes that are written at once. What is given as a whole is copied into pages of megabytes, for which a virtual
machine has to ask its host anew: two to four times as long. Smaller pieces take longer to be mapped."""


_making: list[str] = []
"""What is being made in this process, the outermost first."""


@dataclass(frozen=True)
class Scratch:
    """Where steps keep columns; a machine that does not see the folder keeps none."""

    folder: Path

    @classmethod
    def beside(cls, owner: object, size: int) -> Scratch | None:
        """A folder that goes when ``owner`` goes, in the folder for temporary files; None: no room for this size."""
        place = Path(tempfile.gettempdir())
        _sweep(place)
        if shutil.disk_usage(place).free < size:
            return None
        folder = tempfile.mkdtemp(prefix=f"{PREFIX}-{os.getpid()}-")
        weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
        return cls(Path(folder))

    def get(self, slot: str, key: str, start: int, make: Callable[[], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """A column of the part that begins at ``start``, as ``core.pool.frame.KeptColumns`` has it.

        What is made on the way to another column is not kept: the other one will be asked for.
        """
        own = hashlib.sha256(f"{slot}\0{key}".encode()).hexdigest()[:16]
        place = self.folder / f"{_stem(slot)}.{own}"
        found = _read(place, start)
        if found is None:
            _making.append(slot)
            try:
                found = np.ascontiguousarray(make())
            finally:
                _making.pop()
            if not _making:
                with suppress(OSError):
                    self._write(place, start, found)
        return found

    def _write(self, place: Path, start: int, values: npt.NDArray[Any]) -> None:
        """The head comes last: where a process is killed before, nothing is there."""
        try:
            at = os.open(place, os.O_WRONLY)
        except FileNotFoundError:
            at = os.open(place, os.O_WRONLY | os.O_CREAT, 0o600)
            for other in self.folder.glob(f"{place.stem}.*"):
                if other != place:
                    other.unlink(missing_ok=True)
        try:
            if os.pwrite(at, values.data, _ROOM * start + _HEAD) == values.nbytes:
                kind, count = values.dtype.str.ljust(8).encode(), len(values).to_bytes(8, "little")
                os.pwrite(at, kind + count + _mark(place, start), _ROOM * start)
        finally:
            os.close(at)

    def put(self, start: int, columns: Mapping[str, Column], words: Sequence[str] = ()) -> None:
        """Columns of the rows from ``start`` on, and some words about them."""
        import pyarrow as pa

        table = pa.table({name: as_arrow(column) for name, column in columns.items()})
        schema = table.schema.with_metadata({_WORDS: json.dumps(list(words))})
        place = self._rows(start)
        temporary = place.with_name(f"{place.name}.{os.getpid()}")
        try:
            with _InPieces(io.FileIO(temporary, "w")) as sink, pa.ipc.new_file(sink, schema) as writer:
                writer.write_table(table)
            os.replace(temporary, place)
        except OSError:
            temporary.unlink(missing_ok=True)

    def taken(self, start: int) -> tuple[Mapping[str, Column], tuple[str, ...]] | None:
        """What was put there, read as far as it is looked at; None: nothing."""
        import pyarrow as pa

        try:
            with pa.memory_map(str(self._rows(start))) as source:
                table = pa.ipc.open_file(source).read_all()
        except OSError:
            return None
        words = json.loads(table.schema.metadata[_WORDS])
        return {name: as_column(table.column(name), name) for name in table.column_names}, tuple(words)

    def _rows(self, start: int) -> Path:
        return self.folder / f"rows-{start}.arrow"


class _InPieces(io.BufferedWriter):
    """A file that columns are written to piece by piece."""

    def write(self, content: ReadableBuffer) -> int:
        every = memoryview(content).cast("B")
        for first in range(0, len(every), _PIECE):
            super().write(every[first : first + _PIECE])
        return len(every)


def _stem(slot: str) -> str:
    """Of a file's name: letters, digits and lines, which no other slot has."""
    return "".join(one if one.isalnum() and one.isascii() else f"_{ord(one):x}_" for one in slot)


def _mark(place: Path, start: int) -> bytes:
    """Nothing else looks like it."""
    return hashlib.blake2b(f"{place.name} {start}".encode(), digest_size=8).digest()


def _read(place: Path, start: int) -> npt.NDArray[Any] | None:
    try:
        at = os.open(place, os.O_RDONLY)
    except OSError:
        return None
    try:
        head = os.pread(at, _HEAD, _ROOM * start)
        if head[16:] != _mark(place, start):
            return None
        kind, count = np.dtype(head[:8].decode().strip()), int.from_bytes(head[8:16], "little")
        content = os.pread(at, count * kind.itemsize, _ROOM * start + _HEAD)
    finally:
        os.close(at)
    return np.frombuffer(content, kind)


def _sweep(place: Path) -> None:
    """Take away what processes left that were killed."""
    for folder in place.glob(f"{PREFIX}-*-*"):
        number = folder.name.removeprefix(PREFIX).split("-")[1]
        if number.isdecimal() and not _runs(int(number)):
            shutil.rmtree(folder, ignore_errors=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
