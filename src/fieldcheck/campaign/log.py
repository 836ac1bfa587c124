"""The events of a campaign, as one process knows them: read, added to, and decided on again where others came first."""

from __future__ import annotations

import contextlib
import random
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

from fieldcheck.campaign.state import State, fold
from fieldcheck.campaign.stores.base import Event, Store
from fieldcheck.core.errors import CampaignError, LabelError, StaleError

T = TypeVar("T")


ATTEMPTS = 600
"""How often somebody else may come first before a change is given up; 40 in a row happen among four busy programs."""


LONGEST_PAUSE = 0.1
"""Seconds between two attempts, at most."""


ABOUT_ITEMS = ("labelled", "skipped", "flagged")
"""Events by which annotators say something."""


SAID = ("label", "reason", "note")
"""What an event says; the rest of its data follows from the moment."""


class EventLog:
    """What happened in a campaign, over a store: all of it, or as much as was read so far.

    Any number of these objects, in any number of processes, may work on one store: each change names the last event
    it knew, and is decided anew where somebody else came first. May be used from several threads.
    """

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self._store, self._clock = store, clock
        self._lock = threading.RLock()
        self._events = store.read()
        self._keys = {event.key: event for event in self._events}
        self._state = fold(self._events)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.disconnect()

    def disconnect(self) -> None:
        """Let go of the store; the campaign itself goes on."""
        self._store.close()

    @property
    def state(self) -> State:
        """What the events read so far add up to."""
        return self._state

    @property
    def place(self) -> str:
        """Where it is kept, for messages."""
        return self._store.place

    def events(self) -> tuple[Event, ...]:
        """All that happened, as far as it was read."""
        return tuple(self._events)

    def refresh(self) -> State:
        """Read what happened since, and return the state."""
        with self._lock:
            self._take(self._store.read(self._state.number))
            return self._state

    def check_writable(self) -> None:
        """Refuse a store that can only be read, before anybody has worked for it."""
        self._store.append([], seen=self._state.number)

    def _take(self, events: Sequence[Event]) -> None:
        """Add events that follow those known."""
        if not events:
            return
        self._state = fold(events, self._state)
        self._events.extend(events)
        self._keys.update({event.key: event for event in events})

    def _append(self, events: Sequence[Event]) -> list[Event]:
        stored = self._store.append(events, seen=self._state.number)
        if stored[0].number == self._state.number + 1:
            self._take(stored)
        else:  # they were there already, from before or from somebody else
            self.refresh()
        return stored

    def _decided(self, step: Callable[[State], T], *, known_first: bool = False) -> T:
        """What a step decides on the newest state; decided anew where somebody else changed it in between.

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
            f"{self.place}: {ATTEMPTS} times somebody else came first",
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
