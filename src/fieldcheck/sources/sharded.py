"""A pool in shards that stays on disk: steps go to the shards, and small results come back."""

from __future__ import annotations

import math
import os
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from itertools import accumulate, pairwise
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from fieldcheck.core.pool import ids as identity
from fieldcheck.core.pool import watching
from fieldcheck.core.pool.engine import Engine, Keeping
from fieldcheck.core.pool.origin import Origin
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.types import IntArray, Task
from fieldcheck.files.scratch import Scratch
from fieldcheck.numerics import exact
from fieldcheck.sources.choosing import read_table
from fieldcheck.sources.kept_shard import HELD, KEPT, Shard
from fieldcheck.sources.pools.shards.files import table_of
from fieldcheck.sources.pools.shards.manifest import Manifest, ShardFile, read_manifest
from fieldcheck.sources.roles import ColumnMap

C = TypeVar("C")


R = TypeVar("R")


@dataclass(frozen=True)
class _Facts:
    """What the whole is made of, of one shard or several.

    numeric
        Whether its classes are numbers.
    sums
        Of the predictions and their squares, where they are numbers.
    ends
        First and last id of each shard by its start, where they increase in it; else None.
    holds, others
        Which of ``HELD`` there are, and the names of further columns.
    """

    tasks: frozenset[Task]
    classes: frozenset[str]
    known: tuple[str, ...]
    numeric: bool
    sums: tuple[exact.ExactSum, exact.ExactSum]
    ends: Mapping[int, tuple[Any, Any] | None]
    holds: frozenset[str]
    others: tuple[str, ...]

    def __add__(self, other: _Facts) -> _Facts:
        both = (self.sums[0] + other.sums[0], self.sums[1] + other.sums[1])
        return _Facts(
            self.tasks | other.tasks,
            self.classes | other.classes,
            self.known,
            self.numeric and other.numeric,
            both,
            {**self.ends, **other.ends},
            self.holds & other.holds,
            self.others,
        )

    @cached_property
    def all_classes(self) -> tuple[str, ...]:
        """Those whose probabilities are known, then all others in order."""
        rest = sorted(self.classes - {*self.known}, key=int if self.numeric else str)
        return (*self.known, *rest)


def _facts(shard: Shard, _: None) -> _Facts:
    """A step: what a shard says about the whole; its digest is checked."""
    pool = shard.opened()
    said = np.zeros(0) if pool.task == "classification" or pool.predictions is None else pool.predictions
    ends = (_value(pool.ids, 0), _value(pool.ids, len(pool) - 1)) if identity.is_increasing(pool.ids) else None
    width = 0 if pool.probabilities is None else pool.probabilities.shape[1]
    holds = {name for name in HELD if getattr(pool, name) is not None}
    return _Facts(
        frozenset({pool.task}),
        frozenset(pool.classes),
        pool.classes[:width],
        all(name.lstrip("-").isdecimal() for name in pool.classes),
        (exact.ExactSum.of(said), exact.ExactSum.of(said * said)),
        {shard.start: ends},
        frozenset(holds),
        tuple(pool.columns),
    )


def _value(column: Any, at: int) -> Any:
    value = column[at]
    return value.item() if isinstance(value, np.generic) else value.as_py()


_MADE = 24
"""Bytes of an item, for what steps work out and keep."""


def _kept_bytes(shards: Sequence[Shard]) -> int:
    """Rather too much: what shards keep of their columns, and what steps work out."""
    manifest = shards[0].manifest
    plain = [manifest.schema.get(name, "double") for name in map(str, shards[0].columns.values())]
    return (KEPT + _MADE + sum(map(_width, plain))) * manifest.rows


