"""The folder of a run: what was asked for, and every outcome as it came.

A part is written beside its place and moved there when it is on disk, so that a run that is killed has whole parts
only. What comes next follows from the parts alone: a run that goes on is the run that was never stopped.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core import boxes as box
from fieldcheck.core import space as spaces
from fieldcheck.core.errors import SpaceError
from fieldcheck.core.space import Axis, Outcomes, Space
from fieldcheck.core.types import IntArray
from fieldcheck.files import npz, schema
from fieldcheck.files.damage import decoding
from fieldcheck.files.whole import whole_file, write_text

FORMAT = 1


HEAD = "run.json"


PARTS = "outcomes"


COLUMNS = ("tests", "inputs", "held", "chance", "arrangements")
"""Of a part; the first three are always there."""


KINDS = {"tests": "iu", "inputs": "iu", "held": "f", "chance": "f", "arrangements": "iu"}
"""Letters that numpy has for their types."""


FEW = 10
"""Parts whose names can be pasted."""


ONCE, DELETE = "parts are written once", "delete it and all later ones, then --resume"


BACKUP = "restore run.json, or begin again with another --out"


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
        with decoding(self._head, SpaceError, rule="only --resume writes to it", hint=BACKUP):
            found: dict[str, Any] = schema.checked(
                json.loads(self._head.read_bytes()), {"format": int}, self._head, SpaceError, hint=BACKUP
            )
        if found.pop("format") > FORMAT:
            raise SpaceError(f"{self.folder} was made by a newer version", rule=f"formats up to {FORMAT}")
        return found

    def _write_head(self, head: Mapping[str, Any]) -> None:
        write_text(self._head, json.dumps({"format": FORMAT, **head}, indent=1))

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

    def add(self, outcomes: Outcomes, arrangements: IntArray | None = None, objects: box.Objects | None = None) -> None:
        """Store the next part; it is on disk when this returns. box.Objects are numbered by the rows of the part."""
        columns: dict[str, npt.NDArray[Any]] = {
            "tests": outcomes.tests,
            "inputs": outcomes.inputs,
            "held": outcomes.held.astype(np.float32),
        }
        if outcomes.chance is not None:
            columns["chance"] = outcomes.chance
        if arrangements is not None:
            columns["arrangements"] = arrangements
        if objects is not None:
            columns |= {name: _small(getattr(objects, name)) for name in box.PARTS}
        number = len(self.parts())
        with whole_file(self.folder / PARTS / f"{number:06d}.npz") as place, place.open("wb") as stream:
            np.savez_compressed(stream, **columns)  # type: ignore[arg-type]

    def objects(self) -> box.Objects | None:
        """All single objects, by row of the run; None where no part has any."""
        found, begun = [], 0
        for path in self.parts():
            with npz.open_npz(path, SpaceError, rule=ONCE, hint=DELETE) as file:
                part = file.read([name for name in ("tests", *box.PARTS) if name in file.headers])
            if len(part) > 1:
                with decoding(path, SpaceError, rule=ONCE, hint=DELETE):
                    found.append(_whole(part, begun))
            begun += len(part["tests"])
        return box.Objects(*(np.concatenate(column) for column in zip(*found, strict=True))) if found else None

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
        head = self.head()
        tests = space_of(head["space"], self._head).size if "space" in head else spaces.LARGEST
        limits = {"tests": tests, "inputs": head.get("inputs") or spaces.LARGEST}
        parts = [_read(path, limits) for path in self.parts()]
        if not parts:
            none = np.zeros(0, dtype=np.int64)
            return Outcomes(none, none, np.zeros(0)), None
        with decoding(self.folder / PARTS, SpaceError, rule="parts of one run", hint=DELETE):
            joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        outcomes = Outcomes(joined["tests"], joined["inputs"], joined["held"].astype(np.float64), joined.get("chance"))
        return outcomes, joined.get("arrangements")


def _small(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The column in fewer bytes; scores keep three digits and classes are whole."""
    narrow = {"f": np.float32, "i": np.int32}.get(column.dtype.kind)
    return column if narrow is None else column.astype(narrow)


