"""Files of labels as JSON lines: one object a line, with id and label."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TextIO

from fieldcheck.campaign.exchange.base import LONGEST, Fault, LabelLine, ToLabel, readable
from fieldcheck.core.errors import LabelError


class JsonlLabels:
    """One object a line: ``{"id": "img_7", "label": "cat", "annotator": "Ann", "reason": ""}``; only id is needed."""

    name: ClassVar[str] = "jsonl"
    suffixes: ClassVar[tuple[str, ...]] = (".jsonl", ".ndjson")

    @staticmethod
    def recognises(start: str) -> bool:
        return start.startswith("{")

    @staticmethod
    def read(stream: TextIO, path: Path) -> Iterator[LabelLine | Fault]:
        """What each line says."""
        number = 0
        while line := stream.readline(LONGEST):
            number += 1
            if len(line) >= LONGEST:
                raise LabelError(f"{path}, line {number:,}: longer than {LONGEST:,} characters", rule="one item a line")
            if line.strip():
                yield _read(line, f"line {number:,}")

    @staticmethod
    def write(items: Sequence[ToLabel], *, by: str, base: str) -> str:
        """The id, what there is to see, and an empty label."""
        return "".join(json.dumps(_record(one, by), ensure_ascii=False) + "\n" for one in items)


def _record(one: ToLabel, by: str) -> dict[str, Any]:
    said = {} if one.prediction is None else {"prediction": one.prediction}
    return {"id": one.item, **said, **one.cells(), "label": "", "reason": "", **({"annotator": by} if by else {})}


def _read(line: str, where: str) -> LabelLine | Fault:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        return Fault(where, f"not JSON ({error})")
    if not isinstance(found, Mapping) or not isinstance(found.get("id"), str | int):
        return Fault(where, "is not an object with an 'id'")
    if isinstance(found.get("label"), list | dict | bool):
        return Fault(where, f"item '{found['id']}': a label is a text or a number")
    label, by, reason = (_text(found, name) for name in ("label", "annotator", "reason"))
    return readable(LabelLine(where, str(found["id"]), label, by, reason=reason))


def _text(found: Mapping[str, Any], name: str) -> str:
    value = found.get(name)
    return "" if value is None else str(value).strip()
