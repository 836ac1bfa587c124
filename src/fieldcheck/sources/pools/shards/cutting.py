"""Cutting a pool into shards, one step each: memory is that of one shard where its files are Parquet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.engine import Engine, Loop
from fieldcheck.files.parquet import open_parquet
from fieldcheck.files.whole import whole_file
from fieldcheck.sources.pools.parquet import ParquetPools
from fieldcheck.sources.pools.shards.files import shard_name, types_of, write_shard
from fieldcheck.sources.pools.shards.manifest import CUT, Manifest, ShardFile, begun, check_unfinished
from fieldcheck.sources.pools.shards.pool_files import PoolFiles, pool_files
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
    """What all steps share: what is cut, and the folder for the shards."""

    source: PoolFiles
    folder: Path


def cut_step(rows: RowRange, cut: Cutting) -> ShardFile:
    """One shard, from some rows of the whole."""
    import pyarrow as pa

    table = pa.Table.from_batches(cut.source.batches(rows.start, rows.stop), cut.source.schema)
    table.validate(full=True)
    return write_shard(table.combine_chunks(), cut.folder / shard_name(rows.number))


def cut_pool(
    found: RawTable | PoolFiles,
    folder: Path,
    *,
    rows: int,
    asked: Mapping[str, str],
    engine: Engine,
    progress: Callable[[int, int], None] | None = None,
) -> Manifest:
    """Write a pool into a folder, so many rows a shard.

    found
        Parquet files, or what was read of a file of another format.
    asked
        What tells this pool, cut in this way, from any other.
    """
    if isinstance(found, RawTable) and not len(next(iter({**found.columns, **found.matrices}.values()), ())):
        raise found.origin.error("the pool is empty", rule="a pool has at least one item")
    with begun(folder, CUT, asked):
        check_unfinished(folder, CUT, asked)  # somebody else may have come to the end meanwhile
        try:
            source = _written(found, folder / WHOLE) if isinstance(found, RawTable) else found
            ranges, shards = row_ranges(sum(source.sizes), rows), list[ShardFile]()
            for shard in engine.map(cut_step, ranges, Cutting(source, folder)):
                shards.append(shard)
                if progress is not None:
                    progress(len(shards), len(ranges))
            with open_parquet(folder / shards[0].file, PoolError) as first:
                types = types_of(first.schema_arrow)  # not all are read as they were written
            manifest = Manifest(types, shards, source.index, source.names, source.notes)
            manifest.write(folder)
        finally:
            (folder / WHOLE).unlink(missing_ok=True)
    return manifest


def _written(table: RawTable, place: Path) -> PoolFiles:
    """A table as a Parquet file, which is then cut."""
    with whole_file(place) as temporary:
        ParquetPools().write(_as_arrow(table), temporary)
    return replace(pool_files(place, Loop()), names=_names(table), index=table.rows)


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
