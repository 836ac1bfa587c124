"""Predictions shard by shard: one shard is held at a time, and a run that was killed goes on.

Two passes of steps. The first runs the model; what is done is on disk under its own name, and a second run leaves it
alone. Auxiliary variables are finished by looking at the whole column, so the first pass ends with its smallest and
largest value, and the second one applies them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fieldcheck import models, sources
from fieldcheck.accuracy.auxiliary.base import FittedAuxiliary
from fieldcheck.accuracy.predict.passes import pool_pass
from fieldcheck.accuracy.predict.pool import as_pool
from fieldcheck.accuracy.predict.predict import Prediction, Prepared
from fieldcheck.accuracy.predict.second_models import TRAIN
from fieldcheck.core import inputs as source
from fieldcheck.core.errors import PoolError
from fieldcheck.core.inputs import Stretch
from fieldcheck.core.pool import ids as identity
from fieldcheck.core.pool.engine import Engine, Loop
from fieldcheck.core.pool.origin import Origin
from fieldcheck.files.damage import decoding
from fieldcheck.files.places import readable
from fieldcheck.files.whole import whole_file
from fieldcheck.sources.pools.shards import cutting, files, manifest
from fieldcheck.sources.pools.table import as_table

ROWS = 65_536
"""Items of a shard: a multiple of usual batches, and of the blocks of auxiliary variables. At 2 ms an item, a run that
is killed loses two minutes."""


ABOUT = b"fieldcheck"
"""In the metadata of a shard: ranges of its columns before they were finished, and notes."""


@dataclass(eq=False)
class Measuring:
    """What all steps share. A worker of its own opens the model when its first shard comes, and keeps it.

    fitted
        The auxiliary variables, fitted to the reference: that is done once.
    """

    asked: Prediction
    folder: Path
    fitted: Mapping[str, FittedAuxiliary]
    ready: Prepared | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Models and open files stay where they are."""
        return {**self.__dict__, "ready": None}

    def open(self) -> Prepared:
        """The model and the items, opened once."""
        if self.ready is None:
            self.ready = self.asked.prepared(fitted=self.fitted)
        return self.ready

    def raw(self, rows: cutting.RowRange) -> Path:
        """Where a shard is before its variables are finished."""
        return self.folder / f".unfinished-{files.shard_name(rows.number)}"

    def final(self, rows: cutting.RowRange) -> Path:
        """Where a shard is in the end."""
        return self.folder / files.shard_name(rows.number)


@dataclass(frozen=True)
class ShardFacts:
    """What the second pass needs to know of a shard.

    ranges
        By variable, its smallest and largest value, as the variable gave them.
    types
        By column, its type in Arrow's words.
    """

    ranges: Mapping[str, tuple[float, float]]
    types: Mapping[str, str]
    notes: tuple[str, ...] = ()


def measure_step(rows: cutting.RowRange, job: Measuring) -> ShardFacts:
    """Run the model over the items of a shard, unless that was done."""
    there = next((one for one in (job.final(rows), job.raw(rows)) if one.exists()), None)
    if there is not None:
        return _facts(there)
    ready = job.open()
    labels = job.asked.labels or None if isinstance(job.asked.labels, bool) else job.asked.labels
    if labels is not None:
        own = source.labels_in(ready.items, rows.start, rows.stop) if labels is True else None
        labels = own if labels is True else labels[rows.start : rows.stop]
    items = Stretch(ready.items, rows.start, rows.stop, source.ids_in(ready.items, rows.start, rows.stop), labels)
    kept = pool_pass(
        ready.runner,
        items,
        ready.asked,
        batch=job.asked.batch,
        done=ready.count.add,
        keep_outputs=ready.keep,
        finish=False,
    )
    truth = replace(ready.truth, items=items, labels=None if labels is None else labels)
    pool = as_pool(items, kept, truth=truth, notes=())
    table = as_table(pool)
    found = {name: values for name, values in kept.values.items() if name in table.column_names}
    facts = ShardFacts(
        {name: (float(values.min()), float(values.max())) for name, values in found.items() if name != "confidence"},
        files.types_of(table.schema),
        pool.notes,
    )
    _write(table, job.raw(rows) if facts.ranges else job.final(rows), facts)
    return facts


@dataclass(frozen=True, eq=False)
class Finishing:
    """What the steps of the second pass share; ``facts`` are those of all shards together."""

    job: Measuring
    facts: ShardFacts


def finish_step(rows: cutting.RowRange, work: Finishing) -> manifest.ShardFile:
    """Finish the variables of a shard, and give its columns the types that all shards have."""
    from pyarrow import parquet

    raw, final = work.job.raw(rows), work.job.final(rows)
    done = final.exists()
    own = _facts(final if done else raw)
    if not done or own.types != work.facts.types:
        table = parquet.read_table(readable(final if done else raw))
        table = table if done else _finished(table, work)
        _write(_typed(table, work.facts.types), final, own)
    raw.unlink(missing_ok=True)
    return files.described(final, parquet.read_table(readable(final)))


def _finished(table: Any, work: Finishing) -> Any:
    import pyarrow as pa

    for name, both in work.facts.ranges.items():
        values = np.append(table.column(name).to_numpy(), both)
        finished = work.job.fitted[name].finish(values)[:-2]
        table = table.set_column(table.column_names.index(name), name, pa.array(finished))
    return table


