"""The folder of a run: what was asked for, and every outcome as it came.

A part is written beside its place and moved there when it is on disk, so that a run that is killed has whole parts
only. What comes next follows from the parts alone: a run that goes on is the run that was never stopped.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.space import Axis, Outcomes, Space
from fieldcheck.core.types import IntArray
from fieldcheck.files.whole import sync_folder, write_whole

FORMAT = 1


HEAD = "run.json"


PARTS = "outcomes"


COLUMNS = ("tests", "inputs", "held", "chance", "arrangements")


GROWING = ("budget", "width", "earlier")
"""Parts of a head that may change when a run goes on; ``earlier`` lists what budget and width were before."""


NOUNS = {
    "rule": "way to stop: --inferences, --half-width or --stop",
    "plan": "--plan",
    "settings": "setting of [model], [data] or [check]",
    "truth": "recorded truth",
}
"""What parts of a head are called, where their name does not say it."""


@dataclass(frozen=True)
class RunFolder:
    """One run's folder."""

    folder: Path

    @classmethod
    def create(cls, folder: str | Path, head: Mapping[str, Any], *, resume: bool = False) -> RunFolder:
        """A new folder; with ``resume`` one that is there already, if it was begun with the same head.

        It may have had a smaller budget or a wider half-width: the head then tells what was asked for before.
        """
        ledger = cls(Path(folder))
        if ledger._head.exists() and ledger.parts():
            ledger._go_on(head, resume=resume)
            return ledger
        begun = ledger._head.exists()  # and stopped before its first outcome: nothing is lost by beginning again
        if not begun and ledger.folder.exists() and (not ledger.folder.is_dir() or any(ledger.folder.iterdir())):
            raise SpaceError(f"{folder} is not empty and not a run", rule="a run has a folder of its own", hint="--out")
        try:
            (ledger.folder / PARTS).mkdir(parents=True, exist_ok=True)
            ledger._write_head(head)
        except OSError as error:
            raise SpaceError(f"{folder}: {error.strerror}", rule="a folder that can be written to") from error
        return ledger

    @classmethod
    def open(cls, folder: str | Path) -> RunFolder:
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
            raise SpaceError(f"{self._head} is damaged", rule="only --resume writes to it") from error
        if newer:
            raise SpaceError(f"{self.folder} was made by a newer version", rule=f"formats up to {FORMAT}")
        return found

    def _write_head(self, head: Mapping[str, Any]) -> None:
        write_whole(self._head, json.dumps({"format": FORMAT, **head}, indent=1).encode())

    def _go_on(self, head: Mapping[str, Any], *, resume: bool) -> None:
        if not resume:
            raise SpaceError(
                f"{self.folder} holds a run",
                rule="outcomes are not overwritten",
                hint="--resume to go on, also with more --inferences; or another --out",
            )
        before, now = self.head(), json.loads(json.dumps(head))
        changed = _changed(before, now)
        if changed:
            raise SpaceError(
                f"{self.folder} was begun with another {NOUNS.get(changed[0], changed[0])}",
                rule="a run goes on with the same space, model, data and plan",
                hint="another --out",
            )
        self._check_larger(before, now)
        if any(before.get(name) != now.get(name) for name in ("budget", "width")):
            stage = {name: before.get(name) for name in ("budget", "width")}
            self._write_head({**now, "earlier": [*before.get("earlier", ()), stage]})

    def _check_larger(self, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        """Refuse to go on with less than was asked for: what was measured stays."""
        had, wanted = _no_limit(before.get("budget")), _no_limit(now.get("budget"))
        if wanted < had:
            raise SpaceError(
                f"{self.folder} was asked for {_inferences(had)}, {wanted:,} are fewer",
                rule="a run goes on with as many inferences as before, or more: what was measured stays",
                hint=f"--inferences {had}, or more" if had < math.inf else "another --out",
            )
        if (now.get("width") or 0) > (before.get("width") or 0):
            raise SpaceError(
                f"{self.folder} was asked for a half-width of {before['width']:g}, {now['width']:g} is wider",
                rule="a run goes on until intervals are as narrow as before, or narrower",
                hint=f"--half-width {before['width']:g}, or less",
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


def _changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Names of what differs and may not; of the subject, which part of it."""
    differ = [name for name in {**before, **now} if name not in GROWING and before.get(name) != now.get(name)]
    if differ[:1] != ["subject"]:
        return differ
    return _changed(before["subject"], now["subject"]) or differ


def _no_limit(budget: int | None) -> float:
    return math.inf if budget is None else budget


def _inferences(number: float) -> str:
    return f"{number:,} inferences" if number < math.inf else "as many inferences as there are"


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


def space_record(space: Space) -> list[dict[str, Any]]:
    """A space as plain values."""
    return [
        {"name": axis.name, "levels": axis.levels, "perturbation": axis.perturbation, "words": dict(axis.words)}
        for axis in space.axes
    ]


def space_of(record: Any) -> Space:
    """The inverse of ``space_record``."""
    return Space(
        tuple(
            Axis(row["name"], row["levels"], row["perturbation"], {k: (v[0], v[1]) for k, v in row["words"].items()})
            for row in json.loads(json.dumps(record))
        )
    )
