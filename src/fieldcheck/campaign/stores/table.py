"""What all stores on a database share: take events in order, once each, and give them back checked."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar

from fieldcheck.campaign.stores.base import Bookmark, Event
from fieldcheck.campaign.stores.chain import Link, Row, checked, event_of, linked, seal
from fieldcheck.core.errors import DamageError, StaleError, StoreError

T = TypeVar("T")


class EventTable(ABC):
    """A store of one campaign in two tables: its events, and the head, which says how far they go.

    A subclass brings the statements and runs them. All statements take their values by name.

    HEAD
        Number and digest of the last event, locked until the end of the transaction where the database needs that.
    SINCE
        Number and digest of the head, then all columns of the events after ``:after``, in order. One row of nothing
        where there are none.
    ONE, KEYED
        All columns of the event ``:number``, or of the one with ``:key``.
    INSERT, MOVE
        Add an event; move the head to ``:number`` and ``:digest``.
    BOOKMARK, KEEP
        Number, text and seal of the bookmark; keep another one.
    """

    HEAD: ClassVar[str]
    SINCE: ClassVar[str]
    ONE: ClassVar[str]
    KEYED: ClassVar[str]
    INSERT: ClassVar[str]
    MOVE: ClassVar[str]
    BOOKMARK: ClassVar[str]
    KEEP: ClassVar[str]

    place: str

    def __init__(self, place: str) -> None:
        self.place = place
        self._lock = threading.RLock()
        self._known = Link()

    @abstractmethod
    def _run(self, statement: str, **values: Any) -> Sequence[Row]:
        """The rows of one statement."""

    @abstractmethod
    def _within(self, work: Callable[[], T]) -> T:
        """Do some work in one transaction that writes; when this returns, it is on disk."""

    @abstractmethod
    def _reading(self, work: Callable[[], T]) -> T:
        """Do some work that only reads."""

    def append(self, events: Sequence[Event], *, seen: int) -> list[Event]:
        """Store events, all or none; see ``stores.base.Store``."""
        with self._lock:
            stored, self._known = self._within(lambda: self._append(events, seen))
            return stored

    def _append(self, events: Sequence[Event], seen: int) -> tuple[list[Event], Link]:
        """The events as they are stored, and how far the chain is known to go then."""
        head = self._head()
        if not events:  # nothing to store: the head is written as it is, which fails where nothing can be written
            self._run(self.MOVE, number=head.number, digest=head.digest)
        there = {row[1]: event_of(row) for event in events for row in self._run(self.KEYED, key=event.key)}
        fresh = [event for event in events if event.key not in there]
        if not fresh:
            return [there[event.key] for event in events], self._known
        self._check_seen(head, seen)
        for event, row in linked(fresh, head, place=self.place):
            self._run(self.INSERT, **row)
            head = Link(row["number"], row["digest"])
            there[event.key] = event
        self._run(self.MOVE, number=head.number, digest=head.digest)
        return [there[event.key] for event in events], head

    def _head(self) -> Link:
        rows = self._run(self.HEAD)
        if not rows:
            raise self._no_head()
        return Link(*rows[0])

    def _check_seen(self, head: Link, seen: int) -> None:
        if head.number > seen:
            raise StaleError(
                f"{self.place}: {head.number - seen:,} events are newer than the last one seen, {seen}",
                rule="a writer knows all that was written before",
                hint="read them, and try again",
            )
        if head.number < seen:
            raise self._went_back(head.number, seen)
        if head.number == self._known.number and head != self._known:
            raise StoreError(
                f"{self.place}: event {seen} is not the one that was seen",
                rule="a campaign never changes what happened; this is another one, in its place",
                hint="open it again",
            )

    def read(self, after: int = 0) -> list[Event]:
        """Events with a number above ``after``, in order."""
        with self._lock:
            return self._reading(lambda: self._read(after))

    def _read(self, after: int) -> list[Event]:
        rows = self._run(self.SINCE, after=after)
        if not rows:
            raise self._no_head()
        head = Link(*rows[0][:2])
        if head.number < after:
            raise self._went_back(head.number, after)
        there = [row[2:] for row in rows if row[2] is not None]
        events, end = checked(there, self._link(after), place=self.place)
        if end != head:
            raise DamageError(
                f"{self.place}: the last events are lost: {end.number} of {head.number} are there",
                rule="the campaign remembers how many events it has",
                hint="restore the last backup of the campaign",
            )
        self._known = end
        return events

    def find(self, what: str | int) -> Event | None:
        """The event with this key, or with this number."""
        with self._lock:
            rows = self._reading(
                lambda: self._run(self.KEYED, key=what) if isinstance(what, str) else self._run(self.ONE, number=what)
            )
        return event_of(rows[0]) if rows else None

    def bookmark(self) -> Bookmark | None:
        """The last one that was kept, if it is whole and the chain of events leads through it."""
        with self._lock:
            return self._reading(self._bookmark)

    def _bookmark(self) -> Bookmark | None:
        for number, text, sealed in self._run(self.BOOKMARK):
            link = self._link(number)
            if seal(link, text) == sealed:
                self._known = link
                return Bookmark(number, text)
        return None

    def keep(self, bookmark: Bookmark) -> None:
        """Keep a bookmark instead of the last one."""
        with self._lock:
            self._within(lambda: self._keep(bookmark))

    def _keep(self, bookmark: Bookmark) -> None:
        sealed = seal(self._link(bookmark.number), bookmark.text)
        self._run(self.KEEP, number=bookmark.number, text=bookmark.text, seal=sealed)

    def _link(self, after: int) -> Link:
        """The link that the events after ``after`` are to continue."""
        if after in (0, self._known.number):
            return self._known if after else Link()
        rows = self._run(self.ONE, number=after)
        return Link(after, rows[0][-1]) if rows else Link(after)

    def _no_head(self) -> StoreError:
        return DamageError(f"{self.place}: the head of the campaign is lost", hint="restore the last backup")

    def _went_back(self, number: int, seen: int) -> StoreError:
        return StoreError(
            f"{self.place}: {number} events, but {seen} have been seen",
            rule="a campaign never loses events; this one was replaced by an older copy",
            hint="restore the newest copy, and open it again",
        )
