"""A folder of shards: Parquet files of some rows each, and a manifest that says which and how many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.origin import Origin
from fieldcheck.files.parquet import open_parquet
from fieldcheck.files.whole import whole_file
from fieldcheck.sources.pools.arrow import from_arrow
from fieldcheck.sources.pools.shards.manifest import (
    Manifest,
    ShardFile,
    check_shard,
    digest_of,
    not_as_written,
    read_manifest,
)
from fieldcheck.sources.roles import ColumnMap
from fieldcheck.sources.table import RawTable, check_names


@dataclass(frozen=True)
class ShardedPools:
    """A folder with one Parquet file per shard. Campaigns on it and on the same pool in one file are the same."""

    name: ClassVar[str] = "shards"
    suffixes: ClassVar[tuple[str, ...]] = ("/",)

    def read(self, path: Path, columns: ColumnMap, *, encoding: str | None) -> RawTable:
        """The columns of all shards, one after the other; ``encoding`` is for text files and not looked at."""
        found = read_manifest(path)
        return table_of(path, found, found.shards)


def table_of(folder: Path, manifest: Manifest, shards: Sequence[ShardFile], *, check: bool = True) -> RawTable:
    """The columns of some shards, one after the other."""
    import pyarrow as pa

    origin = Origin(file=str(folder))
    check_names(manifest.schema, origin)
    parts = [
        {name: column.chunks for name, column in shard_columns(folder / one.file, one, manifest, check=check).items()}
        for one in shards
    ]
    arrays = {name: pa.chunked_array([chunk for part in parts for chunk in part[name]]) for name in manifest.schema}
    form = f"Parquet, {len(manifest.shards)} shards"
    return from_arrow(arrays, origin, form=form, names=manifest.names, rows=manifest.index)


def shard_columns(
    place: Path, shard: ShardFile, manifest: Manifest, wanted: Sequence[str] | None = None, *, check: bool = True
) -> Mapping[str, Any]:
    """By name its columns, if it is the shard that the manifest speaks of.

    check
        Whether its digest is looked at; it was, when the pool was opened.
    """
    check_shard(place, shard.digest if check else None)
    with open_parquet(place, PoolError) as source:
        if source.metadata.num_rows != shard.rows or types_of(source.schema_arrow) != manifest.schema:
            raise not_as_written(place, "has other rows or columns than its manifest says")
        table = source.read(None if wanted is None else list(wanted))
        if check:
            table.validate(full=True)
        return {name: table.column(name) for name in table.column_names}


def types_of(schema: Any) -> dict[str, str]:
    """By column, its type in Arrow's words."""
    return {one.name: str(one.type) for one in schema}


def shard_name(number: int) -> str:
    """The file of a shard."""
    return f"{number:06d}.parquet"


def write_shard(table: Any, place: Path) -> ShardFile:
    """Write the rows of one shard, whole or not at all."""
    from pyarrow import parquet

    with whole_file(place) as temporary:
        parquet.write_table(table, temporary, use_dictionary=few_valued(table.schema))
    return described(place, table)


def few_valued(schema: Any) -> list[str]:
    """Columns whose values may repeat: for others a dictionary of them takes most of the time of writing."""
    import pyarrow as pa

    return [one.name for one in schema if one.name not in ("id", "text") and not pa.types.is_floating(one.type)]


def described(place: Path, table: Any) -> ShardFile:
    """What the manifest says of a file that holds this table."""
    return ShardFile(place.name, len(table), digest_of(place), ranges_of(table))


def ranges_of(table: Any) -> dict[str, list[float]]:
    """By column of numbers, the smallest and the largest."""
    import pyarrow as pa
    import pyarrow.compute as pc

    numeric = [one.name for one in table.schema if pa.types.is_integer(one.type) or pa.types.is_floating(one.type)]
    found = {name: pc.min_max(table.column(name)).as_py() for name in numeric}
    # Infinity is no number of JSON.
    kept = {name: [both["min"], both["max"]] for name, both in found.items() if both["min"] is not None}
    return {name: both for name, both in kept.items() if all(abs(one) < float("inf") for one in both)}
