"""What the verbs of a campaign share: which file is one, how it is opened, and what labels there are in any file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Protocol

import typer

from fieldcheck.accuracy.assessment.labelled import Sheet
from fieldcheck.accuracy.designs.base import Design
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.sheets.files import read_answers, read_pool, read_sheet
from fieldcheck.campaign.stores import is_address
from fieldcheck.core.errors import SampleError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.label import Label
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.sample import Labelled
from fieldcheck.core.types import Loss

SQLITE = b"SQLite format 3\0"


Storage = Annotated[str, typer.Argument(metavar="CAMPAIGN", help="The campaign's file, or its postgresql:// address.")]


PoolMoved = Annotated[Path | None, typer.Option("--pool", help="The pool, where it has been moved.")]


Annotator = Annotated[str, typer.Option("--by", metavar="NAME", help="Whose labels they are.")]


DATABASES = frozenset({".db", ".sqlite", ".sqlite3"})
"""Suffixes that no sheet has: what is missing or damaged there is a campaign."""


def is_campaign(place: str) -> bool:
    """Whether it is a campaign, and not a labelling sheet."""
    if is_address(place):
        return True
    try:
        with Path(place).open("rb") as stream:
            return stream.read(len(SQLITE)) == SQLITE or Path(place).suffix.lower() in DATABASES
    except OSError:
        return Path(place).suffix.lower() in DATABASES


def open_campaign(storage: str, pool: Path | None = None) -> Campaign:
    """The campaign at a place; to be used in a ``with`` statement."""
    return Campaign.open(storage, pool=pool)


class Labels(Protocol):
    """A sample and its labels, wherever they are kept."""

    @property
    def design(self) -> Design: ...

    @property
    def loss(self) -> Loss: ...

    @property
    def budget(self) -> int: ...

    @property
    def seed(self) -> int: ...

    def pool(self) -> Pool: ...

    def answers(self) -> Mapping[str, Label]: ...

    def labelled(self) -> Labelled: ...

    def estimate(self, level: float) -> Estimate: ...


@dataclass(frozen=True)
class CampaignLabels:
    """Those of a campaign."""

    campaign: Campaign

    @property
    def design(self) -> Design:
        return self.campaign.view.design

    @property
    def loss(self) -> Loss:
        return self.campaign.settings.loss

    @property
    def budget(self) -> int:
        return self.campaign.settings.most

    @property
    def seed(self) -> int:
        return self.campaign.settings.seed

    def pool(self) -> Pool:
        return self.campaign.pool

    def answers(self) -> Mapping[str, Label]:
        return self.campaign.view.answers()

    def labelled(self) -> Labelled:
        return self.campaign.view.labelled()[0]

    def estimate(self, level: float) -> Estimate:
        return self.campaign.estimate(level=level)


@dataclass(frozen=True, eq=False)
class SheetLabels:
    """Those of a filled-in sheet; its pool is read when it is needed."""

    path: Path
    sheet: Sheet
    given: Path | None = None
    _read: list[Pool] = field(default_factory=list)

    @property
    def design(self) -> Design:
        return self.sheet.design

    @property
    def loss(self) -> Loss:
        return self.sheet.loss

    @property
    def budget(self) -> int:
        return self.sheet.budget

    @property
    def seed(self) -> int:
        return self.sheet.seed

    def pool(self) -> Pool:
        if not self._read:
            self._read.append(read_pool(self.path, self.sheet, self.given))
        return self._read[0]

    def answers(self) -> Mapping[str, Label]:
        return read_answers(self.path, self.sheet)

    def labelled(self) -> Labelled:
        return self.sheet.labelled(self.answers(), self.pool())[0]

    def estimate(self, level: float) -> Estimate:
        return self.sheet.estimate(self.answers(), self.pool() if self.sheet.needs_pool else None, level=level)


@contextmanager
def labels_of(file: str, pool: Path | None = None) -> Iterator[Labels]:
    """The labels of a campaign or of a sheet, whichever it is."""
    if not is_campaign(file):
        path = Path(file)
        if path.is_dir():
            raise SampleError(f"{file} cannot be read: it is a folder", rule="a campaign, or a filled-in file")
        yield SheetLabels(path, read_sheet(path), pool)
        return
    with open_campaign(file, pool) as campaign:
        yield CampaignLabels(campaign)
