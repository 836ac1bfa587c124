"""Parquet, column by column, so that ten million rows fit beside themselves."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.column import Column, as_column
from fieldcheck.core.pool.origin import Origin
from fieldcheck.files.parquet import open_parquet
from fieldcheck.sources.pools.base import Reading
from fieldcheck.sources.roles import ColumnMap, assign


@dataclass(frozen=True)
class ParquetPools:
    """One table of columns."""

    name: ClassVar[str] = "parquet"
    suffixes: ClassVar[tuple[str, ...]] = (".parquet", ".pq")

    def read(self, path: Path, columns: ColumnMap, *, truth: str | None, encoding: str | None) -> Reading:
        """The columns of a Parquet file by their part; ``encoding`` is for text files and not looked at."""
        with open_parquet(path, PoolError) as source:
            names = source.schema_arrow.names
            _check_names(path, names)
            table = {name: _column(source, name) for name in names}
        return assign(table, columns, truth=truth, origin=Origin(file=str(path)))

    def write(self, table: Any, path: Path) -> None:
        """Write an Arrow table."""
        from pyarrow import parquet

        parquet.write_table(table, path)


def _column(source: Any, name: str) -> Column:
    """One column, checked: text in a damaged file may not be text."""
    column = source.read([name]).column(0)
    column.validate(full=True)
    return as_column(column, name)


def _check_names(path: Path, names: list[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise PoolError(f"{path}: the column '{twice[0]}' is there twice", rule="every column has its own name")
