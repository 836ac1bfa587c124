"""Files to pools and back, one file per format, the suffix says which; and the inputs that models are run on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.types import Task
from fieldcheck.sources.inputs import open_inputs
from fieldcheck.sources.pools import registry
from fieldcheck.sources.pools.arrays import from_roles
from fieldcheck.sources.pools.base import PoolFormat, WrittenFormat
from fieldcheck.sources.roles import ColumnMap

__all__ = ["ColumnMap", "load", "load_pool", "open_inputs", "save", "suffixes"]


def load(
    path: str | Path,
    *,
    columns: ColumnMap | None = None,
    task: Task | None = None,
    shift: Sequence[str] = (),
    encoding: str | None = None,
    truth: str | None = None,
) -> Pool:
    """The pool in a file; its name is the file's stem.

    columns
        From a role (``id``, ``prediction``, ``confidence``, ``target``, ``outcome``, ``probabilities``) to a
        column (for probabilities: to what their names begin with); the others are recognised by their names.
    shift
        Auxiliary variables to subtract the minimum of, so that none is negative.
    encoding
        Of a text file that is not UTF-8.
    truth
        The column of the truth: classes, numbers, or outcomes such as Pass and Fail.
    """
    place = Path(path)
    source = _format(place)
    _check_there(place)
    given, origin, notes = source.read(place, columns or {}, truth=truth, encoding=encoding)
    pool = from_roles(given, name=place.stem, task=task, origin=origin, notes=notes)
    return pool.shifted(shift) if shift else pool


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


def suffixes(*, written: bool = False) -> tuple[str, ...]:
    """How files end that pools are read from, or written to."""
    known = [made() for _, made in registry.items()]
    return tuple(one for made in known if not written or isinstance(made, WrittenFormat) for one in made.suffixes)


def _format(place: Path) -> PoolFormat:
    for _, made in registry.items():
        if place.suffix.lower() in made.suffixes:
            return made()
    if place.is_dir():
        raise _folder(place)
    raise PoolError(
        f"{place}: a pool cannot be read from '{place.suffix or 'a file without suffix'}'",
        rule="by suffix: " + ", ".join(suffixes()),
        hint="rename the file, or export it as CSV or Parquet",
    )


def _folder(place: Path) -> PoolError:
    return PoolError(f"{place} is a folder", rule="a pool is one file: " + ", ".join(suffixes()))


def _check_there(place: Path) -> None:
    if place.is_dir():
        raise _folder(place)
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


def load_pool(pool: Pool | str | Path) -> Pool:
    """A pool, read from a file if it is not one yet."""
    return pool if isinstance(pool, Pool) else load(Path(pool))