class ShardedPool(Pool):
    """A pool whose columns stay in their files, and are read for each step; those of all items only where that fits.

    Opening it reads the manifest and the first rows; all others are read, and checked, when something is asked of
    the items.

    engine
        Where steps run.
    """

    def __init__(
        self,
        name: str,
        shards: Sequence[Shard],
        engine: Engine,
        load: Callable[[], Pool],
        origin: Origin,
        *,
        notes: tuple[str, ...] = (),
    ) -> None:
        scratch = Scratch.beside(self, _kept_bytes(shards))
        self.__dict__.update(
            name=name,
            task=shards[0].task,
            notes=notes,
            origin=origin,
            start=0,
            size=shards[0].manifest.rows,
            load=load,
            _engine=engine.kept() if isinstance(engine, Keeping) else engine,
            _scratch=scratch,
            _files=tuple(replace(one, scratch=scratch) for one in shards),
        )

    @cached_property
    def facts(self) -> _Facts:
        """What the whole is made of: every shard is looked at, and checked."""
        files: tuple[Shard, ...] = self.__dict__["_files"]
        facts = exact.merged(watching.counted(self.engine.map(_facts, files, None), len(files)))
        if len(facts.tasks) > 1:
            raise self.origin.error(
                "some shards hold classes, others numbers", rule="one task", hint="--task regression, or write it again"
            )
        self._check_ids(facts.ends, [replace(one, holds=facts.holds) for one in files])
        return facts

    @cached_property
    def shards(self) -> tuple[Shard, ...]:
        """In their order."""
        files: tuple[Shard, ...] = self.__dict__["_files"]
        return tuple(replace(one, classes=self.classes, holds=self.facts.holds) for one in files)

    def _check_ids(self, ends: Mapping[int, tuple[Any, Any] | None], files: Sequence[Shard]) -> None:
        """Ids that increase from shard to shard are all different; of others there may be two the same."""
        ordered = [ends[start] for start in sorted(ends)]
        rising = all(one is not None for one in ordered) and all(
            before is not None and after is not None and before[1] < after[0] for before, after in pairwise(ordered)
        )
        if rising:
            return
        import pyarrow as pa

        found = list(self.engine.map(_by_shard, files, (_ids, None, ("id",))))
        every = np.concatenate(found) if isinstance(found[0], np.ndarray) else pa.chunked_array(found)
        identity.check_unique(every, self.origin)

    def __len__(self) -> int:
        return int(self.__dict__["size"])

    @property
    def held(self) -> bool:
        return "_whole" in self.__dict__

    @property
    def engine(self) -> Engine:
        found: Engine = self.__dict__["_engine"]
        return found

    @property
    def scratch(self) -> Scratch | None:
        found: Scratch | None = self.__dict__["_scratch"]
        return found

    def in_memory(self) -> Pool:
        """All columns of all items, where there is room for them."""
        if "_whole" not in self.__dict__:
            self._check_room()
            self.__dict__["_whole"] = self.__dict__["load"]()
        whole: Pool = self.__dict__["_whole"]
        return whole

    def _check_room(self) -> None:
        bytes_ = sum(_width(kind) for kind in self.shards[0].manifest.schema.values()) * len(self) * 2
        free = _free_memory()
        if free is not None and bytes_ > free:
            raise self.origin.error(
                f"{len(self):,} items need about {bytes_ / 2**30:.1f} GB in memory, {free / 2**30:.1f} are free",
                rule="waves and srs, their estimates, slices and metrics, look-ups, and comparisons and re-use with "
                "pools in the same order work shard by shard; everything else needs the pool in memory",
                hint="--design waves or --design srs, or a machine with more memory",
            )

    def map(self, step: Callable[[Pool, C], R], given: C, *, needs: Collection[str] | None = None) -> Iterator[R]:
        wanted = None if needs is None else tuple(needs)
        return self._mapped(_by_part, (step, given, wanted))

    def whole_parts(self, step: Callable[[Pool, C], R], given: C, *, needs: Collection[str]) -> Iterator[R]:
        return self._mapped(_by_shard, (step, given, tuple(needs)))

    def _mapped(self, step: Callable[[Shard, C], R], given: C) -> Iterator[R]:
        return watching.counted(self.engine.map(step, self.shards, given), len(self.shards))

    def reader(self) -> _ShardReader:
        return _ShardReader(self.shards)

    def between(self, first: int, last: int, *, needs: Collection[str]) -> Pool:
        return self.reader().between(first, last, needs=needs)

    def fetched(self, positions: IntArray, *, needs: Collection[str]) -> Pool:
        """Some rows, in the order asked for: only the shards that hold them are read."""
        at = np.asarray(positions, dtype=np.int64)
        starts = np.array([shard.start for shard in self.shards])
        number = np.searchsorted(starts, at, side="right") - 1
        wanted = np.unique(number).tolist() or [0]
        asked = [(self.shards[one], at[number == one] - int(starts[one])) for one in wanted]
        parts = list(self.engine.map(_fetch, asked, tuple(needs)))
        order = np.concatenate([np.flatnonzero(number == one) for one in wanted])
        return _joined(parts).rows(np.argsort(order, kind="stable"))

    def id_of(self, position: int) -> str:
        return self.ids_of(np.array([position]))[0]

    def ids_of(self, positions: IntArray) -> list[str]:
        some = self.fetched(positions, needs=("id",))
        return [str(_value(some.ids, at)) for at in range(len(positions))]

    def prediction_at(self, position: int) -> str | float | None:
        return None if self.predictions is None else self.predictions_at([position])[0]

    def predictions_at(self, positions: Iterable[int]) -> tuple[str | float, ...]:
        """What was asked for once is known: labels are few, and each of them needs it again and again."""
        wanted, known = list(positions), self.memo("said", dict[int, str | float])
        missing = [at for at in dict.fromkeys(wanted) if at not in known]
        if missing:
            said = self.fetched(np.array(missing), needs=("prediction",)).predictions_at(range(len(missing)))
            known.update(zip(missing, said, strict=True))
        return tuple(known[at] for at in wanted)

    def position_of(self, wanted: Iterable[str | int]) -> IntArray:
        asked = [str(one) for one in wanted]
        found = dict[str, int]()
        for part in self.whole_parts(_found, tuple(dict.fromkeys(asked)), needs=("id",)):
            found.update(part)
        absent = [one for one in asked if one not in found]
        if absent:
            raise self.origin.error(
                f"no item '{absent[0]}' in this pool" + (f" (nor {len(absent) - 1:,} others)" if absent[1:] else ""),
                rule=f"ids run from '{self.id_of(0)}' to '{self.id_of(len(self) - 1)}'",
                hint="the same pool that the items were drawn from",
            )
        return np.array([found[one] for one in asked], dtype=np.int64)

    def threshold(self, given: float | None = None) -> float:
        if given is not None or self.task == "classification":
            return 0.5 if given is None else given
        mean, square = (one.exact / len(self) for one in self.facts.sums)
        return math.sqrt(max(float(square - mean**2), 0.0))

    def select(self, positions: Any) -> Pool:
        return self.in_memory().select(positions)

    def shifted(self, names: Sequence[str]) -> Pool:
        return self.in_memory().shifted(names)


