"""A campaign in one SQLite file."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar
from urllib.parse import quote

from fieldcheck.core.errors import StoreError
from fieldcheck.stores.chain import Row
from fieldcheck.stores.ledger import Ledger

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
    "CREATE TRIGGER no_update BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are never changed'); END",
    "CREATE TRIGGER no_delete BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {FORMAT}",
)


class SqliteStore(Ledger):
    """A campaign in one SQLite file: write-ahead log, every commit flushed to disk before it is acknowledged.

    Several processes may have it open. On a network drive that does not lock files, SQLite cannot keep its promise:
    use PostgreSQL there.
    """

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

    def __init__(self, path: str | Path, *, create: bool = False) -> None:
        self.path = Path(path)
        super().__init__(str(path))
        self._check_there(create=create)
        with self._translated():
            self._connection = self._connect(create=create)
            try:
                self._prepare(create=create)
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
        address = f"file:{quote(str(self.path.absolute()))}?mode={mode}"
        if not create and self._archived(address):
            address = f"file:{quote(str(self.path.absolute()))}?immutable=1"
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
            self._run("BEGIN IMMEDIATE")
            try:
                result = work()
                self._run("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):  # it may have been rolled back already
                    self._run("ROLLBACK")
                raise
            return result

    def _reading(self, work: Callable[[], T]) -> T:
        with self._translated():
            return work()

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        """SQLite's errors in our words."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._in_words(error) from error
        except UnicodeDecodeError as error:
            raise StoreError(f"{self.place}: damaged", hint="restore the last backup of the campaign") from error

    def _in_words(self, error: sqlite3.Error) -> StoreError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        problem, rule, hint = PROBLEMS.get(code, (str(error), "", ""))
        return StoreError(f"{self.place}: {problem}", rule=rule, hint=hint)

    def close(self) -> None:
        """Close the file; what was acknowledged is in it."""
        with self._lock:
            self._connection.close()


NOT_STORED = "nothing is acknowledged that is not stored"
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
