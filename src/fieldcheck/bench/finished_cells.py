"""A file that remembers finished cells, so that a bench that was killed goes on where it stopped.

One JSON object per line, written and synced when its cell is finished. A cell is found again by a key made of
all that determines its numbers; cells of other settings do not match and stay in the file, so that one
journal can serve several comparisons. A last line that was cut off by a crash is dropped.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fieldcheck.bench.result import CellResult
from fieldcheck.core.errors import BenchError
from fieldcheck.files.damage import decoding

HEADER = {"journal": "fieldcheck bench", "format": 1}


ANOTHER = "--resume with a new file name"


_FIRST = json.dumps(HEADER).encode() + b"\n"


def key_of(settings: Mapping[str, Any]) -> str:
    """The name of a cell in the journal."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


class FinishedCells:
    """Finished cells by key; reads the file once, then only appends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._finished = _read(path)
        except OSError as error:
            raise BenchError(
                f"the journal '{path}' cannot be opened: {error.strerror}",
                rule="a file that can be read and written",
            ) from error

    def find(self, key: str) -> CellResult | None:
        record = self._finished.get(key)
        if record is None:
            return None
        with decoding(self.path, BenchError, rule="cells as a bench wrote them", hint=ANOTHER):
            return CellResult.from_record(record)

    def add(self, key: str, result: CellResult) -> None:
        """Keep a cell; it is on disk when this returns."""
        record = result.as_record()
        self._finished[key] = record
        _append(self.path, {"key": key, **record})


def _append(path: Path, line: Mapping[str, Any]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
        file.flush()
        os.fsync(file.fileno())


def _read(path: Path) -> dict[str, dict[str, Any]]:
    whole = path.read_bytes() if path.exists() else b""
    if len(whole) < len(_FIRST) and _FIRST.startswith(whole):
        path.write_bytes(_FIRST)
        return {}
    kept = whole[: whole.rfind(b"\n") + 1]
    if not kept.startswith(_FIRST):
        raise BenchError(
            f"'{path}' is not a journal of a bench",
            rule=f"the first line of a journal is {json.dumps(HEADER)}",
            hint=ANOTHER,
        )
    lines = [_parse(line, path=path, number=n) for n, line in enumerate(kept.splitlines(), start=1) if n > 1]
    if len(kept) < len(whole):
        os.truncate(path, len(kept))
    return {str(line.pop("key")): line for line in lines}


def _parse(line: bytes, *, path: Path, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict) or "key" not in record:
        raise BenchError(
            f"line {number} of '{path}' is damaged",
            rule="a journal has one JSON object per line; only its last line may be cut off",
            hint=f"remove this line, or {ANOTHER}",
        )
    return record
