"""What happened in a campaign, and what every store of it is: an append-only list of events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, get_args, runtime_checkable

EventKind = Literal[
    "created",
    "drawn",
    "leased",
    "released",
    "labelled",
    "skipped",
    "flagged",
    "retracted",
    "settled",
    "declared",
    "moved",
    "invited",
    "shown",
    "extended",
    "exported",
    "closed",
]


EVENT_KINDS: tuple[EventKind, ...] = get_args(EventKind)


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened; nothing about it ever changes.

    number
        1, 2, 3, ... without gaps, in the order in which the store took them; 0 before that.
    kind
        What happened.
    key
        Whoever sends the same thing twice uses the same key; the store takes it once. Unique in a campaign.
    item
        Id of the item, where it is about one.
    by
        Name of the annotator, where it is one's doing.
    at
        When: seconds since 1970, UTC.
    data
        The rest, as plain JSON values.
    """

    kind: EventKind
    key: str
    item: str = ""
    by: str = ""
    at: float = 0.0
    data: Mapping[str, Any] = field(default_factory=dict)
    number: int = 0


@dataclass(frozen=True, slots=True)
class Bookmark:
    """How far a campaign was when its state was kept: the number of the last event, and the state as text."""

    number: int
    text: str


@runtime_checkable
class Store(Protocol):
    """Where one campaign is kept; it is made from an address."""

    name: ClassVar[str]
    """The scheme of its addresses."""

    place: str
    """The file or address, without its password: for messages."""

    def __init__(self, place: str, *, create: bool = False) -> None: ...

    @property
    def path(self) -> Path | None:
        """The file, where it is one: what a campaign names may lie beside it."""
        ...

    def append(self, events: Sequence[Event], *, seen: int) -> list[Event]:
        """Store events, all or none, and return them numbered, when they are on disk.

        seen
            The number of the last event that the caller knows. Where the store holds newer ones, ``StaleError``: read
            them, decide again. Events whose key is there already are not stored twice: if all of them are, the stored
            ones come back, whatever was seen.

        No events at all: nothing is stored, and it fails where nothing could be.
        """
        ...

    def read(self, after: int = 0) -> list[Event]:
        """Events with a number above ``after``, in order."""
        ...

    def find(self, what: str | int) -> Event | None:
        """The event with this key, or with this number."""
        ...

    def bookmark(self) -> Bookmark | None:
        """The last one that was kept, if it is whole and the chain of events leads through it."""
        ...

    def keep(self, bookmark: Bookmark) -> None:
        """Keep a bookmark instead of the last one."""
        ...

    def close(self) -> None: ...
