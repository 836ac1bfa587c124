"""Which files of a folder are the table in it, as Spark, Dask and Hive lay it out; what would be read wrongly is
refused."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import unquote

from fieldcheck.core.errors import PoolError
from fieldcheck.sources.pools.shards.manifest import CUT, FILE, PREDICTED

NOBODY = "__HIVE_DEFAULT_PARTITION__"
"""What a folder is called whose rows have no value there."""


PLAIN = "a folder of plain Parquet files, all of which count"


def files_in(place: Path) -> list[Path]:
    """All files of a folder and of those in it, in the order of their names. Hidden ones, and marks such as
    ``_SUCCESS``, are left out."""
    found = {one.relative_to(place).parts: one for one in _every(place)}
    for parts, one in found.items():
        _check(parts, one)
    return [found[parts] for parts in sorted(found) if not any(map(_is_hidden, parts))]


def said_by(under: Path) -> dict[str, str | None]:
    """By column, what the names of a file's folders say of all its rows: ``country=de``."""
    pairs = [name.partition("=") for name in under.parts[:-1]]
    return {name: None if value == NOBODY else unquote(value) for name, sign, value in pairs if name and sign}


def check_apart(place: Path, into: Path) -> None:
    """Refuse to write into the folder that is read: what is written would be read the next time."""
    if into.is_relative_to(place):
        raise PoolError(
            f"{into} is in {place}", rule="shards go into a folder beside the files that are cut", hint="another folder"
        )


def _every(place: Any) -> Iterator[Path]:
    if hasattr(place, "objects"):
        yield from place.objects()
        return
    for folder, folders, files in os.walk(place, onerror=_unreadable):
        for name in folders:
            if (link := Path(folder, name)).is_symlink() and not _is_hidden(name):
                raise PoolError(
                    f"{link} is a link to a folder", rule="links to folders are not followed", hint=str(link.resolve())
                )
        for one in (Path(folder, name) for name in files):
            if not one.exists() and not _is_hidden(one.name):
                raise PoolError(f"{one}: no such file, but a link to it", rule="links lead to files")
            yield one


def _unreadable(error: OSError) -> NoReturn:
    raise PoolError(
        f"{error.filename}: {(error.strerror or 'cannot be read').lower()}", rule="all folders in it can be read"
    )


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _check(parts: tuple[str, ...], one: Path) -> None:
    try:
        "".join(parts).encode()
    except UnicodeEncodeError:
        raise PoolError(
            f"{str(one)!a}: a name that is not UTF-8", rule="names in a folder of Parquet files are UTF-8"
        ) from None
    if len(parts) > 1 and parts[-1] in (FILE, CUT, PREDICTED):
        raise PoolError(f"{one}: there are shards of their own in it", rule=PLAIN, hint=str(one.parent))
    if {"_delta_log", ".hoodie"} & {*parts[:-1]} or parts[-1].endswith(".metadata.json"):
        raise PoolError(
            f"{one}: a table of Delta Lake, Hudi or Iceberg, whose log says which of its files count",
            rule=PLAIN,
            hint="write the table as Parquet: spark.read.format(...).load(...).write.parquet(...)",
        )
