"""Events as rows, each with a fingerprint that covers all rows before it: a changed or lost row is noticed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fieldcheck.campaign.stores.base import EVENT_KINDS, Event
from fieldcheck.core.errors import DamageError, StoreError

COLUMNS = ("number", "key", "kind", "item", "annotator", "at", "data", "digest")
"""Of the table of events, in this order."""


Row = Sequence[Any]
"""One value per column."""


@dataclass(frozen=True)
class Link:
    """How far the chain goes: the number of its last event, and the fingerprint of all up to it."""

    number: int = 0
    digest: str = ""


def linked(events: Iterable[Event], after: Link, *, place: str) -> list[tuple[Event, dict[str, Any]]]:
    """The events with their numbers, each with its row."""
    found = []
    for event in events:
        numbered = replace(event, number=after.number + 1)
        row = _row(numbered, after.digest, place=place)
        after = Link(numbered.number, row["digest"])
        found.append((numbered, row))
    return found


def fingerprint(events: Iterable[Event]) -> str:
    """Of all events together, made anew: the same on every machine, and for every copy."""
    link = Link()
    for _, row in linked(events, link, place=""):
        link = Link(row["number"], row["digest"])
    return link.digest


def checked(rows: Iterable[Row], after: Link, *, place: str) -> tuple[list[Event], Link]:
    """The events of consecutive rows, and how far the chain goes then; damage is refused."""
    events = []
    for row in rows:
        if row[0] != after.number + 1:
            raise _damaged(place, after.number + 1, "it is not there")
        if not _is_whole(row, after.digest):
            raise _damaged(place, row[0], "it is not what was stored")
        events.append(event_of(row))
        after = Link(row[0], row[-1])
    return events, after


def _is_whole(row: Row, before: str) -> bool:
    try:
        return bool(_digest(before, row[0], row[1:5], row[5], row[6]) == row[-1])
    except (TypeError, UnicodeEncodeError):  # a damaged file may hold values of any type
        return False


def event_of(row: Row) -> Event:
    """The event of a row."""
    number, key, kind, item, annotator, at, data, _ = row
    if kind not in EVENT_KINDS:
        raise StoreError(
            f"event {number} is '{kind}'",
            rule="this version knows: " + ", ".join(EVENT_KINDS),
            hint="pip install --upgrade fieldcheck",
        )
    return Event(kind=kind, key=key, item=item, by=annotator, at=at, data=json.loads(data), number=number)


def _row(event: Event, before: str, *, place: str) -> dict[str, Any]:
    texts = (event.key, event.kind, event.item, event.by)
    for text in texts:
        if "\0" in text or not _encodable(text):
            raise StoreError(f"{place}: {text!r} cannot be stored", rule="names and ids are text without control codes")
    at, data = float(event.at), _plain(event.data, place)
    digest = _digest(before, event.number, texts, at, data)
    return dict(zip(COLUMNS, (event.number, *texts, at, data, digest), strict=True))


def _plain(data: Mapping[str, Any], place: str) -> str:
    try:
        return json.dumps(dict(data), allow_nan=False, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise StoreError(f"{place}: an event cannot be stored ({error})", rule="its data are JSON values") from None


def _encodable(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


def _digest(before: str, number: int, texts: Sequence[str], at: float, data: str) -> str:
    """Between the values stand zero bytes, which none of them holds: no two rows look alike."""
    text = "\0".join((before, repr(number), *texts, repr(at), data))
    return hashlib.sha256(text.encode()).hexdigest()


def seal(link: Link, text: str) -> str:
    """What shows that a text belongs to a place in the chain, and is whole."""
    return hashlib.sha256(f"{link.number}\0{link.digest}\0{text}".encode()).hexdigest()


def _damaged(place: str, number: int, what: str) -> DamageError:
    return DamageError(
        f"{place}: event {number} is damaged: {what}",
        rule="events are only added; each carries a fingerprint of all before it",
        hint="restore the last backup of the campaign",
    )
