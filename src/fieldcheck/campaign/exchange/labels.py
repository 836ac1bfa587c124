"""Labels as a table for other programs: the same fields wherever they leave."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fieldcheck.accuracy.assessment import slices
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.exchange.export import blank, shown
from fieldcheck.campaign.exchange.formats import as_csv
from fieldcheck.core.errors import FieldcheckError

FIELDS = ("annotator", "created_at", "lead_time", "sample_weight")
"""What every file of labels says about each: who, when (UTC), after how many seconds, for how many items it stands."""

KINDS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}


@dataclass(frozen=True)
class LabelRecord:
    """The label that counts, with what there is to see of its item.

    lead_time
        Seconds from when the annotator had the item, and was done with the last one; None where that is not known.
    weight
        For how many items of the pool it stands: the inverse of its chance to be drawn. None where that is not known.
    """

    item: str
    label: str
    prediction: str | float | None
    columns: Mapping[str, str]
    annotator: str
    at: float
    lead_time: float | None
    weight: float | None

    def as_record(self) -> dict[str, Any]:
        """Plain values, in the order of the columns."""
        given = {"id": self.item, "label": self.label, "prediction": self.prediction}
        told = dict(zip(FIELDS, (self.annotator, created_at(self.at), self.lead_time, self.weight), strict=True))
        return {**given, **{name: value for name, value in self.columns.items() if name not in told}, **told}


def created_at(at: float) -> str:
    """A moment in UTC, as other programs read it."""
    return datetime.datetime.fromtimestamp(at, datetime.UTC).isoformat(timespec="seconds")


def records(campaign: Campaign, only: Sequence[str] | None = None) -> list[LabelRecord]:
    """The labels that count, or those of some items, in the order of the design."""
    chosen = [item for item in campaign.state.items.values() if item.standing == "labelled"]
    chosen = [item for item in chosen if only is None or item.id in set(only)]
    weights, times = _weights(campaign), _lead_times(campaign)
    found = []
    for item, one in zip(chosen, shown(campaign, [item.id for item in chosen]), strict=True):
        first = next((said for said in item.labels if said.label == item.label), item.labels[0])
        said = campaign.pool.prediction_at(item.position)
        told = (first.by, first.at, times.get(first.number), weights.get(item.position))
        found.append(LabelRecord(item.id, str(item.label), said, one.cells(), *told))
    return found


def _weights(campaign: Campaign) -> dict[int, float]:
    """By position in the pool; none where the design does not say with which chance an item is drawn."""
    try:
        labelled, _ = campaign.view.labelled()
        chance = slices.item_fit(labelled).drawn.chance
    except FieldcheckError:
        return {}
    return dict(zip(labelled.sample.items.tolist(), (1 / chance).tolist(), strict=True))


def _lead_times(campaign: Campaign) -> dict[int, float]:
    """By the number of the event of a label."""
    had: dict[tuple[str, str], float] = {}
    last: dict[str, float] = {}
    found: dict[int, float] = {}
    for event in campaign.log.events():
        if event.kind == "leased":
            had.setdefault((event.by, event.item), event.at)
        elif event.kind in ("labelled", "skipped"):
            start = had.pop((event.by, event.item), None)
            if start is not None:
                found[event.number] = round(max(event.at - max(start, last.get(event.by, start)), 0.0), 1)
            last[event.by] = event.at
    return found


def as_text(found: Iterable[LabelRecord], kind: str) -> str:
    """The labels as CSV, or as JSON lines."""
    rows = [one.as_record() for one in found]
    if kind == "jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    seen = dict.fromkeys(["id", "label", "prediction", *(name for row in rows for name in row)])
    header = [*(name for name in seen if name not in FIELDS), *FIELDS]
    return as_csv(header, ([_cell(row.get(name)) for name in header] for row in rows))


def _cell(value: Any) -> Any:
    return f"{value:.10g}" if isinstance(value, float) else blank(value)
