"""The estimate of a campaign that goes on: made in the background, never more often than it can be afforded."""

from __future__ import annotations

import logging
import threading
import time

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.core.errors import StoreError
from fieldcheck.web.snapshot import Snapshot, snapshot_of

EVERY = 2.0
"""Seconds after which another process is looked out for, while somebody watches."""


PATIENCE = 10.0
"""Seconds to wait for an estimate."""


SHARE = 3.0
"""After an estimate, its duration times this belongs to those who label."""


log = logging.getLogger("fieldcheck.web")


class Watch:
    """A thread that makes a new snapshot when something changed; changes that come meanwhile make one together."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign
        self._changed = threading.Event()
        self._ended = threading.Event()
        self._latest: Snapshot | None = None
        self._first = threading.Event()
        self._thread = threading.Thread(target=self._run, name="fieldcheck-estimate", daemon=True)

    def begin(self) -> None:
        """Start watching."""
        self._changed.set()
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
        self._first.wait(PATIENCE)
        if self._latest is None:
            raise StoreError("the campaign could not be read yet", hint="try again in a moment")
        return self._latest

    def newer(self, number: int) -> Snapshot | None:
        """The newest snapshot, if it holds events after ``number``."""
        latest = self._latest
        return latest if latest is not None and latest.number > number else None

    def _run(self) -> None:
        while not self._ended.is_set():
            if self._changed.wait(EVERY):
                self._changed.clear()
            self._ended.wait(SHARE * self._look())
        self._first.set()

    def _look(self) -> float:
        """Make a snapshot if there is something new; the seconds that it took."""
        begun = time.perf_counter()
        try:
            if self._latest is None or self._campaign.refresh().number != self._latest.number:
                self._latest = snapshot_of(self._campaign)
                self._first.set()
        except StoreError:
            # Whoever writes is told; here it is tried again.
            pass
        except Exception:
            log.exception("no estimate could be made")
        return time.perf_counter() - begun
