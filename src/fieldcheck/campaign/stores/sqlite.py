"""A campaign in one SQLite file."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar
from urllib.parse import quote

from fieldcheck.campaign.stores.base import Event
from fieldcheck.campaign.stores.chain import Row
from fieldcheck.campaign.stores.table import EventTable
from fieldcheck.campaign.stores.whereabouts import Whereabouts, rescue_places, whereabouts
from fieldcheck.core.errors import DamageError, StoreError

T = TypeVar("T")


APPLICATION = 0x66636B31
"""Marks a file as ours (PRAGMA application_id)."""


FORMAT = 1
"""Of the tables (PRAGMA user_version); a newer one is refused."""


BUSY_SECONDS = 20.0
"""How long to wait for another process that is writing."""


TABLES = (
    """CREATE TABLE events (
        number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, item TEXT NOT NULL,
        annotator TEXT NOT NULL, at REAL NOT NULL, data TEXT NOT NULL, digest TEXT NOT NULL) STRICT""",
    "CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL, digest TEXT NOT NULL) STRICT",
    "INSERT INTO head VALUES (1, 0, '')",
    """CREATE TABLE bookmark (
        one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL, text TEXT NOT NULL,
        seal TEXT NOT NULL) STRICT""",
    "CREATE TRIGGER no_update BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are never changed'); END",
    "CREATE TRIGGER no_delete BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {FORMAT}",
)


class SqliteStore(EventTable):
    """A campaign in one SQLite file: write-ahead log, every commit flushed to disk before it is acknowledged.

    Several processes may have it open. What is written is acknowledged only if the path still leads there: whoever
    moves, deletes or replaces the file while it is open is told, and a copy of what it held is left. On a network drive
    that does not lock files, SQLite cannot keep its promise: use PostgreSQL there.
    """

    name: ClassVar[str] = "sqlite"

    HEAD: ClassVar[str] = "SELECT number, digest FROM head"
    SINCE: ClassVar[str] = (
        "SELECT head.number, head.digest, e.number, key, kind, item, annotator, at, data, e.digest "
        "FROM head LEFT JOIN events AS e ON e.number > :after ORDER BY e.number"
    )
    ONE: ClassVar[str] = (
        "SELECT number, key, kind, item, annotator, at, data, digest FROM events WHERE number = :number"
    )
    KEYED: ClassVar[str] = "SELECT number, key, kind, item, annotator, at, data, digest FROM events WHERE key = :key"
    INSERT: ClassVar[str] = "INSERT INTO events VALUES (:number, :key, :kind, :item, :annotator, :at, :data, :digest)"
    MOVE: ClassVar[str] = "UPDATE head SET number = :number, digest = :digest"
    BOOKMARK: ClassVar[str] = "SELECT number, text, seal FROM bookmark"
    KEEP: ClassVar[str] = "INSERT OR REPLACE INTO bookmark VALUES (1, :number, :text, :seal)"

    def __init__(self, place: str | Path, *, create: bool = False) -> None:
        self.path: Path = Path(place)
        super().__init__(str(place))
        self._absolute = self.path.absolute()
        self._seen: Whereabouts | None = None
        self._rescued: Path | None = None
        self._check_there(create=create)
        with self._translated():
            self._connection = self._connect(create=create)
            opened = whereabouts(self._absolute)  # at once: this is the file that was opened
            try:
                self._prepare(create=create)
                self._watch(opened)
            except BaseException:
                self._connection.close()
                raise

    def _check_there(self, *, create: bool) -> None:
        if self.path.is_dir():
            raise StoreError(
                f"{self.place} is a folder", rule="a campaign is one file", hint=f"{self.place}/campaign.db"
            )
        if not create and not self.path.exists():
            raise StoreError(
                f"{self.place}: not found",
                rule="a campaign is a file that `fieldcheck start` made",
                hint="check its name and folder",
            )
        if create and not self.path.absolute().parent.is_dir():
            raise StoreError(
                f"{self.place}: the folder is not there", rule="a campaign is made in a folder that exists"
            )

    def _connect(self, *, create: bool) -> sqlite3.Connection:
        mode = "rwc" if create else "rw"
        address = f"file:{quote(str(self._absolute))}?mode={mode}"
        self._immutable = not create and self._archived(address)
        if self._immutable:
            address = f"file:{quote(str(self._absolute))}?immutable=1"
        return sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)

    def _archived(self, address: str) -> bool:
        """Whether it can only be read, and nobody can have it open for writing: there is no log beside it."""
        if self.path.with_name(self.path.name + "-wal").exists():
            return False
        with contextlib.closing(sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS)) as connection:
            try:
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            except sqlite3.OperationalError as error:
                return error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
        return False

    def _prepare(self, *, create: bool) -> None:
        self._run("PRAGMA trusted_schema = OFF")
        if create:
            self._within(self._make)
        self._check_ours()
        with contextlib.suppress(sqlite3.OperationalError):  # a file that can only be read stays as it is
            self._run("PRAGMA journal_mode = WAL")
        self._run("PRAGMA synchronous = FULL")

    def _watch(self, opened: Whereabouts) -> None:
        """From now on the path is to lead here."""
        self._pragma("user_version")  # the log is opened, or made, with the first look into the database
        now = whereabouts(self._absolute)
        if now.files[0] is None or now.files[0] != opened.files[0]:
            raise self._explained(MOVED)
        self._seen = None if self._immutable else now

    def _make(self) -> None:
        if self._pragma("application_id") == 0 and not self._run("SELECT 1 FROM sqlite_master LIMIT 1"):
            for statement in TABLES:
                self._run(statement)

    def _check_ours(self) -> None:
        if self._pragma("application_id") != APPLICATION:
            raise StoreError(
                f"{self.place}: not a campaign",
                rule="a campaign is a file that `fieldcheck start` made",
                hint="another name",
            )
        if (version := self._pragma("user_version")) > FORMAT:
            raise StoreError(
                f"{self.place}: written by a newer fieldcheck (format {version})",
                rule=f"this version reads format {FORMAT}",
                hint="pip install --upgrade fieldcheck",
            )

    def _pragma(self, name: str) -> int:
        return int(self._run(f"PRAGMA {name}")[0][0])

    def _run(self, statement: str, **values: Any) -> Sequence[Row]:
        return self._connection.execute(statement, values).fetchall()

    def _within(self, work: Callable[[], T]) -> T:
        with self._translated():
            self._check_found()
            self._check_writable()
            self._run("BEGIN IMMEDIATE")
            try:
                result = work()
                self._run("COMMIT")
                self._check_found(changed=True)
            except BaseException:
                with contextlib.suppress(sqlite3.Error):  # it may have been rolled back already
                    self._run("ROLLBACK")
                raise
            return result

    def _reading(self, work: Callable[[], T]) -> T:
        with self._translated():
            self._check_found()
            return work()

    def append(self, events: Sequence[Event], *, seen: int) -> list[Event]:
        """Store events, all or none; a new campaign is whole without its log from the beginning."""
        with self._lock:
            stored = super().append(events, seen=seen)
            if seen == 0:
                self._checkpoint("PASSIVE")
            return stored

    def _check_found(self, *, changed: bool = False) -> None:
        """Refuse to go on where somebody who opens the path now would not find what is written here.

        changed
            By ourselves, just now: SQLite moves the log into the database from time to time.
        """
        if self._seen is None:
            return
        now = whereabouts(self._absolute)
        if now.files != self._seen.files:
            raise self._gone(MOVED)
        if not changed and now.stamp != self._seen.stamp:
            self._check_content()
        self._seen, self._rescued = now, None

    def _check_writable(self) -> None:
        if self._seen is not None and not self._seen.writable:
            raise self._explained(PROBLEMS[sqlite3.SQLITE_READONLY])

    def _check_content(self) -> None:
        """Another process moved the log into the database, or wrote something else over it."""
        try:
            self._check_holds(self._absolute)
        except StoreError:
            raise self._gone(OVERWRITTEN) from None

    def _check_holds(self, path: Path) -> None:
        """Refuse a file that does not have, whole, what is known here."""
        fresh = SqliteStore(path)
        try:
            fresh.read()
            if self._known.number and fresh._link(self._known.number) != self._known:
                raise fresh._went_back(fresh._known.number, self._known.number)
        finally:
            fresh._connection.close()

    def _gone(self, problem: tuple[str, str, str]) -> StoreError:
        """What happened, and where all that was stored is: in the file, wherever that is now, and in a copy."""
        if self._rescued is None:
            if problem is MOVED:  # into another content, the log would not fit
                self._checkpoint("TRUNCATE")
            self._rescued = self._rescue()
        what, rule, hint = problem
        if self._rescued is not None:
            hint += f"; all that was saved is in {self._rescued}"
        return self._explained((what, rule, hint))

    def _rescue(self) -> Path | None:
        for path in rescue_places(self._absolute):
            try:
                with contextlib.closing(sqlite3.connect(path)) as copy:
                    self._connection.backup(copy)
                self._check_holds(path)
            except (sqlite3.Error, StoreError):
                path.unlink()
            else:
                return path
        return None

    def _checkpoint(self, mode: str) -> None:
        """Move the log into the database; where that cannot be, it stays in the log."""
        with contextlib.suppress(sqlite3.Error):
            self._run(f"PRAGMA wal_checkpoint({mode})")
            if self._seen is not None:
                self._seen = replace(self._seen, stamp=whereabouts(self._absolute).stamp)

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        """SQLite's errors in our words."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._in_words(error) from error
        except UnicodeDecodeError as error:
            raise DamageError(f"{self.place}: damaged", hint="restore the last backup of the campaign") from error

    def _in_words(self, error: sqlite3.Error) -> StoreError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        found = self._explained(PROBLEMS.get(code, (str(error), "", "")))
        return DamageError(found.problem, rule=found.rule, hint=found.hint) if code in DAMAGED else found

    def _explained(self, words: tuple[str, str, str]) -> StoreError:
        problem, rule, hint = words
        return StoreError(f"{self.place}: {problem}", rule=rule, hint=hint)

    def close(self) -> None:
        """Close the file; what was acknowledged is in it, also without its log. Where it is not, that is said."""
        with self._lock:
            try:
                with self._translated():
                    self._check_found()
                    self._checkpoint("PASSIVE")
            finally:
                self._seen = None
                self._connection.close()


