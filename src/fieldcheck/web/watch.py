"""What people look at while a campaign goes on: made in the background, never more often than it can be afforded."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import threading
import time
from collections.abc import Callable

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.core.errors import StoreError
from fieldcheck.web.snapshot import Snapshot

EVERY = 2.0
"""Seconds after which another process is looked out for."""


PATIENCE = 10.0
"""Seconds to wait for a snapshot."""


SHARE = 29.0
"""After a snapshot, its duration times this belongs to those who label: so a thirtieth of the time goes into it."""


SHORTEST = 1.0
"""Seconds between two snapshots, at least: each is sent to all who look."""


LONG = 0.1
"""Seconds of a snapshot that left large arrays behind, its own or those of a draw meanwhile."""


WATCHED = 10.0
"""Seconds for which a snapshot that was looked at is kept up to date."""


ARENA_MAX, MMAP_THRESHOLD, TRIM_THRESHOLD = -8, -3, -1
"""Of glibc's malloc.h."""


LARGE = 1 << 20
"""Bytes from which an array has pages of its own."""


SPARE = 64 << 20
"""Bytes at the end of the heap that are kept for what comes next."""


log = logging.getLogger("fieldcheck.web")


class Watch:
    """A thread that makes a new snapshot when something changed; changes that come meanwhile make one together.

    While nobody looks, nothing is made: an estimate costs more than a label.
    """

    def __init__(self, campaign: Campaign, make: Callable[[Campaign], Snapshot]) -> None:
        self._campaign, self._make = campaign, make
        self._changed = threading.Event()
        self._ended = threading.Event()
        self._latest: Snapshot | None = None
        self._first = threading.Event()
        self._looked_at = -WATCHED
        self._thread = threading.Thread(target=self._run, name=f"fieldcheck-{make.__name__}", daemon=True)

    def begin(self) -> None:
        """Start watching."""
        self._thread.start()

    def let_go(self) -> None:
        """Tell whoever listens that this is the end."""
        self._ended.set()
        self._changed.set()

    def end(self) -> None:
        """Stop, and wait until the campaign is not looked at any more."""
        self.let_go()
        self._thread.join(PATIENCE)

    @property
    def ended(self) -> bool:
        return self._ended.is_set()

    def changed(self) -> None:
        """Something was stored."""
        self._changed.set()

    def latest(self) -> Snapshot:
        """The newest snapshot; the first one is waited for."""
        self._look_at()
        self._first.wait(PATIENCE)
        if self._latest is None:
            raise StoreError("the campaign could not be read yet", hint="try again in a moment")
        return self._latest

    def newer(self, number: int) -> Snapshot | None:
        """The newest snapshot, if it holds events after ``number``."""
        self._look_at()
        latest = self._latest
        return latest if latest is not None and latest.number > number else None

    def _look_at(self) -> None:
        """Somebody looks: begin again, where nothing was made for a while."""
        idle = not self._is_watched()
        self._looked_at = time.monotonic()
        if idle:
            self._changed.set()

    def _is_watched(self) -> bool:
        return time.monotonic() - self._looked_at < WATCHED

    def _run(self) -> None:
        while not self._ended.is_set():
            if self._changed.wait(EVERY):
                self._changed.clear()
            self._ended.wait(max(SHORTEST, SHARE * self._look()))
        self._first.set()

    def _look(self) -> float:
        """Make a snapshot if there is something new and somebody looks; the seconds that it took."""
        begun = time.perf_counter()
        try:
            number = self._campaign.refresh().number
            if self._is_watched() and (self._latest is None or number != self._latest.number):
                self._latest = self._make(self._campaign)
                self._first.set()
        except StoreError:
            # Whoever writes is told; here it is tried again.
            pass
        except Exception:
            log.exception("no snapshot could be made")
        took = time.perf_counter() - begun
        if took > LONG:
            give_back()
        return took


def share_one_heap() -> None:
    """Let all threads that come after share a heap: with one for each, what a thread let go of helps no other.

    Large arrays stay out of it: their pages go back when they are gone, and what is small leaves no holes among them.
    """
    with contextlib.suppress(OSError, AttributeError):  # another C library
        set_option = ctypes.CDLL(None).mallopt
        for option, value in ((ARENA_MAX, 1), (MMAP_THRESHOLD, LARGE), (TRIM_THRESHOLD, SPARE)):
            set_option(option, value)


def give_back() -> None:
    """Let go of the memory of arrays that are gone: C libraries keep it."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
