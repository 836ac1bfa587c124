"""A file that is moved, deleted or replaced while it is open: nothing is acknowledged that nobody will find."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fieldcheck.campaign.stores import SqliteStore, open_store
from fieldcheck.campaign.stores.base import Event
from fieldcheck.core.errors import StoreError

from .test_sqlite_faults import events, file, read, shelf, unprivileged

__all__ = ["file", "shelf"]

Change = Callable[[Path], object]


def beside(path: Path, end: str) -> Path:
    return path.with_name(path.name + end)


def replaced(path: Path) -> None:
    """By another campaign, with files of its own."""
    for end in ("", "-wal", "-shm"):
        beside(path, end).unlink()
    other = open_store(path, create=True)
    other.append([Event("labelled", "another key", item="another")], seen=0)
    other.close()


def cp(source: Path, target: Path) -> None:
    """In a process of its own: whoever closes a file takes away the locks that SQLite has on it in the same process."""
    subprocess.run(["/bin/cp", source, target], check=True)


def replaced_by_a_backup(path: Path) -> None:
    cp(path, beside(path, ".backup"))
    beside(path, ".backup").replace(path)


CHANGES: dict[str, Change] = {
    "moved": lambda path: path.rename(path.with_name("elsewhere.db")),
    "deleted": Path.unlink,
    "folder renamed": lambda path: path.parent.rename(path.parent.with_name("renamed")),
    "folder deleted": lambda path: shutil.rmtree(path.parent),
    "replaced": replaced,
    "replaced by a backup": replaced_by_a_backup,
    "log deleted": lambda path: beside(path, "-wal").unlink(),
    "index deleted": lambda path: beside(path, "-shm").unlink(),
    "log and index deleted": lambda path: [beside(path, end).unlink() for end in ("-wal", "-shm")],
}


@pytest.fixture
def folder(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One of its own for the campaign; copies for which there is no other place go to ``tmp_path/last``."""
    (tmp_path / "last").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "last"))
    own = tmp_path / "own"
    own.mkdir()
    file.rename(own / file.name)
    return own


@pytest.fixture
def store(folder: Path) -> Iterator[SqliteStore]:
    """Open, with one event that is only in the log."""
    found = SqliteStore(folder / "campaign.db")
    found.append(events(1, start=40), seen=40)
    yield found
    with contextlib.suppress(StoreError):
        found.close()


def refused(store: SqliteStore) -> StoreError:
    with pytest.raises(StoreError) as caught:
        store.append(events(1, start=41), seen=41)
    return caught.value


def found_anywhere(under: Path) -> list[int]:
    """How many events the campaigns in a folder hold, each as a copy of its own: nothing beside it is needed."""
    return [len(read(path)) for path in sorted(under.rglob("*")) if path.suffix in (".db", ".rescued")]


@pytest.mark.parametrize("change", CHANGES)
def test_nothing_is_acknowledged_and_nothing_is_lost(store: SqliteStore, tmp_path: Path, change: str) -> None:
    CHANGES[change](store.path)
    error = refused(store)
    assert "moved, deleted or replaced" in error.problem
    with pytest.raises(StoreError, match="moved, deleted or replaced"):
        store.read(41)
    with pytest.raises(StoreError, match="moved, deleted or replaced"):  # whoever ends the program is told
        store.close()
    store.close()
    assert max(found_anywhere(tmp_path)) == 41
    rescued = list(tmp_path.rglob("*.rescued"))
    assert len(rescued) == 1
    assert str(rescued[0]) in error.hint
    assert len(read(rescued[0])) == 41


def test_a_campaign_that_was_just_made(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "new.db", create=True)
    store.append(events(41), seen=0)
    (tmp_path / "new.db").unlink()
    assert str(tmp_path / "new.db.rescued") in refused(store).hint
    with pytest.raises(StoreError, match="moved"):
        store.close()
    assert len(read(tmp_path / "new.db.rescued")) == 41


def test_a_reader_who_notices_is_enough(store: SqliteStore, tmp_path: Path) -> None:
    store.path.rename(store.path.with_name("elsewhere.db"))
    with pytest.raises(StoreError, match="moved"):
        store.read()
    # The moved file is whole by itself, while the other one is still open.
    cp(store.path.with_name("elsewhere.db"), tmp_path / "copy.db")
    assert len(read(tmp_path / "copy.db")) == 41