def _typed(table: Any, types: Mapping[str, str]) -> Any:
    import pyarrow as pa

    schema = pa.schema([(one.name, _type(types[one.name], one.type)) for one in table.schema])
    return table.cast(schema)


def _type(wanted: str, own: Any) -> Any:
    import pyarrow as pa

    return own if str(own) == wanted else {"string": pa.string(), "double": pa.float64()}[wanted]


def _write(table: Any, place: Path, facts: ShardFacts) -> None:
    from pyarrow import parquet

    said = json.dumps({"ranges": {name: list(both) for name, both in facts.ranges.items()}, "notes": facts.notes})
    with whole_file(place) as temporary:
        about = table.replace_schema_metadata({ABOUT: said.encode()})
        parquet.write_table(about, temporary, use_dictionary=files.few_valued(table.schema))


def _facts(place: Path) -> ShardFacts:
    from pyarrow import parquet

    rule, hint = "shards as `predict` wrote them", "remove it, and run the same again: it is made anew"
    with decoding(place, PoolError, kind="a shard", rule=rule, hint=hint):
        schema = parquet.read_schema(readable(place))
        said = json.loads(schema.metadata[ABOUT])
        ranges = {name: (both[0], both[1]) for name, both in said["ranges"].items()}
        return ShardFacts(ranges, files.types_of(schema), tuple(said["notes"]))


def _together(found: Sequence[ShardFacts]) -> ShardFacts:
    """Of all shards: ranges that hold all of theirs, types that hold all values, every note once."""
    names = found[0].ranges
    ranges = {
        name: (min(one.ranges[name][0] for one in found), max(one.ranges[name][1] for one in found)) for name in names
    }
    types = {name: _common({one.types[name] for one in found}) for name in found[0].types}
    return ShardFacts(ranges, types, tuple(dict.fromkeys(note for one in found for note in one.notes)))


def _common(types: set[str]) -> str:
    """Classes that look like numbers in one shard are text where another one has names."""
    if len(types) == 1:
        return next(iter(types))
    return "string" if "string" in types else "double"


def predict_shards(
    asked: Prediction,
    folder: Path,
    *,
    rows: int = ROWS,
    engine: Engine | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> manifest.Manifest:
    """What ``predict`` gives, as a folder of shards. Run again after a kill, it goes on where it was.

    rows
        Items of a shard.
    engine
        Where the work is done; by default here. Other processes open model and inputs themselves: both are then paths.
    """
    runs = engine or Loop()
    items = sources.open_inputs(asked.inputs() if isinstance(asked.inputs, partial) else asked.inputs)
    record = _record(asked, items, rows)
    if manifest.is_begun(folder, manifest.PREDICTED, record) and _is_whole(folder):
        return manifest.read_manifest(folder)
    ready = asked.prepared(progress)
    with manifest.begun(folder, manifest.PREDICTED, record):
        ranges = cutting.row_ranges(len(ready.items), rows)
        fitted = {name: one.fitted for name, one in ready.asked.items()}
        job = Measuring(_for_workers(asked, ready), folder, fitted, ready)
        found = []
        for at, one in zip(ranges, runs.map(measure_step, ranges, job), strict=True):
            found.append(one)
            ready.count.reach(at.stop)
        facts = _together(found)
        made = list(runs.map(finish_step, ranges, Finishing(job, facts)))
        notes = (*ready.notes, *ready.about_kept(), *facts.notes)
        result = manifest.Manifest(facts.types, made, notes=notes)
        result.write(folder)
    return result


def _is_whole(folder: Path) -> bool:
    """Whether a run came to its end, and all its shards are still there."""
    there = {one.name for one in folder.iterdir()}
    return manifest.FILE in there and {one.file for one in manifest.read_manifest(folder).shards} <= there


def _for_workers(asked: Prediction, ready: Prepared) -> Prediction:
    """What workers are asked: the names of the classes are known, the reference only trains a member."""
    return replace(
        asked,
        reference=asked.reference if asked.member == TRAIN else None,
        classes=ready.truth.names or asked.classes,
    )


def _record(asked: Prediction, items: Any, rows: int) -> dict[str, str]:
    """What makes two runs the same: what was asked for, and of which items."""
    total, origin = hashlib.sha256(), Origin(file=items.name)
    for start in range(0, len(items), source.KEYS):
        for part in identity.as_bytes(
            identity.as_ids(source.ids_in(items, start, min(start + source.KEYS, len(items))), origin)
        ):
            total.update(part)
    words = {one.name: _words(getattr(asked, one.name)) for one in fields(asked)}
    return {**words, "rows": str(rows), "items": str(len(items)), "ids": total.hexdigest()[:16]}


def _words(value: Any) -> str:
    """A file by its name, size and time; what opens something by what it opens; objects by their kind."""
    if isinstance(value, partial):
        return "; ".join([*map(_words, value.args), *(f"{key}={one!r}" for key, one in value.keywords.items())])
    if isinstance(value, str | Path) and Path(value).exists():
        return manifest.stamp(Path(value))
    if isinstance(value, np.ndarray):
        return hashlib.sha256(value.tobytes()).hexdigest()[:16]
    plain = value is None or isinstance(value, str | int | float | tuple | list | models.Opening | models.Preparation)
    return repr(value) if plain else type(value).__name__
