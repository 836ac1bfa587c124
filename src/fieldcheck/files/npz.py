"""npz files, names and shapes first: nothing is unpacked before it is known how much it is. Nothing is unpickled."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core.errors import FieldcheckError
from fieldcheck.files.damage import AGAIN, decoding
from fieldcheck.files.limits import check_size

Array = npt.NDArray[Any]

COMPLETE = "a complete file as numpy.savez writes it"

LOCAL_HEADER = 30
"""Bytes of a zip entry's header before its name; the lengths of name and extra field are at 26 and 28."""


@dataclass(frozen=True)
class Header:
    """What a file says about one of its arrays before that is read."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    entry: zipfile.ZipInfo

    @property
    def size(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


@dataclass(frozen=True)
class Npz:
    """A file that is open."""

    path: Path
    archive: zipfile.ZipFile
    headers: Mapping[str, Header]
    error: type[FieldcheckError]

    def read(self, names: Iterable[str], *, mapped: bool = False) -> dict[str, Array]:
        """These arrays; where ``mapped``, those that are not compressed stay on disk until they are used."""
        wanted = {name: self.headers[name] for name in names}
        for name, header in wanted.items():
            self._check(name, header)
        lying = {name for name, header in wanted.items() if mapped and is_plain(header)}
        check_size(self.path, sum(header.size for name, header in wanted.items() if name not in lying), self.error)
        return {name: self._map(one) if name in lying else self._unpack(one) for name, one in wanted.items()}

    def _check(self, name: str, header: Header) -> None:
        """Refuse before any memory is asked for: the header of an array may promise more than the file holds."""
        if header.dtype.hasobject:
            raise self.error(
                f"{self.path}: the array '{name}' holds Python objects",
                rule="nothing is unpickled: a pickle can run any code",
                hint=f"store {name} as numbers or as text: np.asarray({name}, dtype=str)",
            )
        if min(header.shape, default=0) < 0 or header.size > header.entry.file_size:
            raise self.error(
                f"{self.path}: the array '{name}' promises {header.size:,} bytes, "
                f"the file holds {header.entry.file_size:,}",
                rule=COMPLETE,
            )

    def _unpack(self, header: Header) -> Array:
        with self.archive.open(header.entry) as stream:
            return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))

    def _map(self, header: Header) -> Array:
        at, order = _data_offset(self.path, header.entry), "F" if header.fortran else "C"
        return np.memmap(self.path, header.dtype, "r", at, header.shape, order)  # type: ignore[call-overload, no-any-return]


def is_plain(header: Header) -> bool:
    """Whether the array can be mapped from the file."""
    return header.entry.compress_type == zipfile.ZIP_STORED and header.size > 0


@contextmanager
def open_npz(
    path: str | Path, error: type[FieldcheckError], *, rule: str = COMPLETE, hint: str = AGAIN
) -> Iterator[Npz]:
    """The file, its names and shapes known; what is wrong with it is raised as ``error``."""
    place = Path(path)
    with decoding(place, error, kind="npz", rule=rule, hint=hint), zipfile.ZipFile(place) as archive:
        headers = {one.filename.removesuffix(".npy"): _header(archive, one) for one in archive.infolist()}
        yield Npz(place, archive, headers, error)


def read_npz(
    path: str | Path, error: type[FieldcheckError], *, rule: str = COMPLETE, hint: str = AGAIN
) -> dict[str, Array]:
    """All arrays of a file."""
    with open_npz(path, error, rule=rule, hint=hint) as file:
        return file.read(file.headers)


def _header(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Header:
    with archive.open(entry) as stream:
        return Header(*_read_header(stream), entry)


def _read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(stream)
    reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    return reader(stream)


def _data_offset(path: Path, entry: zipfile.ZipInfo) -> int:
    """Where the numbers of a stored entry begin in the file: after the zip's and the array's own headers."""
    with path.open("rb") as stream:
        stream.seek(entry.header_offset)
        local = stream.read(LOCAL_HEADER)
        stream.seek(int.from_bytes(local[26:28], "little") + int.from_bytes(local[28:30], "little"), 1)
        _read_header(stream)
        return stream.tell()
