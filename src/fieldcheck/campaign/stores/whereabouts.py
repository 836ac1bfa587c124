"""Where a path leads: what is written to an open file is found by nobody once its path leads to another one."""

from __future__ import annotations

import contextlib
import itertools
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PARTS = ("", "-wal", "-shm")
"""Endings of SQLite's files: the database, its write-ahead log, and the index of that."""


EFFECTIVE = os.access in os.supports_effective_ids


@dataclass(frozen=True)
class Whereabouts:
    """What somebody finds who opens a path now.

    files
        Device and inode of each part; None where there is none.
    stamp
        Size and time of the last change of the database itself.
    writable
        Whether all that is there may be read and written.
    """

    files: tuple[tuple[int, int] | None, ...]
    stamp: tuple[int, int] | None
    writable: bool


def whereabouts(path: Path) -> Whereabouts:
    """Look, through any links, as SQLite does. No file is opened: closing it would take away SQLite's locks."""
    real = os.path.realpath(path) if os.path.islink(path) else str(path)  # links to folders need no help
    states = {real + part: _state(real + part) for part in PARTS}
    database = states[real]
    return Whereabouts(
        files=tuple(None if state is None else (state.st_dev, state.st_ino) for state in states.values()),
        stamp=None if database is None else (database.st_size, database.st_mtime_ns),
        writable=all(state is None or _may_write(name) for name, state in states.items()),
    )


def _state(name: str) -> os.stat_result | None:
    try:
        return os.stat(name)
    except OSError:
        return None


def _may_write(name: str) -> bool:
    return os.access(name, os.R_OK | os.W_OK, effective_ids=EFFECTIVE)


def rescue_places(path: Path) -> Iterator[Path]:
    """New, empty files for a copy: beside the path, else in a temporary folder that only its owner can look into."""
    with contextlib.suppress(OSError):
        yield _new(path)
    with contextlib.suppress(OSError):
        yield _new(Path(tempfile.mkdtemp(prefix="fieldcheck-")) / path.name)


def _new(path: Path) -> Path:
    """``NAME.rescued``, or with a number: an older copy may be all that is left of something."""
    for number in itertools.count(1):
        free = path.with_name(f"{path.name}.rescued" if number == 1 else f"{path.name}.{number}.rescued")
        try:
            free.touch(exist_ok=False)
        except FileExistsError:
            continue
        return free
    raise AssertionError("there is always another number")
