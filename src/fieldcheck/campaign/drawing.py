"""From what a design draws to an event: a campaign keeps each draw, and never has to repeat it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fieldcheck.campaign.settings import INTERNAL
from fieldcheck.campaign.state import State
from fieldcheck.campaign.stores.base import Event
from fieldcheck.core.errors import CampaignError
from fieldcheck.core.label import Missing, as_record
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.sample import Sample


def drawn_event(sample: Sample, pool: Pool, *, before: Sample | None = None, state: State | None = None) -> Event:
    """What the question added to the sample before, and what people had said by then.

    state
        After which it was drawn; None at the start.
    """
    start = 0 if before is None else len(before)
    _check_same_start(sample, before)
    known = {} if state is None else state.items
    items = sample.items[start:]
    new = dict(zip(pool.ids_of(items), items.tolist(), strict=True))
    fresh = {name: item for name, item in new.items() if name not in known}
    return Event(
        kind="drawn",
        key=f"{INTERNAL}drawn:{start}",
        data={
            "ids": list(fresh),
            "positions": list(fresh.values()),
            "seen": {} if state is None else _newly_seen(state),
            "sample": _part(sample, start),
        },
    )


def _check_same_start(sample: Sample, before: Sample | None) -> None:
    if before is None:
        return
    if len(sample) <= len(before) or not np.array_equal(sample.items[: len(before)], before.items):
        raise CampaignError(
            "the items that were drawn before cannot be drawn again",
            rule="a campaign goes on from the same items; rounding differs between versions of numpy",
            hint="go on where the campaign was started, or close it and start another",
        )


def _newly_seen(state: State) -> dict[str, dict[str, Any]]:
    new = (item for item in state.items.values() if item.id not in state.seen)
    return {item.id: as_record(item.label or Missing()) for item in new if item.done or item.standing == "disputed"}


def _part(sample: Sample, start: int) -> Mapping[str, Any]:
    return {name: value for name, value in sample.after(start).as_record().items() if name != "population"}
