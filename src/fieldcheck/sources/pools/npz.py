"""npz: one array per column, probabilities as a matrix. Nothing is unpickled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.column import as_column, closest
from fieldcheck.core.pool.origin import Origin
from fieldcheck.files import npz
from fieldcheck.sources.roles import RECOGNISED, ColumnMap
from fieldcheck.sources.table import RawTable


@dataclass(frozen=True)
class NpzPools:
    """Arrays as numpy.savez writes them, one a column."""

    name: ClassVar[str] = "npz"
    suffixes: ClassVar[tuple[str, ...]] = (".npz",)

    def read(self, path: Path, columns: ColumnMap, *, encoding: str | None) -> RawTable:
        """The arrays of an npz file; ``encoding`` is for text files and not looked at.

        A matrix named as probabilities are, or mapped as such, is taken, an array ``classes`` as the names of its
        columns; other arrays that are not flat are left out, with a note.
        """
        origin = Origin(file=str(path))
        with npz.open_npz(path, PoolError) as file:
            sizes = {name: len(header.shape) for name, header in file.headers.items()}
            matrix_name = _matrix_name(sizes, columns.get("probabilities"), origin)
            used = [name for name, dimensions in sizes.items() if dimensions == 1 or name == matrix_name]
            arrays = file.read(used)
        matrices = {matrix_name: arrays.pop(matrix_name)} if matrix_name else {}
        classes = arrays.pop("classes", None) if matrices else None
        left = (f"'{name}' is left out: it has {n} dimensions" for name, n in sizes.items() if name not in used)
        return RawTable(
            {name: as_column(values, name) for name, values in arrays.items()},
            origin,
            matrices=matrices,
            names={} if classes is None or matrix_name is None else {matrix_name: [str(name) for name in classes]},
            form="npz",
            notes=tuple(left),
        )


def _matrix_name(sizes: Mapping[str, int], given: str | None, origin: Origin) -> str | None:
    if given is not None:
        return closest(given, sizes, origin=origin)
    wanted = RECOGNISED["probabilities"]
    return next((name for name, dimensions in sizes.items() if dimensions == 2 and name.lower() in wanted), None)