def _whole(part: Mapping[str, npt.NDArray[Any]], begun: int) -> list[npt.NDArray[Any]]:
    """The columns of ``box.Objects`` in a part whose first row is row ``begun`` of the run."""
    wide = {"f": np.float64, "i": np.int64}
    columns = [part[name].astype(wide.get(part[name].dtype.kind, bool)) for name in box.PARTS]
    return [
        column + begun if name.endswith("_rows") else column for name, column in zip(box.PARTS, columns, strict=True)
    ]


def _changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Names of what differs and may not; of the subject, which part of it."""
    differ = [name for name in {**before, **now} if name not in GROWING and before.get(name) != now.get(name)]
    if differ[:1] != ["subject"]:
        return differ
    return _changed(before["subject"], now["subject"]) or differ


def _remedy(part: Path) -> str:
    """What to type: later parts were drawn after this one, and go with it."""
    later = [path for path in sorted(part.parent.glob("[0-9]*.npz")) if path.name >= part.name]
    if len(later) > FEW:
        return DELETE
    return f"rm {shlex.join(map(str, later))}, then `tomography run` as before with --resume"


def _no_limit(budget: int | None) -> float:
    return math.inf if budget is None else budget


def _inferences(number: float) -> str:
    return f"{number:,} inferences" if number < math.inf else "as many inferences as there are"


def _read(path: Path, limits: Mapping[str, int]) -> dict[str, npt.NDArray[Any]]:
    """A part; its tests and inputs are numbers below the limits."""
    with npz.open_npz(path, SpaceError, rule=ONCE, hint=_remedy(path)) as file:
        part = file.read([name for name in COLUMNS if name in file.headers])
    if problem := _problem(part, limits):
        raise SpaceError(f"{path} is damaged: {problem}", rule=ONCE, hint=_remedy(path))
    return part


def _problem(part: Mapping[str, npt.NDArray[Any]], limits: Mapping[str, int]) -> str:
    """What keeps a part from being one; nothing if it is one."""
    lacking = [name for name in COLUMNS[:3] if name not in part]
    if lacking:
        return f"it has no '{lacking[0]}'"
    for name, column in part.items():
        if column.shape != part["tests"].shape or column.ndim != 1 or column.dtype.kind not in KINDS[name]:
            return f"'{name}' is {column.dtype} of shape {column.shape}"
    outside = [name for name, limit in limits.items() if np.any((part[name] < 0) | (part[name] >= limit))]
    if outside:
        return f"'{outside[0]}' has numbers that the run does not have"
    held = part["held"]
    return "" if np.all(np.isnan(held) | ((held >= 0) & (held <= 1))) else "'held' is not between 0 and 1"


def space_record(space: Space) -> list[dict[str, Any]]:
    """A space as plain values."""
    return [
        {"name": axis.name, "levels": axis.levels, "perturbation": axis.perturbation, "words": dict(axis.words)}
        | {name: list(part) for name in ("chosen", "of", "amounts") if (part := getattr(axis, name))}
        for axis in space.axes
    ]


AXIS = {"name": str, "levels": int, "perturbation": str, "words": dict}


def space_of(record: Any, where: object) -> Space:
    """The inverse of ``space_record``; an error says where the record is."""
    with decoding(where, SpaceError, rule="only --resume writes to it", hint=BACKUP):
        rows = [schema.checked(row, AXIS, where, SpaceError, hint=BACKUP) for row in record]
        return Space(
            tuple(
                Axis(
                    one["name"],
                    one["levels"],
                    one["perturbation"],
                    {k: (v[0], v[1]) for k, v in one["words"].items()},
                    tuple(map(int, one.get("chosen", ()))),
                    tuple(map(str, one.get("of", ()))),
                    tuple((float(low), float(high)) for low, high in one.get("amounts", ())),
                )
                for one in rows
            )
        )
