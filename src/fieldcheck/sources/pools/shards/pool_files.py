"""Parquet files that are one pool together: a single one, shards, a folder as Spark and Dask write it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fieldcheck.core import words
from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool import watching
from fieldcheck.core.pool.engine import Engine, Loop
from fieldcheck.core.pool.origin import Origin
from fieldcheck.files.damage import decoding
from fieldcheck.files.parquet import open_parquet
from fieldcheck.files.places import readable
from fieldcheck.sources.pools.parquet import ParquetPools, said_in
from fieldcheck.sources.pools.shards.folders import files_in, said_by
from fieldcheck.sources.pools.shards.manifest import (
    FILE,
    check_shard,
    is_begun_at_all,
    read_manifest,
    stamp,
    without_manifest,
)
from fieldcheck.sources.table import check_names


@dataclass(frozen=True)
class PoolFile:
    """A file with some rows of the pool.

    said
        By column, what its folders say of all its rows: ``country=de``, as Spark and Hive name them.
    digest
        Of a shard: what its manifest says.
    """

    path: Path
    said: Mapping[str, str | None] = field(default_factory=dict)
    digest: str = ""


@dataclass(frozen=True, eq=False)
class PoolFiles:
    """All files, in their order, as one table of the pool.

    sizes
        Rows of each.
    schema
        The types that the columns of all of them fit into.
    """

    files: Sequence[PoolFile]
    sizes: Sequence[int]
    schema: Any
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    index: str | None = None
    notes: tuple[str, ...] = ()

    def batches(self, start: int, stop: int) -> Iterator[Any]:
        """The rows from ``start`` up to ``stop``."""
        at = 0
        for part, size in zip(self.files, self.sizes, strict=True):
            if at < stop and start < at + size:
                yield from self._of(part, max(start - at, 0), min(stop - at, size))
            at += size

    def _of(self, part: PoolFile, start: int, stop: int) -> Iterator[Any]:
        from pyarrow import parquet

        with (
            decoding(part.path, PoolError, kind="Parquet", rule="a complete Parquet file"),
            parquet.ParquetFile(readable(part.path), memory_map=True) as source,
        ):
            at, groups, first = 0, [], None
            for group in range(source.metadata.num_row_groups):
                rows = source.metadata.row_group(group).num_rows
                if at < stop and start < at + rows:
                    groups.append(group)
                    first = at if first is None else first
                at += rows
            at = first or 0
            for batch in source.iter_batches(row_groups=groups):
                begin, end = max(start - at, 0), min(stop - at, len(batch))
                at += len(batch)
                if begin < end:
                    yield self._fitted(batch.slice(begin, end - begin), part)

    def _fitted(self, batch: Any, part: PoolFile) -> Any:
        """With the columns that its folders name, all in the types of the whole."""
        import pyarrow as pa

        for name, value in part.said.items():
            if name not in batch.schema.names:
                batch = batch.append_column(name, pa.repeat(pa.scalar(value, pa.string()), len(batch)))
        if batch.schema.equals(self.schema):
            return batch
        try:
            return batch.select(self.schema.names).cast(self.schema)
        except pa.ArrowException as error:
            raise _other(part.path, str(error).splitlines()[0]) from None


READABLE = "files that are there, and can be read"


def pool_files(place: Path, engine: Engine) -> PoolFiles:
    """What a Parquet file or a folder of such files holds; each is opened once."""
    if not place.is_dir():
        return _together([PoolFile(place)], engine)
    return _listed(place, engine) if (place / FILE).is_file() else _found(place, engine)


def told_apart(place: Path) -> str:
    """A file, or the files of a folder, by their names, sizes and times."""
    if not place.is_dir() or (place / FILE).is_file():
        return stamp(place / FILE if place.is_dir() else place)
    every = [stamp(one) for one in files_in(place)]
    total = hashlib.sha256("\n".join(every).encode()).hexdigest()
    return f"{place}, {words.counted(len(every), 'file')}, {total[:16]}"


def _listed(place: Path, engine: Engine) -> PoolFiles:
    """Shards, as their manifest says."""
    listed = read_manifest(place)
    found = _together([PoolFile(place / one.file, digest=one.digest) for one in listed.shards], engine)
    return replace(found, names=listed.names, index=listed.index, notes=tuple(listed.notes))


def _found(place: Path, engine: Engine) -> PoolFiles:
    """Whatever Parquet files lie in a folder that no shards were begun in."""
    if is_begun_at_all(place):
        raise without_manifest(place)
    every = files_in(place)
    files = [one for one in every if one.name.lower().endswith(ParquetPools.suffixes)]
    if not files:
        raise PoolError(f"no Parquet files in {place}", rule="a folder of shards, or of Parquet files", hint="a file")
    found = _together([PoolFile(one, said_by(one.relative_to(place))) for one in files], engine)
    others = [one.name for one in every if not one.name.lower().endswith(ParquetPools.suffixes)]
    if not others:
        return found
    note = f"{words.counted(len(others), 'other file')} not looked at, such as {others[0]}"
    return replace(found, notes=(note,))


def measured(part: PoolFile, _: None) -> tuple[int, Any]:
    """A step: the rows of a file, and the types of its columns, with those that its folders name."""
    import pyarrow as pa

    if part.digest:
        check_shard(part.path, part.digest)
    try:
        part.path.open("rb").close()
    except OSError as error:
        raise Origin(file=str(part.path)).error((error.strerror or "cannot be read").lower(), rule=READABLE) from None
    with open_parquet(part.path, PoolError) as source:
        schema = source.schema_arrow
        check_names(schema.names, Origin(file=str(part.path)))
        for name in part.said:
            schema = schema if name in schema.names else schema.append(pa.field(name, pa.string()))
        return int(source.metadata.num_rows), schema


def _together(files: Sequence[PoolFile], engine: Engine) -> PoolFiles:
    looked = watching.counted((engine if len(files) > 1 else Loop()).map(measured, files, None), len(files))
    kept = [(part, rows, schema) for part, (rows, schema) in zip(files, looked, strict=True) if rows]
    if not kept:
        raise Origin(file=str(files[0].path)).error("the pool is empty", rule="a pool has at least one item")
    schema = _common({part.path: schema for part, _, schema in kept})
    names, index = said_in(schema)
    return PoolFiles([part for part, *_ in kept], [rows for _, rows, _ in kept], schema, names, index)


def _common(schemas: Mapping[Path, Any]) -> Any:
    """The types that fit all files; an error names the first file that does not go with those before it."""
    import pyarrow as pa

    (first, common), *others = schemas.items()
    for path, own in others:
        strange = sorted({*own.names} ^ {*common.names})
        if strange:
            raise _other(path, f"only one of {path.name} and {first.name} has {', '.join(strange[:5])}")
        if said_in(own)[0] != said_in(common)[0]:
            raise _other(path, f"numbers stand for other classes than in {first.name}")
        if own.equals(common):
            continue
        try:
            common = pa.unify_schemas([_uncoded(common), _uncoded(own)], promote_options="permissive")
        except pa.ArrowException as error:
            raise _other(path, str(error).splitlines()[0]) from None
    return common


def _uncoded(schema: Any) -> Any:
    """With texts in the place of codes into a dictionary, of which each file has its own, or none."""
    import pyarrow as pa

    for at, one in enumerate(schema):
        if pa.types.is_dictionary(one.type):
            schema = schema.set(at, one.with_type(one.type.value_type))
    return schema


def _other(path: Path, problem: str) -> PoolError:
    return PoolError(
        f"{path}: {problem}",
        rule="the files of a folder are one table: the same columns, of types that go together",
        hint="a folder with the files of one run only",
    )
