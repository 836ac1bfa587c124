"""Items that were set apart to train the next version with, as files and as a data set."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.exchange.export import blank, content_at, file_name, shown
from fieldcheck.campaign.exchange.formats import as_csv
from fieldcheck.campaign.items import Content
from fieldcheck.core.errors import FieldcheckError
from fieldcheck.files import whole

KINDS = ("csv", "jsonl")


def check_kind(kind: str) -> None:
    """Refuse what no table is written in, before anything is put on record."""
    if kind not in KINDS:
        raise FieldcheckError(f"format '{kind}'", rule=" or ".join(KINDS), hint="--format csv")


@dataclass(frozen=True)
class TrainingItem:
    """One item with its label.

    failed
        Whether the version that was judged is wrong on it.
    columns
        What there is to see of it: texts, and further columns of the pool.
    content
        Its picture or text.
    """

    id: str
    label: str
    prediction: str | float | None
    failed: bool
    columns: dict[str, str]
    content: Content

    def as_record(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "id": self.id,
            "label": self.label,
            "prediction": self.prediction,
            "failed": self.failed,
            **{name: value for name, value in self.columns.items() if name != "id"},
        }


class TrainingSet(Sequence[TrainingItem]):
    """What a campaign gave away to train with. A DataLoader of torch takes it as it is; ``to_list`` is for
    ``datasets.Dataset.from_list``."""

    def __init__(self, items: Sequence[TrainingItem]) -> None:
        self._items = tuple(items)

    @classmethod
    def of(cls, campaign: Campaign) -> TrainingSet:
        """The labelled items that were set apart; from now on they are known to have been given away."""
        campaign.give_to_train()
        failed = {one.item for one in campaign.failures()}
        given = [item for item in campaign.state.to_train() if item.label is not None and item.standing == "labelled"]
        seen = shown(campaign, [item.id for item in given])
        return cls(
            [
                TrainingItem(
                    item.id,
                    str(item.label),
                    campaign.pool.prediction_at(item.position),
                    item.id in failed,
                    one.cells(),
                    content_at(campaign, item.id),
                )
                for item, one in zip(given, seen, strict=True)
            ]
        )

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, at: int) -> TrainingItem: ...
    @overload
    def __getitem__(self, at: slice) -> TrainingSet: ...
    def __getitem__(self, at: int | slice) -> TrainingItem | TrainingSet:
        return TrainingSet(self._items[at]) if isinstance(at, slice) else self._items[at]

    def to_list(self) -> list[dict[str, Any]]:
        """Plain records."""
        return [one.as_record() for one in self]

    def write(self, folder: Path, kind: str = "csv") -> int:
        """A table ``training.csv`` (or .jsonl), and pictures in a folder for each class; the number of pictures."""
        check_kind(kind)
        folder.mkdir(parents=True, exist_ok=True)
        records = self.to_list()
        columns = list(dict.fromkeys(name for record in records for name in record)) or ["id", "label"]
        if kind == "csv":
            rows = ([blank(record.get(name)) for name in columns] for record in records)
            text = as_csv(columns, rows)
        else:
            text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        whole.write_text(folder / f"training.{kind}", text)
        pictures = [one for one in self if one.content.kind == "image"]
        for one in pictures:
            suffix = ".png" if one.content.path is None else one.content.path.suffix.lower()
            place = folder / "images" / file_name(one.label, "")
            place.mkdir(parents=True, exist_ok=True)
            whole.write_bytes(place / file_name(one.id, suffix), one.content.read())
        return len(pictures)
