"""Cutting a pool in one file into shards, one step each: memory is that of one shard where the file is Parquet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.engine import Engine
from fieldcheck.core.pool.origin import Origin
from fieldcheck.files.damage import decoding
from fieldcheck.files.parquet import open_parquet
from fieldcheck.files.places import readable
from fieldcheck.files.whole import whole_file
from fieldcheck.sources.pools.manifest import CUT, Manifest, ShardFile, begin
from fieldcheck.sources.pools.parquet import ParquetPools, said_in
from fieldcheck.sources.pools.shards import shard_name, types_of, write_shard
from fieldcheck.sources.table import RawTable

WHOLE = ".whole.parquet"
"""In the folder, while it is written: a pool of another format as one Parquet file."""


@dataclass(frozen=True)
class RowRange:
    """Rows from ``start`` up to ``stop``, which become the shard of this number."""

    number: int
    start: int
    stop: int


def row_ranges(size: int, rows: int) -> list[RowRange]:
    """All rows, ``rows`` at a time."""
    return [RowRange(at // rows, at, min(at + rows, size)) for at in range(0, size, rows)]


@dataclass(frozen=True)
class Cutting:
    """What all steps share: the Parquet file, and the folder for the shards."""

    source: Path
    folder: Path


def cut_step(rows: RowRange, cut: Cutting) -> ShardFile:
    """One shard, from some rows of the file."""
    import pyarrow as pa
    from pyarrow import parquet

    with (
        decoding(cut.source, PoolError, kind="Parquet", rule="a complete Parquet file"),
        parquet.ParquetFile(readable(cut.source), memory_map=True) as source,
    ):
        sizes = [source.metadata.row_group(at).num_rows for at in range(source.metadata.num_row_groups)]
        ends = np.cumsum(sizes)
        groups = [at for at, end in enumerate(ends) if end > rows.start and end - sizes[at] < rows.stop]
        at, found = int(ends[groups[0]] - sizes[groups[0]]), []
        for batch in source.iter_batches(row_groups=groups):
            first, last = max(rows.start - at, 0), min(rows.stop - at, len(batch))
            found += [batch.slice(first, last - first)] if first < last else []
            at += len(batch)
        table = pa.Table.from_batches(found, source.schema_arrow)
        table.validate(full=True)
    return write_shard(table.combine_chunks(), cut.folder / shard_name(rows.number))


def cut_pool(
    table: RawTable | Path,
    folder: Path,
    *,
    rows: int,
    asked: Mapping[str, str],
    engine: Engine,
    progress: Callable[[int, int], None] | None = None,
) -> Manifest:
    """Write a pool into a folder, so many rows a shard.

    table
        A Parquet file, or what was read of another one.
    asked
        What tells this pool, cut in this way, from any other.
    """
    if not _size(table):
        origin = table.origin if isinstance(table, RawTable) else Origin(file=str(table))
        raise origin.error("the pool is empty", rule="a pool has at least one item")
    begin(folder, CUT, asked)
    source = table if isinstance(table, Path) else folder / WHOLE
    try:
        if isinstance(table, RawTable):
            with whole_file(source) as place:
                ParquetPools().write(_as_arrow(table), place)
        with open_parquet(source, PoolError) as file:
            schema = file.schema_arrow
        ranges, shards = row_ranges(_size(table), rows), list[ShardFile]()
        for shard in engine.map(cut_step, ranges, Cutting(source, folder)):
            shards.append(shard)
            if progress is not None:
                progress(len(shards), len(ranges))
        names, index = said_in(schema) if isinstance(table, Path) else (_names(table), table.rows)
        manifest = Manifest(types_of(schema), shards, index, names)
        manifest.write(folder)
    finally:
        (folder / WHOLE).unlink(missing_ok=True)
    return manifest


def _size(table: RawTable | Path) -> int:
    if isinstance(table, RawTable):
        return len(next(iter({**table.columns, **table.matrices}.values()), ()))
    with open_parquet(table, PoolError) as file:
        return int(file.metadata.num_rows)


def _as_arrow(table: RawTable) -> Any:
    """A table as it was found, as Arrow's: matrices are columns of lists."""
    import pyarrow as pa

    lists = {
        name: pa.FixedSizeListArray.from_arrays(pa.array(np.asarray(matrix).ravel()), matrix.shape[1])
        for name, matrix in table.matrices.items()
    }
    return pa.table({**table.columns, **lists})


def _names(table: RawTable) -> dict[str, list[str]]:
    return {name: [str(one) for one in names] for name, names in table.names.items()}
