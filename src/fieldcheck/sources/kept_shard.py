"""One shard of a pool that stays on disk: read from its file, or from what was kept of it when the pool was opened."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fieldcheck.core.pool.column import Column, is_numeric
from fieldcheck.core.pool.origin import Origin
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.types import Task
from fieldcheck.files.scratch import Scratch
from fieldcheck.sources.choosing import read_table
from fieldcheck.sources.pools.arrow import from_arrow
from fieldcheck.sources.pools.shards.files import shard_columns
from fieldcheck.sources.pools.shards.manifest import Manifest, ShardFile
from fieldcheck.sources.roles import NONE, ColumnMap

HELD = ("ids", "predictions", "confidence", "probabilities", "target", "failed")
"""Parts of a pool that have a value per item."""


PLAIN = {"id": "ids", "prediction": "predictions", "confidence": "confidence"}
"""What a step may ask for beside columns, and the part that it is. These are kept."""


KEPT = 40
"""Bytes of an item: further columns of numbers are kept as long as they take no more."""


@dataclass(frozen=True)
class Shard:
    """Where some rows are, and how they are read: all that is sent to a worker.

    columns, task, truth
        As the whole pool is read.
    classes, holds
        Of the whole pool: its classes, and which of ``HELD`` it has; None and empty while that is not known.
    scratch
        Where its columns are kept.
    """

    folder: Path
    file: ShardFile
    start: int
    manifest: Manifest
    columns: ColumnMap
    task: Task | None
    truth: str | None
    classes: tuple[str, ...] | None = None
    holds: frozenset[str] = frozenset()
    scratch: Scratch | None = None

    def pool(self, needs: Collection[str] | None = None) -> Pool:
        """Its rows, of which a step may need only some columns."""
        kept = self.kept(needs)
        return self._read(needs) if kept is None else kept

    def opened(self) -> Pool:
        """All that is in its file, checked; what steps will ask for is kept."""
        pool = self._read(None, check=True)
        if self.scratch is not None:
            self.scratch.put(self.start, _worth_keeping(pool, self.manifest), pool.classes)
        return pool

    def kept(self, needs: Collection[str] | None) -> Pool | None:
        """Its rows as they were kept, which costs next to nothing; None where something of them was not."""
        if needs is None:
            return None
        names = self._named({*needs} - {*PLAIN})
        taken = None if self.scratch is None or names is None or not self.holds else self.scratch.taken(self.start)
        wanted = {part for name, part in PLAIN.items() if name in needs and part in self.holds}
        wanted |= {"ids", "predictions"} & self.holds
        if taken is None or names is None or not {*wanted, *map(_slot, names)} <= {*taken[0]}:
            return None
        found, own = taken
        made: dict[str, Any] = {**dict.fromkeys(HELD), **{part: found[part] for part in wanted}}
        if self.task == "classification":
            made["predictions"] = _recoded(made["predictions"], own, self.classes or own)
        made |= {"columns": {name: found[_slot(name)] for name in names}, "origin": self._origin, "start": self.start}
        return _view(made | {"name": "shard", "task": self.task, "classes": self.classes or own, "notes": ()})

    def _read(self, needs: Collection[str] | None, *, check: bool = False) -> Pool:
        some = None if needs is None else self._columns(needs)
        arrays = shard_columns(self.folder / self.file.file, self.file, self.manifest, some, check=check)
        table = from_arrow(arrays, self._origin, form="Parquet", names=self.manifest.names, rows=self.manifest.index)
        given, truth = self.columns, self.truth
        if some is not None:
            own = {role: name if self._column(role) in some else NONE for role, name in self.columns.items()}
            given, truth = {**own, "probabilities": NONE}, NONE
        pool = read_table(table, given, truth=truth).pool("shard", self.task)
        made = {**pool.__dict__, "start": self.start}
        if self.columns.get("id", NONE) == NONE:
            made["ids"] = np.arange(self.start, self.start + len(pool))
        if self.classes is not None and pool.task == "classification":
            parts = {
                part: _recoded(getattr(pool, part), pool.classes, self.classes) for part in ("predictions", "target")
            }
            made |= {"classes": self.classes, **parts}
        return _view(made)

    @property
    def _origin(self) -> Origin:
        return Origin(file=str(self.folder / self.file.file))

    def _columns(self, needs: Collection[str]) -> tuple[str, ...] | None:
        """Names of the columns to read; None: all, where a variable may follow from several."""
        others = self._alike({*needs} - {*PLAIN})
        found = {role: self._column(role) for role in {*PLAIN} & {*needs, "prediction"}}
        missing = found.get("confidence", "") is None or not all(others.values())
        if found["prediction"] is None or ("probabilities" in self.holds and missing):
            return None
        wanted = {*found.values()}.union(*others.values())
        return tuple(name for name in self.manifest.schema if name in wanted)

    def _column(self, role: str) -> str | None:
        """The column that plays a part, without what its numbers are; None where there is none."""
        name = self.columns.get(role, NONE)
        return name if name in self.manifest.schema else name.rpartition(":")[0] or None

    def _named(self, needs: Collection[str]) -> list[str] | None:
        """The columns with these names in small letters; None where one may follow from several."""
        found = self._alike(needs)
        if "probabilities" in self.holds and not all(found.values()):
            return None
        return [name for names in found.values() for name in names]

    def _alike(self, needs: Collection[str]) -> dict[str, list[str]]:
        by_name: dict[str, list[str]] = {}
        for name in self.manifest.schema:
            by_name.setdefault(name.strip().lower(), []).append(name)
        return {one: by_name.get(one, []) for one in needs}


def _slot(column: str) -> str:
    return f"column {column}"


def _worth_keeping(pool: Pool, manifest: Manifest) -> dict[str, Column]:
    """Parts and columns of a shard by the name under which they are kept."""
    found = {part: values for part in PLAIN.values() if (values := getattr(pool, part)) is not None}
    room = KEPT
    for name, values in pool.columns.items():
        if is_numeric(values) and name in manifest.schema and values.itemsize <= room:
            room -= values.itemsize
            found[_slot(name)] = values
    return found


def _recoded(codes: Any, own: tuple[str, ...], classes: tuple[str, ...]) -> Any:
    """Codes of some classes as those of others, of which they are a part."""
    if codes is None or own == classes[: len(own)]:
        return codes
    at = {name: code for code, name in enumerate(classes)}
    return np.array([at[name] for name in own], dtype=np.int32)[codes]


def _view(parts: Mapping[str, Any]) -> Pool:
    """A pool of what was checked before."""
    view = object.__new__(Pool)
    view.__dict__.update(parts)
    return view
