"""Parquet, column by column, so that ten million rows fit beside themselves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.origin import Origin
from fieldcheck.files.parquet import open_parquet
from fieldcheck.sources.pools.arrow import INDEX, from_arrow
from fieldcheck.sources.roles import ColumnMap
from fieldcheck.sources.table import RawTable, check_names

HUGGING_FACE = b"huggingface"
"""Where the package datasets keeps what it knows about the columns."""


@dataclass(frozen=True)
class ParquetPools:
    """One table of columns."""

    name: ClassVar[str] = "parquet"
    suffixes: ClassVar[tuple[str, ...]] = (".parquet", ".pq")

    def read(self, path: Path, columns: ColumnMap, *, encoding: str | None) -> RawTable:
        """The columns of a Parquet file; ``encoding`` is for text files and not looked at."""
        origin = Origin(file=str(path))
        with open_parquet(path, PoolError) as source:
            schema = source.schema_arrow
            check_names(schema.names, origin)
            found = {name: _column(source, name) for name in schema.names}
        names, index = said_in(schema)
        return from_arrow(found, origin, form="Parquet", names=names, rows=index)

    def write(self, table: Any, path: Path) -> None:
        """Write an Arrow table."""
        from pyarrow import parquet

        parquet.write_table(table, path)


def _column(source: Any, name: str) -> Any:
    """One column, checked: text in a damaged file may not be text."""
    column = source.read([name]).column(0)
    column.validate(full=True)
    return column


def said_in(schema: Any) -> tuple[dict[str, list[str]], str | None]:
    """What a schema says beyond types: classes by column, and the column that is pandas' index."""
    index = next((name for name in schema.names if name.startswith(INDEX)), None)
    return _class_names((schema.metadata or {}).get(HUGGING_FACE)), index


def _class_names(record: bytes | None) -> dict[str, list[str]]:
    """By column, the names of the classes that its numbers count; what cannot be read says nothing."""
    try:
        features = json.loads(record or b"{}")["info"]["features"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    if not isinstance(features, Mapping):
        return {}
    held = {name: one.get("names") for name, one in features.items() if isinstance(one, Mapping)}
    return {name: [str(one) for one in names] for name, names in held.items() if isinstance(names, list)}
