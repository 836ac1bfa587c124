"""A copy of a campaign, made while it goes on."""

from __future__ import annotations

import contextlib
from pathlib import Path

from fieldcheck.campaign.stores.base import Store
from fieldcheck.campaign.stores.sqlite import SqliteStore
from fieldcheck.core.errors import StoreError
from fieldcheck.files.whole import whole_file


def back_up(store: Store, path: str | Path) -> int:
    """Copy all events of a campaign, as they are at one moment, into a new SQLite file; how many there are.

    They are checked on the way, and read again from the copy before it gets its name: a damaged campaign has no backup,
    and there is never half of one. It is the same for every store, and whatever is done to the campaign meanwhile.
    """
    events = store.read()
    with whole_file(path) as new, contextlib.closing(SqliteStore(new, create=True)) as copy:
        copy.append(events, seen=0)
        if copy.read() != events:
            raise StoreError(f"{path}: the copy is not what was copied", hint="see whether the disk is failing")
    return len(events)
