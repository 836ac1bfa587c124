"""npz: one array per column, probabilities as a matrix. Nothing is unpickled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.column import as_column, closest
from fieldcheck.core.pool.origin import Origin
from fieldcheck.files import npz
from fieldcheck.sources.pools.base import Reading
from fieldcheck.sources.roles import RECOGNISED, ColumnMap, assign


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
        origin = Origin(file=str(path))
        with npz.open_npz(path, PoolError) as file:
            sizes = {name: len(header.shape) for name, header in file.headers.items()}
            matrix_name = _matrix_name(sizes, columns.get("probabilities"), origin)
            used = [name for name, dimensions in sizes.items() if dimensions == 1 or name == matrix_name]
            arrays = file.read(used)
        matrix = arrays.pop(matrix_name) if matrix_name else None
        classes = arrays.pop("classes", None) if matrix is not None else None
        flat = {name: as_column(values, name) for name, values in arrays.items()}
        mapped = {role: name for role, name in columns.items() if role != "probabilities"}
        roles, named, notes = assign(flat, mapped, truth=truth, origin=origin)
        if matrix is not None:
            roles = replace(roles, probabilities=matrix, classes=None if classes is None else [str(c) for c in classes])
            named = replace(named, columns={**named.columns, "probabilities": matrix_name or ""})
        left = tuple(f"'{name}' is left out: it has {n} dimensions" for name, n in sizes.items() if name not in used)
        return roles, named, notes + left


def _matrix_name(sizes: Mapping[str, int], given: str | None, origin: Origin) -> str | None:
    if given is not None:
        return closest(given, sizes, origin=origin)
    wanted = RECOGNISED["probabilities"]
    return next((name for name, dimensions in sizes.items() if dimensions == 2 and name.lower() in wanted), None)
