"""A state as text, and back: a campaign of many events is opened from it, and reads only those that came after."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, astuple
from typing import Any

from fieldcheck.campaign.item_state import Annotation, ItemFlag, Items, ItemState, Lease
from fieldcheck.campaign.settings import Place, Settings
from fieldcheck.campaign.state import Draw, State
from fieldcheck.core.label import as_record, from_record

FORMAT = 4
"""Of the text; one of another format is not read, and the events are."""


def as_text(state: State) -> str:
    """All that a state holds."""
    record = {
        "format": FORMAT,
        "settings": state.settings.as_record(),
        "number": state.number,
        "changed": state.changed,
        "items": [_row(item) for item in state.items.values()],
        "draws": [asdict(draw) for draw in state.draws],
        "seen": {name: as_record(label) for name, label in state.seen.items()},
        "declared": state.declared,
        "closed": state.closed,
        "names": state.names,
        "pools": [astuple(place) for place in state.pools],
        "invited": dict(state.invited),
        "shown": state.shown,
        "exported": state.exported,
    }
    return json.dumps(record, separators=(",", ":"))


def from_text(text: str) -> State | None:
    """The inverse of ``as_text``; None where another version wrote it."""
    with _uncollected():
        return _state(json.loads(text))


@contextmanager
def _uncollected() -> Iterator[None]:
    """Hundreds of thousands of objects are made, and all stay: looking for garbage would take half of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _state(record: Mapping[str, Any]) -> State | None:
    if record["format"] != FORMAT:
        return None
    return State(
        settings=Settings.from_record(record["settings"]),
        number=record["number"],
        changed=record["changed"],
        items=Items.of([_item(row) for row in record["items"]]),
        draws=tuple(_draw(draw) for draw in record["draws"]),
        seen={name: from_record(label) for name, label in record["seen"].items()},
        declared=tuple(record["declared"]),
        closed=record["closed"],
        names=tuple(record["names"]),
        pools=tuple(Place(*place) for place in record["pools"]),
        invited=record["invited"],
        shown=record["shown"],
        exported=tuple(record["exported"]),
    )


def _row(item: ItemState) -> list[Any]:
    """Most items have one label and nothing else: what is empty at the end is left out."""
    held = ([astuple(one) for one in kind] for kind in (item.flags, item.leases))
    rest = [[_said(one) for one in item.skips], *held, None if item.final is None else _said(item.final)]
    label = None if item.label is None else as_record(item.label)
    row = [item.id, item.position, item.standing, label, [_said(one) for one in item.labels]]
    return [*row, *rest] if any(rest) else row


def _said(one: Annotation) -> tuple[Any, ...]:
    return as_record(one.label), one.by, one.typed, one.at, one.number


def _item(row: Sequence[Any]) -> ItemState:
    name, position, standing, label, labels, *rest = row
    skips, flags, leases, final = rest or ((), (), (), None)
    return ItemState(
        name,
        position,
        tuple([_annotation(name, said) for said in labels]),
        tuple([_annotation(name, said) for said in skips]),
        tuple([ItemFlag(*one) for one in flags]),
        tuple([Lease(*one) for one in leases]),
        standing,
        None if label is None else from_record(label),
        None if final is None else _annotation(name, final),
    )


def _annotation(item: str, row: Sequence[Any]) -> Annotation:
    label, *more = row
    return Annotation(item, from_record(label), *more)


def _draw(record: dict[str, Any]) -> Draw:
    train = None if record["train"] is None else tuple(record["train"])
    return Draw(**{**record, "items": tuple(record["items"]), "warnings": tuple(record["warnings"]), "train": train})