NOT_STORED = "nothing is acknowledged that is not stored"


NOT_FOUND = "nothing is acknowledged that is not found again"


MOVED = (
    "moved, deleted or replaced while it was open (the file, or its -wal or -shm)",
    NOT_FOUND,
    "put it back, or stop this program and start it again with the file that is to go on",
)


OVERWRITTEN = (
    "written over by another program while it was open",
    NOT_FOUND,
    "stop this program, copy the newest backup there again, and start it again",
)


PROBLEMS = {
    sqlite3.SQLITE_FULL: ("the disk is full", NOT_STORED, "make room, and try again"),
    sqlite3.SQLITE_IOERR: ("the disk does not take it", NOT_STORED, "see whether the disk is full or failing"),
    sqlite3.SQLITE_READONLY: ("the file can only be read", NOT_STORED, "allow writing to the file and its folder"),
    sqlite3.SQLITE_CANTOPEN: (
        "the file cannot be opened",
        "the file and its folder can be read and written",
        "check their permissions",
    ),
    sqlite3.SQLITE_PERM: ("the file cannot be opened", "the file can be read and written", "check its permissions"),
    sqlite3.SQLITE_NOTADB: (
        "not a campaign, or damaged",
        "a campaign is a file that `fieldcheck start` made",
        "another file, or the last backup of this one",
    ),
    sqlite3.SQLITE_CORRUPT: ("damaged", "a campaign is a whole file", "restore the last backup of the campaign"),
    sqlite3.SQLITE_BUSY: (
        f"another process has been writing for {BUSY_SECONDS:.0f} seconds",
        "one at a time writes, for a moment",
        "see what holds the file, and try again",
    ),
    sqlite3.SQLITE_ERROR: ("damaged: its tables are not as they were made", "", "restore the last backup"),
}
"""By SQLite's code: problem, rule, try."""


DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR)
