"""Files to pools and back, one file per format, the suffix says which; and the inputs that models are run on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool import watching
from fieldcheck.core.pool.engine import Engine, Keeping, Loop
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.types import Task
from fieldcheck.files.places import place_of
from fieldcheck.sources.choosing import read_table
from fieldcheck.sources.inputs import open_inputs
from fieldcheck.sources.pools import registry
from fieldcheck.sources.pools.base import PoolFormat, WrittenFormat
from fieldcheck.sources.pools.objects import from_object
from fieldcheck.sources.pools.parquet import ParquetPools
from fieldcheck.sources.pools.shards.cutting import cut_pool
from fieldcheck.sources.pools.shards.files import ShardedPools
from fieldcheck.sources.pools.shards.folders import check_apart
from fieldcheck.sources.pools.shards.manifest import CUT, Manifest, check_unfinished, read_manifest
from fieldcheck.sources.pools.shards.pool_files import pool_files, told_apart
from fieldcheck.sources.reading import Reading
from fieldcheck.sources.roles import ColumnMap
from fieldcheck.sources.sharded import open_shards
from fieldcheck.sources.table import RawTable

__all__ = [
    "ColumnMap",
    "RawTable",
    "Reading",
    "load",
    "name_of",
    "open_inputs",
    "open_table",
    "read",
    "save",
    "shard",
    "suffixes",
]


LARGE = 4_000_000
"""Items from which on a pool in shards is not read into memory."""


def load(
    source: Any,
    *,
    columns: ColumnMap | None = None,
    task: Task | None = None,
    shift: Sequence[str] = (),
    encoding: str | None = None,
    truth: str | None = None,
    name: str = "",
    engine: Engine | None = None,
) -> Pool:
    """The pool in a file, a data frame (pandas, polars, Arrow), a dict of columns or a list of dicts.

    columns
        From a role (``id``, ``prediction``, ``confidence``, ``target``, ``outcome``, ``probabilities``) to a
        column, or to ``none``; for probabilities to what their names begin with, or to their names between commas. The
        others are recognised by their names and by what they hold. After the column of the confidence, behind a colon,
        may stand what its numbers are: ``share``, ``percent``, ``logit``, or one of two classes.
    shift
        Auxiliary variables to subtract the minimum of, so that none is negative.
    encoding
        Of a text file that is not UTF-8.
    truth
        The column of the truth: classes, numbers, or outcomes such as Pass and Fail; ``none``: leave it.
    name
        By default the stem of the file.
    engine
        Where the steps of a pool in shards run. With one, and where it is large, it stays in its files; what needs it
        in memory then reads it, if there is room.

    >>> pool = load({"id": [1, 2], "prediction": ["cat", "dog"], "score": ["61.7%", "99.9%"]})
    >>> pool.confidence.tolist()
    [0.617, 0.999]
    """
    if isinstance(source, Pool):
        return source
    if not shift and isinstance(source, str | Path) and _stays(place_of(source), engine):
        return open_shards(
            place_of(source),
            engine=engine or Loop(),
            columns=columns or {},
            truth=truth,
            task=task,
            name=name or name_of(source),
            load=lambda roles, kind: read(source, columns=roles, truth=truth).pool(name or name_of(source), kind),
        )
    found = read(source, columns=columns, encoding=encoding, truth=truth)
    pool = found.pool(name or name_of(source), task)
    return pool.shifted(shift) if shift else pool


def _stays(place: Path, engine: Engine | None) -> bool:
    """Whether a pool is looked at where it is, shard by shard."""
    return place.is_dir() and (engine is not None or read_manifest(place).rows > LARGE)


def read(
    source: Any, *, columns: ColumnMap | None = None, encoding: str | None = None, truth: str | None = None
) -> Reading:
    """How a file or an object would be read as a pool; see ``load``."""
    given = columns or {}
    if not isinstance(source, str | Path):
        return read_table(from_object(source), given, truth=truth)
    return read_table(open_table(source, given, encoding=encoding), given, truth=truth)


def open_table(path: str | Path, columns: ColumnMap | None = None, *, encoding: str | None = None) -> RawTable:
    """The columns of a file, before any of them has a part."""
    place = place_of(path)
    made = _format(place)
    _check_there(place)
    return made.read(place, columns or {}, encoding=encoding)


def name_of(source: Any) -> str:
    """What a pool is called: the stem of its file."""
    if not isinstance(source, str | Path):
        return "pool"
    return Path(Path(source).name.removesuffix(".gz")).stem


def save(pool: Pool, path: str | Path) -> None:
    """Write a pool as CSV, TSV or Parquet; ``load`` gives the same pool back.

    Whether whole numbers are classes is not written: load a regression of whole numbers with ``task="regression"``.
    """
    place = Path(path)
    target = _format(place)
    if not isinstance(target, WrittenFormat):
        raise PoolError(
            f"{place}: pools are not written as {place.suffix}", rule="written: " + ", ".join(suffixes(written=True))
        )
    import pyarrow as pa

    from fieldcheck.sources.pools.table import as_table

    try:
        target.write(as_table(pool), place)
    except (OSError, pa.ArrowException) as error:
        raise PoolError(
            f"{place} cannot be written: {str(error).splitlines()[0]}", rule="a folder that can be written to"
        ) from error


def shard(
    source: str | Path,
    folder: str | Path,
    *,
    rows: int = 1_000_000,
    engine: Engine | None = None,
    encoding: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Manifest:
    """Cut a pool into a folder of Parquet files; whatever takes the pool takes the folder.

    source
        A file, a folder of shards to cut anew, or a folder of Parquet files as Spark and Dask write it: what its
        folders say (``country=de``) becomes columns.
    rows
        Items of a file.
    engine
        Where the work is done; by default here.
    progress
        Called with the number of files looked at and that of all, then with those of the shards.
    """
    place, into = place_of(source), place_of(folder)
    made = _format(place)
    _check_there(place)
    if rows < 1:
        raise PoolError(f"shards of {rows} rows", rule="at least one", hint="--rows 1000000")
    if place.is_dir() and isinstance(made, ShardedPools):
        check_apart(place.resolve(), into.resolve())
    asked = {"pool": told_apart(place.resolve()), "rows": str(rows), "encoding": str(encoding)}
    check_unfinished(into, CUT, asked)
    runs = engine.kept() if isinstance(engine, Keeping) else engine or Loop()
    is_parquet = isinstance(made, ParquetPools | ShardedPools)
    with watching.watched(progress):
        found = pool_files(place.resolve(), runs) if is_parquet else made.read(place, {}, encoding=encoding)
    return cut_pool(found, into.resolve(), rows=rows, asked=asked, engine=runs, progress=progress)


def suffixes(*, written: bool = False) -> tuple[str, ...]:
    """How files end that pools are read from, or written to."""
    known = [made() for _, made in registry.items()]
    return tuple(one for made in known if not written or isinstance(made, WrittenFormat) for one in made.suffixes)


def _format(place: Path) -> PoolFormat:
    name = f"{place.name.lower()}/" if place.is_dir() else place.name.lower()
    for _, made in registry.items():
        if name.endswith(made.suffixes):
            return made()
    if not place.exists():
        raise PoolError(
            f"{place}: there is no such file or folder",
            rule="the pool is a file or a folder of shards that can be read",
        )
    raise PoolError(
        f"{place}: a pool cannot be read from '{place.suffix or 'a file without suffix'}'",
        rule="by suffix: " + ", ".join(suffixes()),
        hint="rename the file, or export it as CSV or Parquet",
    )


def _check_there(place: Path) -> None:
    if place.is_dir():
        return
    try:
        with place.open("rb") as stream:
            first = stream.read(1)
    except OSError as error:
        raise PoolError(
            f"{place}: {(error.strerror or 'cannot be read').lower()}",
            rule="the pool is a file that can be read",
        ) from error
    if not first:
        raise PoolError(f"{place}: the file is empty", rule="a pool has a header and at least one row")
