"""JSON objects, one a line, that survive a kill: what was added is on disk, and half a line at the end is dropped."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fieldcheck.core.errors import FieldcheckError


class JsonLines:
    """A file of records under a first line that says what it is; read once, then only added to.

    error, hint
        What is raised for a file that is another one or damaged, and what to do then.
    """

    def __init__(self, path: Path, header: Mapping[str, Any], *, error: type[FieldcheckError], hint: str) -> None:
        self.path, self._error, self._hint = path, error, hint
        self._first = json.dumps(header).encode() + b"\n"
        try:
            self.records = self._read()
        except OSError as problem:
            raise error(
                f"'{path}' cannot be opened: {problem.strerror}", rule="a file that can be read and written"
            ) from problem

    def add(self, record: Mapping[str, Any]) -> None:
        """Keep a record; it is on disk when this returns."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def _read(self) -> list[dict[str, Any]]:
        whole = self.path.read_bytes() if self.path.exists() else b""
        if len(whole) < len(self._first) and self._first.startswith(whole):
            self.path.write_bytes(self._first)
            return []
        kept = whole[: whole.rfind(b"\n") + 1]
        if not kept.startswith(self._first):
            first = self._first.decode().strip()
            raise self._error(f"'{self.path}' is another file", rule=f"its first line is {first}", hint=self._hint)
        records = [self._parse(line, number) for number, line in enumerate(kept.splitlines(), start=1) if number > 1]
        if len(kept) < len(whole):
            os.truncate(self.path, len(kept))
        return records

    def _parse(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            raise self._error(
                f"line {number} of '{self.path}' is damaged",
                rule="one JSON object per line; only the last line may be cut off",
                hint=f"remove this line, or {self._hint}",
            )
        return record
