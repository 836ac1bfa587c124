"""Measured rows on disk: as ``bench --json`` writes them, or compact, as they ship with the package.

The compact form is one JSON object: ``words`` are the distinct texts, ``columns`` the keys of a row, and
``rows`` lists of values in that order: texts as places in ``words``, numbers with five significant digits,
null for nan.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from fieldcheck.bench.result import plain
from fieldcheck.bench.rows import Row, unique
from fieldcheck.core.errors import BenchError
from fieldcheck.core.versions import versions
from fieldcheck.files import schema
from fieldcheck.files.damage import decoding

FORMAT = 1

COLUMNS = tuple(Row.__annotations__)

TEXTS = ("subject", "group", "task", "design", "auxiliary")

ROW = {name: str if name in TEXTS else schema.NUMBER | None for name in COLUMNS}
"""The types of a row; null stands for nan."""


def measured_rows(path: Path | str | None = None) -> list[Row]:
    """The fair rows of a file; without one, those that ship with the package."""
    source = files("fieldcheck.bench").joinpath("measured.json") if path is None else Path(path)
    hint = "fieldcheck bench SUBJECT... --json FILE"
    with decoding(source, BenchError, kind="measured results", rule="a file written by bench --json", hint=hint):
        return rows_of(json.loads(source.read_text(encoding="utf-8")))


def rows_of(content: Any) -> list[Row]:
    """Rows from the content of either kind of file."""
    if not isinstance(content, dict) or not isinstance(content.get("rows"), list):
        raise BenchError("these are not measured results", rule='a JSON object with "rows"')
    if "words" not in content:
        leaks = {tuple(leak) for leak in content.get("leaks", [])}
        rows = [_row(row) for row in content["rows"]]
        return [row for row in rows if (row["subject"], row["auxiliary"]) not in leaks]
    if content.get("format") != FORMAT:
        raise BenchError(
            f"measured results of format {content.get('format')}",
            rule=f"this version reads format {FORMAT}",
            hint="a newer fieldcheck",
        )
    return [_row(_expand(values, content)) for values in content["rows"]]


def compact_json(rows: Sequence[Row], *, seed: int, level: float) -> str:
    """What is written to ``measured.json``: one line per row, so that changes can be read."""
    plainly = [{key: plain(value) for key, value in row.items()} for row in rows]
    words = unique(str(row[key]) for row in plainly for key in TEXTS)
    about = {"format": FORMAT, "seed": seed, "level": level, "versions": versions()}
    head = json.dumps({**about, "words": list(words), "columns": list(COLUMNS)})
    lines = ([_shorten(row[key], words) for key in COLUMNS] for row in plainly)
    body = ",\n".join(json.dumps(line, separators=(",", ":")) for line in lines)
    return head[:-1] + f', "rows": [\n{body}\n]}}\n'


def _shorten(value: Any, words: Sequence[str]) -> Any:
    if isinstance(value, str):
        return words.index(value)
    return float(f"{value:.5g}") if isinstance(value, float) else value


def _expand(values: Sequence[Any], content: Mapping[str, Any]) -> dict[str, Any]:
    row = dict(zip(content["columns"], values, strict=True))
    return row | {key: content["words"][row[key]] for key in TEXTS}


def _row(values: Any) -> Row:
    schema.checked(values, ROW, "a measured row", BenchError)
    return cast(Row, {key: math.nan if values[key] is None else values[key] for key in COLUMNS})