@dataclass(frozen=True)
class _ShardReader:
    """Rows of shards, read where they are looked at.

    last
        What was read last, by the start of the shard and what was needed of it: the next rows are mostly there.
    """

    shards: tuple[Shard, ...]
    last: dict[tuple[int, tuple[str, ...]], Pool] = field(default_factory=dict, compare=False)

    def between(self, first: int, last: int, *, needs: Collection[str]) -> Pool:
        own, start = tuple(needs), attrgetter("start")
        begin = bisect_right(self.shards, first, key=start) - 1
        inside = self.shards[begin : bisect_left(self.shards, last, key=start)]
        known = [self.last.pop((shard.start, own), None) for shard in inside]
        self.last.clear()
        pools = [shard.pool(own) if one is None else one for shard, one in zip(inside, known, strict=True)]
        self.last.update({(shard.start, own): one for shard, one in zip(inside, pools, strict=True)})
        some = zip(inside, pools, strict=True)
        return _joined([one.rows(slice(max(first - at.start, 0), last - at.start)) for at, one in some], first)


class ShardedColumn:
    """A column of a pool in shards: some values are fetched, all of them where there is room.

    part
        Which it is of ``HELD``; empty: one of the others.
    """

    def __init__(self, pool: ShardedPool, name: str, part: str = "") -> None:
        self.pool, self.name, self.part = pool, name, part

    def __len__(self) -> int:
        return len(self.pool)

    def _of(self, pool: Pool) -> Any:
        return getattr(pool, self.part) if self.part else pool.columns[self.name]

    @property
    def type(self) -> str:
        """In Arrow's words."""
        return self.pool.shards[0].manifest.schema.get(self.name, "double")

    def __getitem__(self, which: Any) -> Any:
        if isinstance(which, slice) or (isinstance(which, np.ndarray) and which.dtype.kind == "b"):
            return self._of(self.pool.in_memory())[which]
        at = np.atleast_1d(np.asarray(which, dtype=np.int64))
        found = self._of(self.pool.fetched(at, needs=(self.name.strip().lower(),)))
        return found[0] if np.ndim(which) == 0 else found

    def slice(self, first: int, count: int) -> Any:
        """Some values in a row."""
        return self[np.arange(first, min(first + count, len(self)))]

    def __getattr__(self, name: str) -> Any:
        """Whatever else is asked of a column is asked of all of it."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._of(self.pool.in_memory()), name)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self._of(self.pool.in_memory()), dtype=dtype)


class LazyRows(Pool):
    """Some rows of a shard, which is read when one of its columns is looked at first."""

    def __init__(self, shard: Shard, size: int, first: int, read: Callable[[], Pool]) -> None:
        self.__dict__.update(
            name="shard", task=shard.task, classes=shard.classes or (), notes=(), origin=Origin(file=str(shard.folder))
        )
        self.__dict__.update(start=shard.start + first, size=size, first=first, read=read)

    @classmethod
    def of(cls, shard: Shard, needs: Collection[str] | None) -> Iterator[LazyRows]:
        """All of them, as many at once as a processor has at hand."""
        read = cache(lambda: shard.pool(needs))
        return (cls(shard, last - first, first, read) for first, last in exact.blocks(shard.file.rows))

    def __len__(self) -> int:
        return int(self.__dict__["size"])

    @property
    def held(self) -> bool:
        return False

    def in_memory(self) -> Pool:
        if "_whole" not in self.__dict__:
            first = self.__dict__["first"]
            some = slice(first, first + len(self))
            self.__dict__["_whole"] = self.__dict__["read"]().rows(some, start=self.start)
        whole: Pool = self.__dict__["_whole"]
        return whole


def _of_all(part: str) -> property:
    """A column of all items; where there is none, that is known before."""
    name = {"ids": "id", "predictions": "prediction"}.get(part, part)

    def column(pool: ShardedPool) -> Any:
        return ShardedColumn(pool, name, part) if part in pool.facts.holds else None

    return property(column)


def _of_rows(part: str) -> property:
    def column(rows: LazyRows) -> Any:
        return getattr(rows.in_memory(), part)

    return property(column)


def _others(pool: ShardedPool) -> dict[str, ShardedColumn]:
    return {name: ShardedColumn(pool, name) for name in pool.facts.others}


def _classes(pool: ShardedPool) -> tuple[str, ...]:
    return pool.facts.all_classes


for _part in HELD:
    setattr(ShardedPool, _part, _of_all(_part))
for _part in (*HELD, "columns"):
    setattr(LazyRows, _part, _of_rows(_part))
ShardedPool.columns = property(_others)  # type: ignore[assignment]
ShardedPool.classes = property(_classes)  # type: ignore[assignment]


def _by_part(shard: Shard, asked: tuple[Callable[[Pool, C], R], C, tuple[str, ...] | None]) -> R:
    step, given, needs = asked
    kept = shard.kept(needs)
    if kept is not None:
        with watching.watched(None):  # shards are counted, not what is in them
            return exact.merged(kept.map(step, given))
    return exact.merged(step(rows, given) for rows in LazyRows.of(shard, needs))


def _by_shard(shard: Shard, asked: tuple[Callable[[Pool, C], R], C, tuple[str, ...]]) -> R:
    step, given, needs = asked
    return step(shard.pool(needs), given)


def _fetch(asked: tuple[Shard, IntArray], needs: tuple[str, ...]) -> Pool:
    shard, at = asked
    return shard.pool(needs).rows(at)


def _ids(pool: Pool, _: None) -> Any:
    return pool.ids if isinstance(pool.ids, np.ndarray) else pool.ids.combine_chunks()


def _found(pool: Pool, wanted: tuple[str, ...]) -> dict[str, int]:
    where = identity.places(pool.ids, wanted)
    return {one: pool.start + at for one, at in zip(wanted, where.tolist(), strict=True) if at >= 0}


def _joined(parts: Sequence[Pool], start: int = 0) -> Pool:
    """Rows of several shards, one after the other."""
    import pyarrow as pa

    def joined(columns: list[Any]) -> Any:
        if columns[0] is None:
            return None
        if isinstance(columns[0], np.ndarray):
            return np.concatenate(columns)
        return pa.chunked_array([chunk for one in columns for chunk in one.chunks], columns[0].type)

    first = parts[0]
    own = {name: joined([getattr(part, name) for part in parts]) for name in HELD}
    view = object.__new__(Pool)
    shared = {name: joined([part.columns[name] for part in parts]) for name in first.columns}
    view.__dict__.update({**first.__dict__, **own, "columns": shared, "start": start})
    return view


def open_shards(
    folder: Path,
    *,
    engine: Engine,
    columns: ColumnMap,
    truth: str | None,
    task: Task | None,
    name: str,
    load: Callable[[ColumnMap, Task], Pool],
) -> ShardedPool:
    """A folder of shards as a pool that stays there.

    load
        Reads all of it, by the parts that its columns play.
    """
    manifest = read_manifest(folder)
    given = dict(columns)
    starts = list(manifest.offsets())
    shards = [
        Shard(folder.resolve(), file, start, manifest, given, task, truth)
        for file, start in zip(manifest.shards, starts, strict=True)
    ]
    # The first shards say which column plays which part; the others are read in the same way.
    head = _head(manifest)
    first = read_table(table_of(folder, manifest, head, check=False), given, truth=truth).pool(name, task)
    settled = dict(first.origin.settings)
    read = {**given, **settled}
    source = manifest.source(read, first.task)
    origin = replace(first.origin, file=str(folder), source=source)
    made = [replace(one, columns=read, task=first.task) for one in shards]
    seen = "" if len(first) == manifest.rows else f"of the first {len(first):,} items: "
    whole = partial(load, read, first.task)
    return ShardedPool(name, made, engine, whole, origin, notes=tuple(f"{seen}{note}" for note in first.notes))


HEAD = 65_536
"""Items, at least, that tell which column plays which part: in smaller pools all of them do, as in a file."""


def _head(manifest: Manifest) -> Sequence[ShardFile]:
    """The first shards with so many items."""
    ends = accumulate(shard.rows for shard in manifest.shards)
    return manifest.shards[: 1 + sum(end < HEAD for end in ends)]


def _width(kind: str) -> int:
    sizes = {"bool": 1, "int8": 1, "uint8": 1, "int16": 2, "float": 4, "int32": 4, "double": 8, "int64": 8}
    return sizes.get(kind, 48)


def _free_memory() -> int | None:
    """Bytes; None where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as stream:
            line = next(one for one in stream if one.startswith("MemAvailable"))
        return int(line.split()[1]) * 1024
    except (OSError, StopIteration):
        try:
            return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        except (ValueError, OSError, AttributeError):
            return None
