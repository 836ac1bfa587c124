"""The folder of a run: what was asked for, and every outcome as it came.

A part is written beside its place and moved there when it is on disk, so that a run that is killed has whole parts
only. What comes next follows from the parts alone: a run that goes on is the run that was never stopped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.space import Outcomes
from fieldcheck.core.types import IntArray

FORMAT = 1
HEAD = "run.json"
PARTS = "outcomes"
COLUMNS = ("tests", "inputs", "held", "chance", "arrangements")


@dataclass(frozen=True)
class Ledger:
    """One run's folder."""

    folder: Path

    @classmethod
    def create(cls, folder: str | Path, head: Mapping[str, Any], *, resume: bool = False) -> Ledger:
        """A new folder; with ``resume`` one that is there already, if it was begun with the same head."""
        ledger = cls(Path(folder))
        if ledger._head.exists() and ledger.parts():
            ledger._check_same(head, resume=resume)
            return ledger
        begun = ledger._head.exists()  # and stopped before its first outcome: nothing is lost by beginning again
        if not begun and ledger.folder.exists() and (not ledger.folder.is_dir() or any(ledger.folder.iterdir())):
            raise SpaceError(f"{folder} is not empty and not a run", rule="a run has a folder of its own", hint="--out")
        try:
            (ledger.folder / PARTS).mkdir(parents=True, exist_ok=True)
            write_whole(ledger._head, json.dumps({"format": FORMAT, **head}, indent=1).encode())
        except OSError as error:
            raise SpaceError(f"{folder}: {error.strerror}", rule="a folder that can be written to") from error
        return ledger

    @classmethod
    def open(cls, folder: str | Path) -> Ledger:
        """The folder of a run that was begun."""
        ledger = cls(Path(folder))
        if not ledger._head.exists():
            raise SpaceError(f"{folder} is not a run", rule="the folder that `tomography run --out` wrote")
        return ledger

    @property
    def _head(self) -> Path:
        return self.folder / HEAD

    def head(self) -> dict[str, Any]:
        """What the run was begun with."""
        try:
            found: dict[str, Any] = json.loads(self._head.read_bytes())
            newer = int(found.pop("format")) > FORMAT
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SpaceError(f"{self._head} is damaged", rule="it is written once and never changed") from error
        if newer:
            raise SpaceError(f"{self.folder} was made by a newer version", rule=f"formats up to {FORMAT}")
        return found

    def _check_same(self, head: Mapping[str, Any], *, resume: bool) -> None:
        if not resume:
            raise SpaceError(
                f"{self.folder} holds a run", rule="outcomes are not overwritten", hint="--resume, or --out"
            )
        before, now = self.head(), json.loads(json.dumps(head))
        changed = [name for name in {**before, **now} if before.get(name) != now.get(name)]
        if changed:
            raise SpaceError(
                f"{self.folder} was begun with another {changed[0]}",
                rule="a run goes on with the same space, model, data and plan",
                hint="another --out",
            )

    def add(self, outcomes: Outcomes, arrangements: IntArray | None = None) -> None:
        """Store the next part; it is on disk when this returns."""
        columns: dict[str, npt.NDArray[Any]] = {
            "tests": outcomes.tests,
            "inputs": outcomes.inputs,
            "held": outcomes.held.astype(np.float32),
        }
        if outcomes.chance is not None:
            columns["chance"] = outcomes.chance
        if arrangements is not None:
            columns["arrangements"] = arrangements
        number = len(self.parts())
        temporary = self.folder / PARTS / f".{number:06d}"
        with temporary.open("wb") as stream:
            np.savez_compressed(stream, **columns)  # type: ignore[arg-type]
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(self.folder / PARTS / f"{number:06d}.npz")
        sync_folder(self.folder / PARTS)

    def parts(self) -> list[Path]:
        """The parts that are there, in order."""
        found = sorted((self.folder / PARTS).glob("[0-9]*.npz"))
        for number, path in enumerate(found):
            if path.stem != f"{number:06d}":
                raise SpaceError(
                    f"{self.folder}: part {number} is missing",
                    rule="outcomes are one after the other",
                    hint=f"delete the parts from {number} on and --resume",
                )
        return found

    def read(self) -> tuple[Outcomes, IntArray | None]:
        """All outcomes so far, in the order in which they came, and their arrangements where order matters."""
        parts = [_read(path) for path in self.parts()]
        if not parts:
            none = np.zeros(0, dtype=np.int64)
            return Outcomes(none, none, np.zeros(0)), None
        joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        outcomes = Outcomes(joined["tests"], joined["inputs"], joined["held"].astype(np.float64), joined.get("chance"))
        return outcomes, joined.get("arrangements")


def _read(path: Path) -> dict[str, npt.NDArray[Any]]:
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in COLUMNS if name in file}
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise SpaceError(
            f"{path} is damaged: {error}",
            rule="parts are written once",
            hint="delete it and all later ones, then --resume",
        ) from error


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is there as a whole or not at all."""
    temporary = path.with_name(f".{path.name}.part")
    with temporary.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make a rename survive a loss of power, where folders can be opened."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
