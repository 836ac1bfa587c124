"""What can happen to a file: each is said in plain words, and nothing is acknowledged that is not stored."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from fieldcheck.campaign.stores import open_store, sqlite
from fieldcheck.campaign.stores.base import Event
from fieldcheck.core.errors import StoreError

NOBODY = 65534


def events(count: int, *, start: int = 0) -> list[Event]:
    return [
        Event("labelled", f"key {at}", item=f"img_{at:03d}", by="Ann", at=float(at), data={"label": "cat"})
        for at in range(start, start + count)
    ]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A campaign of 40 events that nobody has open."""
    path = tmp_path / "campaign.db"
    store = open_store(path, create=True)
    store.append(events(40), seen=0)
    store.close()
    return path


def read(path: Path) -> list[Event]:
    store = open_store(path)
    try:
        return store.read()
    finally:
        store.close()


@contextlib.contextmanager
def tampering(path: Path) -> Iterator[sqlite3.Connection]:
    """Somebody with a tool of their own, who knows how to get rid of triggers."""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP TRIGGER no_update")
        connection.execute("DROP TRIGGER no_delete")
        yield connection


@contextlib.contextmanager
def unprivileged() -> Iterator[None]:
    """Permissions mean nothing to root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def shelf(file: Path) -> Iterator[Path]:
    """The campaign in a folder that everybody may look into."""
    folder = Path(tempfile.mkdtemp(prefix="fieldcheck-shelf-"))
    shutil.copy(file, folder / "campaign.db")
    yield folder / "campaign.db"
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_a_file_that_can_only_be_read_is_read_and_takes_nothing(shelf: Path) -> None:
    shelf.chmod(0o444)
    shelf.parent.chmod(0o555)
    with unprivileged():
        store = open_store(shelf)
        assert len(store.read()) == 40
        for wish in (events(1, start=40), []):
            with pytest.raises(StoreError, match="can only be read"):
                store.append(wish, seen=40)
        assert len(store.read()) == 40
        store.close()


def test_a_folder_that_takes_no_new_files(shelf: Path) -> None:
    shelf.parent.chmod(0o555)
    with unprivileged(), pytest.raises(StoreError, match=r"cannot be opened|can only be read"):
        open_store(shelf.parent / "other.db", create=True)


def test_a_file_that_may_not_be_read(shelf: Path) -> None:
    shelf.chmod(0o000)
    shelf.parent.chmod(0o755)
    with unprivileged(), pytest.raises(StoreError, match="cannot be opened"):
        read(shelf)


FILL = """
import resource, sys
from fieldcheck.core.errors import StoreError
from fieldcheck.campaign.stores.base import Event
from fieldcheck.campaign.stores import open_store
store = open_store(sys.argv[1])
limit = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
number = 40
try:
    while number < 5000:
        wish = Event("labelled", f"key {number}", item=str(number), data={"label": "x" * 500})
        number = store.append([wish], seen=number)[0].number
        print(number, flush=True)
except StoreError as error:
    print(error)
    sys.exit(3)
