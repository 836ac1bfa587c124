"""The events of a campaign, as one process knows them: read, added to, and decided on again where others came first."""

from __future__ import annotations

import contextlib
import random
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from fieldcheck.campaign.kept_state import as_text, from_text
from fieldcheck.campaign.state import State, fold
from fieldcheck.campaign.stores.base import Bookmark, Event, Store
from fieldcheck.core.errors import CampaignError, LabelError, StaleError, StoreError

T = TypeVar("T")

ATTEMPTS = 600
"""How often others may come first before a change is given up; 40 in a row happen among four busy programs."""

LONG = 5_000
"""Events after which the state is kept again: reading them takes about .1 s, and keeping a state no more."""

LONGEST_PAUSE = 0.1
"""Seconds between two attempts, at most."""

ABOUT_ITEMS = ("labelled", "skipped", "flagged", "settled")
"""Events by which people say something about an item."""

SAID = ("label", "reason", "note")
"""What an event says; the rest of its data follows from the moment."""


class EventLog:
    """What happened in a campaign, over a store: all of it, or as much as was read so far.

    Any number of these objects, in any number of processes, may work on one store: each change names the last event
    it knew, and is decided anew where another process came first. May be used from several threads.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.RLock()
        self._unstored: list[Event] | None = None  # None, but for what is to be stored together
        kept = store.bookmark()
        self._state = (None if kept is None else from_text(kept.text)) or fold(store.read())
        self._kept = 0 if kept is None else kept.number
        self.refresh()
        self._keep()

    def _keep(self) -> None:
        """Keep the state, where much has happened since that was done; a store that can only be read stays as it is."""
        if self._state.number - self._kept >= LONG:
            with contextlib.suppress(StoreError):
                self._store.keep(Bookmark(self._state.number, as_text(self._state)))
                self._kept = self._state.number

    @property
    def state(self) -> State:
        """What the events read so far add up to."""
        return self._state

    @property
    def place(self) -> str:
        """Where it is kept, for messages."""
        return self._store.place

    @property
    def file(self) -> Path | None:
        """The file that it is kept in, where it is one."""
        return self._store.path

    def events(self) -> tuple[Event, ...]:
        """All that happened, read again from the first on, and checked."""
        return tuple(self._store.read())

    def numbered(self, number: int) -> Event:
        """The event of a number."""
        event = self._store.find(number)
        if event is None:
            raise StoreError(
                f"{self.place}: event {number} is not there", hint="restore the last backup of the campaign"
            )
        return event

    def keyed(self, key: str) -> Event | None:
        """The event that was sent with a key."""
        return self._store.find(key)  # what was stored is acknowledged again only where it is still found

    def refresh(self) -> State:
        """Read what happened since, and return the state."""
        with self._lock:
            if self._unstored is None:
                self._take(self._store.read(self._state.number))
            return self._state

    def check_writable(self) -> None:
        """Refuse a store that can only be read, before anybody has worked for it."""
        self._store.append([], seen=self._state.number)

    def close(self) -> None:
        """Let go of the store; the campaign itself goes on."""
        try:
            self._keep()
        finally:
            self._store.close()

    def append(self, events: Sequence[Event]) -> list[Event]:
        """Store events that were decided on the state that is known; ``StaleError`` where there are newer ones."""
        if self._unstored is not None:
            numbered = [replace(event, number=self._state.number + at) for at, event in enumerate(events, 1)]
            self._take(numbered)
            self._unstored += numbered
            return numbered
        stored = self._store.append(events, seen=self._state.number)
        if stored[0].number == self._state.number + 1:
            self._take(stored)
        else:  # they were there already, from before or from another process
            self.refresh()
        return stored

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Store what is decided within, on the newest state, all of it at one go; only then it may be acknowledged.

        Where that fails, or some of it was stored before (an error, too), the state is that of the beginning: what was
        appended with a key can be appended again, on its own, and is stored once.
        """
        with self._lock:
            before, self._unstored = self.refresh(), []
            try:
                yield
                events, self._unstored = self._unstored, None
                stored = self._store.append(events, seen=before.number) if events else []
                if any(one.number != number for number, one in enumerate(stored, before.number + 1)):
                    raise StaleError(f"{self.place}: some of this was stored before", hint="one after the other")
            except BaseException:
                self._state, self._unstored = before, None
                raise

    def _take(self, events: Sequence[Event]) -> None:
        """Add events that follow those known."""
        if events:
            self._state = fold(events, self._state)

    def decide(self, step: Callable[[State], T], *, known_first: bool = False) -> T:
        """What a step decides on the newest state; decided anew where another process changed it in between.

        known_first
            Try the state that is known, without asking the store for news: right for steps that append, since the
            store refuses what was decided on an old state.
        """
        with self._lock:
            if known_first:
                with contextlib.suppress(StaleError, CampaignError, LabelError):
                    return step(self._state)
            for attempt in range(ATTEMPTS):
                try:
                    return step(self.refresh())
                except StaleError:
                    time.sleep(random.SystemRandom().uniform(0, min(LONGEST_PAUSE, 0.002 * 2**attempt)))
        raise CampaignError(
            f"{self.place}: {ATTEMPTS} times another process came first",
            rule="a change is made on the newest state",
            hint="try again in a moment",
        )


def new_key() -> str:
    """A key that is used nowhere else."""
    return uuid.uuid4().hex


def said(event: Event) -> dict[str, Any]:
    """The words of an event."""
    return {name: value for name, value in event.data.items() if name in SAID}


def same(stored: Event, wish: Event) -> Event:
    """The stored event, if it is what was wished for; a key that was used for something else is refused."""
    if (stored.kind, stored.item, stored.by, said(stored)) == (wish.kind, wish.item, wish.by, said(wish)):
        return stored
    raise CampaignError(
        f"the key '{wish.key}' was used for something else: {stored.kind} '{stored.item}' by '{stored.by}'",
        rule="a key names one thing that happened",
        hint="a new key for each",
    )
