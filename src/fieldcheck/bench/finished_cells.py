"""A file that remembers finished cells, so that a bench that was killed goes on where it stopped.

A cell is found again by a key made of all that determines its numbers; cells of other settings do not match and stay in
the file, so that one file can serve several comparisons.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fieldcheck.bench.result import CellResult
from fieldcheck.core.errors import BenchError
from fieldcheck.files.damage import decoding
from fieldcheck.files.lines import JsonLines

HEADER = {"fieldcheck": "finished cells of a bench", "format": 1}

ANOTHER = "--resume with a new file name"


def key_of(settings: Mapping[str, Any]) -> str:
    """The name of a cell in the file."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


class FinishedCells:
    """Finished cells by key; reads the file once, then only appends."""

    def __init__(self, path: Path) -> None:
        self._lines = JsonLines(path, HEADER, error=BenchError, hint=ANOTHER)
        with decoding(path, BenchError, rule="cells as a bench wrote them", hint=ANOTHER):
            self._finished = {str(line.pop("key")): line for line in self._lines.records}

    def find(self, key: str) -> CellResult | None:
        record = self._finished.get(key)
        if record is None:
            return None
        with decoding(self._lines.path, BenchError, rule="cells as a bench wrote them", hint=ANOTHER):
            return CellResult.from_record(record)

    def add(self, key: str, result: CellResult) -> None:
        """Keep a cell; it is on disk when this returns."""
        record = result.as_record()
        self._finished[key] = record
        self._lines.add({"key": key, **record})
