"""Cutting a pool in one file into shards, one step each: memory is that of one shard where the file is Parquet."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.engine import Engine
from fieldcheck.files.damage import decoding
from fieldcheck.files.parquet import open_parquet
from fieldcheck.files.places import readable
from fieldcheck.files.whole import whole_file
from fieldcheck.sources.pools.manifest import Manifest, ShardFile
from fieldcheck.sources.pools.parquet import ParquetPools, said_in
from fieldcheck.sources.pools.shards import shard_name, types_of, write_shard
from fieldcheck.sources.table import RawTable

OURS = re.compile(r"\..*|\d{6}\.parquet")
"""Names of shards, and of what a writer who was killed left."""


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
    engine: Engine,
    progress: Callable[[int, int], None] | None = None,
) -> Manifest:
    """Write a pool into a folder, so many rows a shard.

    table
        A Parquet file, or what was read of another one.
    """
    check_free(folder)
    folder.mkdir(parents=True, exist_ok=True)
    source = table if isinstance(table, Path) else folder / WHOLE
    try:
        if isinstance(table, RawTable):
            with whole_file(source) as place:
                ParquetPools().write(_as_arrow(table), place)
        with open_parquet(source, PoolError) as file:
            schema, size = file.schema_arrow, file.metadata.num_rows
        ranges, shards = row_ranges(size, rows), list[ShardFile]()
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


def check_free(folder: Path) -> None:
    """Refuse a folder that holds anything but the shards of a command that did not come to its end."""
    if not folder.exists():
        return
    strange = [folder] if folder.is_file() else [one for one in folder.iterdir() if not OURS.fullmatch(one.name)]
    if strange:
        raise PoolError(
            f"{folder} is there already" + ("" if strange == [folder] else f", with {strange[0].name} in it"),
            rule="shards go into a folder of their own and are not written over: campaigns may rest on them",
            hint="another folder, or remove this one",
        )


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
