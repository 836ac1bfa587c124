"""npz: one array per column, probabilities as a matrix. Nothing is unpickled."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.column import as_column, closest
from fieldcheck.core.pool.origin import Origin
from fieldcheck.sources.pools.base import Reading
from fieldcheck.sources.roles import RECOGNISED, ColumnMap, assign

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class NpzPools:
    """Arrays as numpy.savez writes them, one a column."""

    name: ClassVar[str] = "npz"
    suffixes: ClassVar[tuple[str, ...]] = (".npz",)

    def read(self, path: Path, columns: ColumnMap, *, truth: str | None, encoding: str | None) -> Reading:
        """The arrays of an npz file by their part; ``encoding`` is for text files and not looked at.

        A matrix named as probabilities are, or mapped as such, is taken as such, an array ``classes`` as the
        names of its columns; other arrays that are not flat are left out, with a note.
        """
        arrays = _arrays(path)
        origin = Origin(file=str(path))
        matrix_name = _matrix_name(arrays, columns.get("probabilities"), origin)
        matrix = arrays.pop(matrix_name) if matrix_name else None
        classes = arrays.pop("classes", None) if matrix is not None else None
        flat = {name: as_column(values, name) for name, values in arrays.items() if values.ndim == 1}
        mapped = {role: name for role, name in columns.items() if role != "probabilities"}
        roles, named, notes = assign(flat, mapped, truth=truth, origin=origin)
        if matrix is not None:
            roles = replace(roles, probabilities=matrix, classes=None if classes is None else [str(c) for c in classes])
            named = replace(named, columns={**named.columns, "probabilities": matrix_name or ""})
        left = tuple(f"'{name}' is left out: it has {v.ndim} dimensions" for name, v in arrays.items() if v.ndim != 1)
        return roles, named, notes + left


def _matrix_name(arrays: Mapping[str, Array], given: str | None, origin: Origin) -> str | None:
    if given is not None:
        return closest(given, arrays, origin=origin)
    wanted = RECOGNISED["probabilities"]
    return next((name for name, v in arrays.items() if v.ndim == 2 and name.lower() in wanted), None)


def _arrays(path: Path) -> dict[str, Array]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist()]
            return {name: _array(path, archive, name) for name in names}
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError, RuntimeError) as error:
        raise PoolError(
            f"{path} cannot be read as npz: {str(error).splitlines()[0] if str(error) else 'it is cut off'}",
            rule="a complete file as numpy.savez writes it",
            hint="write it again; a download may have been cut off",
        ) from error


def _array(path: Path, archive: zipfile.ZipFile, name: str) -> Array:
    entry = next(one for one in archive.infolist() if one.filename.removesuffix(".npy") == name)
    with archive.open(entry) as stream:
        version = np.lib.format.read_magic(stream)
        header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = header(stream)
        _check_array(path, name, dtype=dtype, promised=math.prod(shape) * dtype.itemsize, held=entry.file_size)
    with archive.open(entry) as stream:
        return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))


def _check_array(path: Path, name: str, *, dtype: np.dtype[Any], promised: int, held: int) -> None:
    """Refuse before any memory is asked for: the header of an array may promise more than the file holds."""
    if dtype.hasobject:
        raise PoolError(
            f"{path}: the array '{name}' holds Python objects",
            rule="nothing is unpickled: a pickle can run any code",
            hint=f"store {name} as numbers or as text: np.asarray({name}, dtype=str)",
        )
    if not 0 <= promised <= held:
        raise PoolError(
            f"{path}: the array '{name}' promises {promised:,} bytes, the file holds {held:,}",
            rule="a complete file as numpy.savez writes it",
        )