"""


def test_a_disk_that_takes_no_more(file: Path) -> None:
    """The system refuses to let any file grow over 300 kB: every acknowledged event is there, and no other."""
    done = subprocess.run(
        [sys.executable, "-c", FILL, file, "300000"], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 3, done.stderr
    acknowledged = [int(line) for line in done.stdout.splitlines() if line.isdigit()]
    assert "the disk does not take it" in done.stdout
    assert len(acknowledged) > 10
    assert [event.number for event in read(file)] == list(range(1, acknowledged[-1] + 1))


def fill(store: sqlite.SqliteStore) -> int:
    """Until the disk is full; the number of the last event that was acknowledged."""
    taken = 40
    while taken < 5000:
        try:
            taken = store.append(events(1, start=taken), seen=taken)[0].number
        except StoreError:
            return taken
    raise AssertionError("it is never full")


def test_a_full_disk(file: Path) -> None:
    store = sqlite.SqliteStore(file)
    pages = store._run("PRAGMA page_count")[0][0]
    store._run(f"PRAGMA max_page_count = {pages}")
    taken = fill(store)
    with pytest.raises(StoreError, match="disk is full"):
        store.append(events(1, start=taken), seen=taken)
    assert len(store.read()) == taken
    store._run(f"PRAGMA max_page_count = {pages + 100}")
    store.append(events(1, start=taken), seen=taken)
    store.close()
    assert len(read(file)) == taken + 1


def test_all_or_none_when_the_disk_is_full(file: Path) -> None:
    store = sqlite.SqliteStore(file)
    store._run(f"PRAGMA max_page_count = {store._run('PRAGMA page_count')[0][0] + 1}")
    with pytest.raises(StoreError, match="disk is full"):
        store.append(events(2000, start=40), seen=40)
    assert len(store.read()) == 40
    store.close()


def test_a_file_of_random_bytes(tmp_path: Path) -> None:
    path = tmp_path / "noise.db"
    path.write_bytes(np.random.default_rng(1).bytes(20_000))
    for create in (False, True):
        with pytest.raises(StoreError, match="not a campaign"):
            open_store(path, create=create)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.6, 0.9, 0.99])
def test_a_truncated_file(file: Path, share: float) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(StoreError, match=r"damaged|not a campaign|lost|does not take"):
        read(file)


def test_any_damaged_byte_is_noticed_or_does_no_harm(file: Path) -> None:
    """200 copies with one byte changed, anywhere: the events are as they were, or it is said that they are not."""
    whole, intact, rng = file.read_bytes(), read(file), np.random.default_rng(2)
    noticed = 0
    for _ in range(200):
        damaged = bytearray(whole)
        damaged[rng.integers(len(whole))] ^= 1 << int(rng.integers(8))
        file.write_bytes(damaged)
        try:
            assert read(file) == intact
        except StoreError:
            noticed += 1
    assert noticed > 20


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("UPDATE events SET data = replace(data, 'cat', 'dog') WHERE number = 17", "event 17 is damaged"),
        ("UPDATE events SET annotator = 'Bob' WHERE number = 17", "event 17 is damaged"),
        ("UPDATE events SET at = at + 1 WHERE number = 1", "event 1 is damaged"),
        ("DELETE FROM events WHERE number = 17", "event 17 is damaged: it is not there"),
        ("DELETE FROM events WHERE number = 1", "event 1 is damaged: it is not there"),
        ("DELETE FROM events WHERE number > 38", "the last events are lost: 38 of 40"),
        ("DELETE FROM events", "the last events are lost: 0 of 40"),
        ("DELETE FROM head", "the head of the campaign is lost"),
        ("DROP TABLE events", "its tables are not as they were made"),
    ],
)
def test_tampering_is_noticed(file: Path, statement: str, found: str) -> None:
    with tampering(file) as connection:
        connection.execute(statement)
    with pytest.raises(StoreError, match=found):
        read(file)


def test_tampering_is_noticed_by_whoever_has_it_open(file: Path) -> None:
    store = open_store(file)
    store.read()
    with tampering(file) as connection:
        connection.execute("DELETE FROM events WHERE number > 30")
        connection.execute("UPDATE head SET number = 30, digest = (SELECT digest FROM events WHERE number = 30)")
    with pytest.raises(StoreError, match="30 events, but 40 have been seen"):
        store.read(40)
    with pytest.raises(StoreError, match="30 events, but 40 have been seen"):
        store.append(events(1, start=40), seen=40)
    store.close()


def test_another_history_is_noticed_by_whoever_has_it_open(file: Path, tmp_path: Path) -> None:
    store = open_store(file)
    store.read()
    with tampering(file) as connection:
        connection.execute("UPDATE head SET digest = 'another'")
    with pytest.raises(StoreError, match="lost"):
        store.read(40)
    with pytest.raises(StoreError, match="not the one that was seen"):
        store.append(events(1, start=40), seen=40)
    store.close()


@pytest.mark.parametrize("statement", ["UPDATE events SET item = ''", "DELETE FROM events"])
def test_events_are_never_changed(file: Path, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(file)) as connection, pytest.raises(sqlite3.IntegrityError, match="never"):
        connection.execute(statement)
    assert len(read(file)) == 40


def test_a_file_from_a_newer_version(file: Path) -> None:
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute(f"PRAGMA user_version = {sqlite.FORMAT + 1}")
    for create in (False, True):
        with pytest.raises(StoreError, match="newer fieldcheck"):
            open_store(file, create=create)


def test_an_event_from_a_newer_version(file: Path) -> None:
    store = open_store(file)
    store.append([Event("dreamt", "a")], seen=40)  # type: ignore[arg-type]
    with pytest.raises(StoreError, match="upgrade"):
        store.read()
    store.close()


@pytest.mark.parametrize("create", [False, True])
def test_a_database_of_somebody_else(tmp_path: Path, create: bool) -> None:
    path = tmp_path / "theirs.db"
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="not a campaign"):
        open_store(path, create=create)
    assert path.read_bytes() == before


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="not found"):
        open_store(tmp_path / "campaign.db")
    with pytest.raises(StoreError, match="is a folder"):
        open_store(tmp_path, create=True)
    with pytest.raises(StoreError, match="folder is not there"):
        open_store(tmp_path / "no" / "campaign.db", create=True)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_becomes_a_campaign_but_is_none(tmp_path: Path) -> None:
    """What a process leaves that was killed while it made one."""
    path = tmp_path / "campaign.db"
    path.touch()
    with pytest.raises(StoreError, match="not a campaign"):
        open_store(path)
    open_store(path, create=True).close()
    assert read(path) == []


def test_names_that_mean_something_in_a_url(tmp_path: Path) -> None:
    path = tmp_path / "50% off? #1 &mode=ro.db"
    store = open_store(path, create=True)
    store.append(events(1), seen=0)
    store.close()
    assert len(read(path)) == 1
    assert path.exists()


def test_somebody_who_never_stops_writing(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.05)
    store = open_store(file)
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="another process"):
            store.append(events(1, start=40), seen=40)
        other.execute("ROLLBACK")
    assert len(store.append(events(1, start=40), seen=40)) == 1
    store.close()


def test_every_commit_is_flushed(file: Path) -> None:
    store = sqlite.SqliteStore(file)
    assert store._run("PRAGMA journal_mode") == [("wal",)]
    assert store._run("PRAGMA synchronous") == [(2,)]
    store.close()
