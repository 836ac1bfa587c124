"""A file that is something else than a verb takes: what it is, and what to run with it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fieldcheck import models, sources
from fieldcheck.campaign.exchange import sheet
from fieldcheck.core.errors import FieldcheckError
from fieldcheck.sources.inputs import images as encoded

RUN = "run.json"
"""What the folder of a tomography holds."""


@dataclass(frozen=True)
class Recognised:
    """What a file is, in words, and the command that takes it."""

    words: str
    command: tuple[str, ...]

    @property
    def hint(self) -> str:
        return shlex.join(self.command)


def recognised(place: str | Path) -> Recognised | None:
    """What a file or folder is; None where that cannot be told."""
    path = Path(place)
    if path.is_dir():
        return _folder(path)
    if not path.is_file():
        return None
    if not sheet.is_sheet(str(path)):
        return Recognised("a campaign", ("fieldcheck", "status", str(path)))
    if models.is_model_file(path):
        run = ("fieldcheck", "predict", str(path), "INPUTS", "--out", f"{path.stem}.parquet")
        return Recognised("a model", run)
    return _table(path) if path.name.lower().endswith(sources.suffixes()) else None


def _folder(path: Path) -> Recognised | None:
    if (path / RUN).is_file():
        return Recognised("a run of tomography", ("fieldcheck", "tomography", "worst", str(path)))
    if any(one.suffix.lower() in encoded.SUFFIXES for one in path.rglob("*")):
        return Recognised("a folder of images", ("fieldcheck", "predict", "MODEL", str(path), "--out", "pool.parquet"))
    return None


def _table(path: Path) -> Recognised | None:
    """A sheet with its campaign beside it, a sheet of another campaign, or a pool."""
    if sheet.campaign_file(path).exists():
        return Recognised("a sheet to fill in", ("fieldcheck", "estimate", str(path)))
    try:
        found = sources.read(path)
    except FieldcheckError:
        return None
    names = {name.strip().lower() for name in found.table.columns}
    if {"id", "label", "reason"} <= names:
        return Recognised("a sheet of items to label", ("fieldcheck", "import", _beside(path), str(path)))
    try:
        pool = found.pool(sources.name_of(path))
    except FieldcheckError:
        return None
    command = ("fieldcheck", "start", str(path), "--campaign", f"{pool.name}.db")
    return Recognised(f"a pool of {len(pool):,} items", command)


def _beside(path: Path) -> str:
    """The campaign in the folder of a sheet, where there is but one."""
    there = list(path.parent.glob("*.db"))
    return str(there[0]) if len(there) == 1 else "CAMPAIGN"


@contextmanager
def expecting(place: str | Path, wanted: str) -> Iterator[None]:
    """Around whatever reads a file: what is none of the kind that is wanted is refused by what it is."""
    try:
        yield
    except FieldcheckError as error:
        found = recognised(place)
        if found is None or found.words.startswith(wanted):
            raise
        problem = f"{place} is {found.words}, not {wanted} ({error.problem})"
        raise type(error)(problem, rule=error.rule, hint=found.hint) from error