def test_moved_between_the_commit_and_the_acknowledgement(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    run = store._run

    def moving(statement: str, **values: object) -> object:
        rows = run(statement, **values)
        if statement == "COMMIT":
            store.path.rename(store.path.with_name("elsewhere.db"))
        return rows

    monkeypatch.setattr(store, "_run", moving)
    refused(store)
    assert len(read(store.path.with_name("campaign.db.rescued"))) == 42


def test_it_goes_on_when_the_file_is_put_back(store: SqliteStore) -> None:
    away = store.path.with_name("elsewhere.db")
    store.path.rename(away)
    refused(store)
    away.rename(store.path)
    assert store.append(events(1, start=41), seen=41)[0].number == 42
    store.close()
    assert len(read(store.path)) == 42


def test_an_older_rescue_is_not_written_over(store: SqliteStore) -> None:
    older = store.path.with_name("campaign.db.rescued")
    older.write_text("older")
    store.path.unlink()
    assert str(store.path.with_name("campaign.db.2.rescued")) in refused(store).hint
    assert older.read_text() == "older"


def test_written_over_by_a_backup(file: Path, tmp_path: Path) -> None:
    """``cp backup.db campaign.db``: the same file, with other content under a log that does not fit it."""
    shutil.copy(file, tmp_path / "backup.db")
    store = open_store(file)
    store.append(events(60, start=40), seen=40)
    store.close()
    store = open_store(file)
    store.read()
    store.append(events(1, start=100), seen=100)
    cp(tmp_path / "backup.db", file)
    with pytest.raises(StoreError, match="written over"):
        store.append(events(1, start=101), seen=101)
    with pytest.raises(StoreError, match="written over"):
        store.close()


def test_another_process_may_write_and_tidy_up(file: Path) -> None:
    store, other = open_store(file), open_store(file)
    store.read()
    other.append(events(500, start=40), seen=40)
    other.close()
    assert len(store.read(40)) == 500
    store.append(events(1, start=540), seen=540)
    store.close()
    assert len(read(file)) == 541


@pytest.mark.parametrize("mode", [0o444, 0o000])
def test_a_file_that_may_not_be_written_any_more(shelf: Path, mode: int) -> None:
    shelf.chmod(0o666)
    shelf.parent.chmod(0o777)
    with unprivileged():
        store = open_store(shelf)
        store.append(events(1, start=40), seen=40)
    shelf.chmod(mode)
    with unprivileged():
        with pytest.raises(StoreError, match="can only be read"):
            store.append(events(1, start=41), seen=41)
        with pytest.raises(StoreError, match="can only be read"):
            store.append([], seen=41)
    shelf.chmod(0o666)
    with unprivileged():
        store.append(events(1, start=41), seen=41)
        store.close()
        assert len(read(shelf)) == 42


def test_a_link_to_the_file(store: SqliteStore, tmp_path: Path) -> None:
    store.close()
    link = tmp_path / "link.db"
    link.symlink_to(store.path)
    linked = open_store(link)
    linked.append(events(1, start=41), seen=41)
    away = store.path.with_name("elsewhere.db")
    store.path.rename(away)
    with pytest.raises(StoreError, match="moved"):
        linked.append(events(1, start=42), seen=42)
    away.rename(store.path)
    linked.append(events(1, start=42), seen=42)
    link.unlink()
    link.symlink_to(tmp_path / "another.db")
    with pytest.raises(StoreError, match="moved"):
        linked.append(events(1, start=43), seen=43)
    with pytest.raises(StoreError, match="moved"):
        linked.close()
    assert len(read(store.path)) == 43


def test_a_folder_that_one_leaves(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    store = open_store(file.name)
    os.chdir("/")
    store.append(events(1, start=40), seen=40)
    store.close()
    assert len(read(file)) == 41


def test_a_new_campaign_is_whole_without_its_log(tmp_path: Path) -> None:
    store = open_store(tmp_path / "new.db", create=True)
    store.append(events(3), seen=0)
    cp(tmp_path / "new.db", tmp_path / "copy.db")
    store.close()
    assert len(read(tmp_path / "copy.db")) == 3


def test_whoever_closes_leaves_a_whole_file_though_others_have_it_open(file: Path, tmp_path: Path) -> None:
    store, other = open_store(file), open_store(file)
    other.read()
    store.append(events(1, start=40), seen=40)
    store.close()
    cp(file, tmp_path / "copy.db")
    other.close()
    assert len(read(tmp_path / "copy.db")) == 41


KILLED = """
import os, sys
from fieldcheck.campaign.stores import open_store
from fieldcheck.campaign.stores.base import Event
store = open_store(sys.argv[1], create=True)
store.append([Event("created", "new")], seen=0)
store.append([Event("closed", "acknowledged")], seen=1)
os.kill(os.getpid(), 9)
"""


def test_whoever_stops_late_leaves_the_log_of_a_new_campaign_at_the_same_path(
    store: SqliteStore, tmp_path: Path
) -> None:
    """SQLite deletes the log by its name when it closes, whosever it is by then."""
    for end in ("", "-wal", "-shm"):
        beside(store.path, end).unlink()
    subprocess.run([sys.executable, "-c", KILLED, store.path], check=False)
    before = {path.name: path.stat().st_ino for path in store.path.parent.iterdir()}
    assert f"{store.path.name}-wal" in before
    with pytest.raises(StoreError):
        store.close()
    left = {path.name: path.stat().st_ino for path in store.path.parent.iterdir() if "rescued" not in path.name}
    assert left == before
    assert [event.key for event in read(store.path)] == ["new", "acknowledged"]
