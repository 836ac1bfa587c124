"""Columns of a large pool in a folder for as long as the pool is open: what was read or worked out once is not again.

A file for each part of each column, written whole or not at all. What cannot be written is not kept, and made again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core.pool.column import Column, as_arrow, as_column

PREFIX = "fieldcheck-columns"


_HEAD = 40
"""Bytes before the values: eight for their type, 32 that tell by what they were made."""


_WORDS = b"words"


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
        place = self.folder / f"{re.sub(r'[^a-z0-9]', '_', slot)}-{start}"
        told = hashlib.sha256(f"{slot}\0{key}".encode()).digest()
        found = _read(place, told)
        if found is None:
            _making.append(slot)
            try:
                found = np.ascontiguousarray(make())
            finally:
                _making.pop()
            if not _making:
                with suppress(OSError):
                    _write(place, told, found)
        return found

    def put(self, start: int, columns: Mapping[str, Column], words: Sequence[str] = ()) -> None:
        """Columns of the rows from ``start`` on, and some words about them."""
        import pyarrow as pa

        table = pa.table({name: as_arrow(column) for name, column in columns.items()})
        schema = table.schema.with_metadata({_WORDS: json.dumps(list(words))})
        place = self._rows(start)
        temporary = place.with_name(f"{place.name}.{os.getpid()}")
        try:
            with pa.OSFile(str(temporary), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
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


def _read(place: Path, told: bytes) -> npt.NDArray[Any] | None:
    try:
        at = os.open(place, os.O_RDONLY)
    except OSError:
        return None
    try:
        content = os.read(at, os.fstat(at).st_size)
    finally:
        os.close(at)
    kind = np.dtype(content[:8].decode().strip())
    return np.frombuffer(content, kind, offset=_HEAD) if content[8:_HEAD] == told else None


def _write(place: Path, told: bytes, values: npt.NDArray[Any]) -> None:
    temporary = place.with_name(f"{place.name}.{os.getpid()}")
    at = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        whole = os.writev(at, [values.dtype.str.ljust(8).encode(), told, values.data]) == _HEAD + values.nbytes
    finally:
        os.close(at)
    if whole:
        os.replace(temporary, place)
    else:
        temporary.unlink()


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
