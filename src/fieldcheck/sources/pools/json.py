"""JSON: lines, lists of objects, tables as pandas, Weights & Biases and MLflow write them, exports, logs of evals."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.origin import Origin
from fieldcheck.files import text as texts
from fieldcheck.files.damage import decoding
from fieldcheck.files.limits import check_size
from fieldcheck.sources import evals, ranked
from fieldcheck.sources.pools.records import from_lists, from_records
from fieldcheck.sources.roles import ColumnMap
from fieldcheck.sources.table import RawTable

SHAPES = (
    'a list of objects, one object a line, {"columns": [...], "data": [[...]]}, or one list per column: '
    '{"id": [...], "prediction": [...]}'
)


ANSWERS = ("choices", "labels", "number", "rating", "text")
"""What Label Studio wraps an answer up in."""


@dataclass(frozen=True)
class JsonPools:
    """JSON in any of the shapes that tables are kept in."""

    name: ClassVar[str] = "json"
    suffixes: ClassVar[tuple[str, ...]] = (".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz")

    def read(self, path: Path, columns: ColumnMap, *, encoding: str | None) -> RawTable:
        """The columns of a JSON file."""
        with texts.reading_text(path, encoding or texts.wide(path), PoolError):
            text = _text(path, encoding or texts.wide(path) or texts.UTF8)
        origin = Origin(file=str(path))
        with decoding(path, PoolError, kind="JSON", rule=SHAPES):
            found, lines = _parsed(text)
        return _as_table(found, origin, form="JSON lines" if lines else "JSON")


def _text(path: Path, encoding: str) -> str:
    parts, size = [], 0
    with texts.unpacked(path, encoding) as stream:
        while part := stream.read(1 << 22):
            size += len(part)
            check_size(path, size, PoolError)
            parts.append(part)
    return "".join(parts)


def _parsed(text: str) -> tuple[Any, bool]:
    """What the text says, and whether it is one object a line."""
    first, _, rest = text.lstrip().partition("\n")
    if first.startswith("{") and rest.lstrip().startswith("{"):
        return [json.loads(line) for line in text.splitlines() if line.strip()], True
    found = json.loads(text)
    return found, False


def _as_table(found: Any, origin: Origin, *, form: str) -> RawTable:
    if (log := evals.known(found)) is not None:
        return from_records(log[0], origin, form=f"{form}, {log[1]}")
    if isinstance(found, Mapping):
        return _of_object(found, origin, form=form)
    if isinstance(found, list) and found and all(ranked.is_listed(one) for one in found):
        found = [{"probabilities": one} for one in found]
    if not isinstance(found, list) or not found or not all(isinstance(one, Mapping) for one in found):
        raise _no_table(origin)
    if all(isinstance(one.get("data"), Mapping) for one in found) and any(_is_task(one) for one in found):
        return from_records([_task(one) for one in found], origin, form="Label Studio's JSON")
    return from_records(found, origin, form=form)


def _of_object(found: Mapping[str, Any], origin: Origin, *, form: str) -> RawTable:
    names, rows = found.get("columns"), found.get("data")
    if isinstance(names, list) and isinstance(rows, list) and rows:
        if not all(isinstance(row, list) and len(row) == len(names) for row in rows):
            raise origin.error("a row of this JSON table has not as many values as there are columns", rule=SHAPES)
        records = [dict(zip(map(str, names), row, strict=True)) for row in rows]
        index = found.get("index")
        if isinstance(index, list) and len(index) == len(records) and "" not in names:
            records = [{"": one, **record} for one, record in zip(index, records, strict=True)]
        return from_records(records, origin, form=f"{form} table")
    if isinstance(rows, list) and rows and all(isinstance(one, Mapping) for one in rows):  # pandas, orient="table"
        return from_records(rows, origin, form=f"{form} table")
    if found and all(isinstance(values, list) for values in found.values()):
        return from_lists(found, origin, form=f"{form} columns")
    if found and all(isinstance(values, Mapping) and values for values in found.values()):
        if all(key.isdecimal() for key in found) and not any(key.isdecimal() for key in next(iter(found.values()))):
            records = [{"": key, **values} for key, values in found.items()]  # pandas, orient="index"
            return from_records(records, origin, form=f"{form} rows")
        keys = list(dict.fromkeys(key for values in found.values() for key in values))
        lists = {name: [values.get(key) for key in keys] for name, values in found.items()}
        return from_lists({"": keys, **lists}, origin, form=f"{form} columns")
    held = [values for values in found.values() if isinstance(values, list) and values]
    if len(held) == 1 and all(isinstance(one, Mapping) for one in held[0]):
        return from_records(held[0], origin, form=form)
    raise _no_table(origin)


def _no_table(origin: Origin) -> PoolError:
    return origin.error("no table in this JSON", rule=SHAPES)


def _is_task(one: Mapping[str, Any]) -> bool:
    return isinstance(one.get("annotations"), list) or isinstance(one.get("predictions"), list)


def _task(one: Mapping[str, Any]) -> dict[str, Any]:
    """A task of Label Studio as a record: its data, what the model says, what people said."""
    data = dict(one["data"])
    record = {"id": data.pop("fieldcheck_id", None) or data.pop("id", None) or one.get("id"), **data}
    said, people = _last(one.get("predictions")), _last(one.get("annotations"))
    answer = _answer(said)
    if said:
        record |= {"prediction": answer, "confidence": _score(said)}
        record |= {} if said.get("model_version") is None else {"model_version": said["model_version"]}
    if people:
        record["label"] = None if people.get("was_cancelled") else _answer(people)
    return {key: value for key, value in record.items() if value is not None}


def _last(found: Any) -> Mapping[str, Any]:
    held = [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []
    return held[-1] if held else {}


def _answer(found: Mapping[str, Any]) -> Any:
    """One choice, number or text; several at once stay a list, which is refused where a class is wanted."""
    results = found.get("result")
    values = [one.get("value") for one in results if isinstance(one, Mapping)] if isinstance(results, list) else []
    for value in values:
        if isinstance(value, Mapping):
            held = next((value[kind] for kind in ANSWERS if kind in value), None)
            return held[0] if isinstance(held, list) and len(held) == 1 else held
    return None


def _score(found: Mapping[str, Any]) -> Any:
    if found.get("score") is not None:
        return found["score"]
    results = found.get("result")
    scores = [one.get("score") for one in results if isinstance(one, Mapping)] if isinstance(results, list) else []
    return next((score for score in scores if score is not None), None)
