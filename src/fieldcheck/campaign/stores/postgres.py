"""Campaigns in a PostgreSQL database, for teams."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from fieldcheck.campaign.stores.address import parse
from fieldcheck.campaign.stores.chain import Row
from fieldcheck.campaign.stores.table import EventTable
from fieldcheck.core.errors import StoreError

if TYPE_CHECKING:
    from pg8000.native import Connection


T = TypeVar("T")


FORMAT = 1
"""Of the tables; a newer one is refused."""


PAUSES = (0.05, 0.2, 0.5, 1.0, 2.0)
"""Seconds before each attempt to connect again."""


TIMEOUT = 60.0
"""Seconds after which a server that does not answer counts as gone."""


MAKING = 0x66636B31
"""Number of the advisory lock under which the tables are made."""


SESSION = (
    "SET synchronous_commit TO on",  # acknowledged is on disk, whatever the server's default
    "SET lock_timeout TO '20s'",
    "SET idle_in_transaction_session_timeout TO '30s'",  # a client that vanished does not hold the others up
    "SET client_min_messages TO warning",
)


TABLES = (
    """CREATE TABLE fieldcheck_campaigns (
        name text PRIMARY KEY, number bigint NOT NULL, digest text NOT NULL, format integer NOT NULL)""",
    """CREATE TABLE fieldcheck_events (
        campaign text NOT NULL REFERENCES fieldcheck_campaigns, number bigint NOT NULL, key text NOT NULL,
        kind text NOT NULL, item text NOT NULL, annotator text NOT NULL, at double precision NOT NULL,
        data text NOT NULL, digest text NOT NULL, PRIMARY KEY (campaign, number), UNIQUE (campaign, key))""",
    """CREATE TABLE fieldcheck_bookmarks (
        campaign text PRIMARY KEY REFERENCES fieldcheck_campaigns, number bigint NOT NULL, text text NOT NULL,
        seal text NOT NULL)""",
    """CREATE FUNCTION fieldcheck_refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'events are never changed'; END $$""",
    """CREATE TRIGGER never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON fieldcheck_events
        EXECUTE FUNCTION fieldcheck_refuse()""",
)


class PostgresStore(EventTable):
    """A campaign in a PostgreSQL database, which may hold many, each by its name.

    A connection that drops is made again, and what was under way is sent again: keys see to it that it is taken once.
    """

    name: ClassVar[str] = "postgresql"

    HEAD: ClassVar[str] = "SELECT number, digest FROM fieldcheck_campaigns WHERE name = :campaign FOR UPDATE"
    SINCE: ClassVar[str] = (
        "SELECT c.number, c.digest, e.number, key, kind, item, annotator, at, data, e.digest "
        "FROM fieldcheck_campaigns AS c LEFT JOIN fieldcheck_events AS e "
        "ON e.campaign = c.name AND e.number > :after WHERE c.name = :campaign ORDER BY e.number"
    )
    ONE: ClassVar[str] = (
        "SELECT number, key, kind, item, annotator, at, data, digest FROM fieldcheck_events "
        "WHERE campaign = :campaign AND number = :number"
    )
    KEYED: ClassVar[str] = (
        "SELECT number, key, kind, item, annotator, at, data, digest FROM fieldcheck_events "
        "WHERE campaign = :campaign AND key = :key"
    )
    INSERT: ClassVar[str] = (
        "INSERT INTO fieldcheck_events (campaign, number, key, kind, item, annotator, at, data, digest) "
        "VALUES (:campaign, :number, :key, :kind, :item, :annotator, :at, :data, :digest)"
    )
    MOVE: ClassVar[str] = "UPDATE fieldcheck_campaigns SET number = :number, digest = :digest WHERE name = :campaign"

    BOOKMARK: ClassVar[str] = "SELECT number, text, seal FROM fieldcheck_bookmarks WHERE campaign = :campaign"
    KEEP: ClassVar[str] = (
        "INSERT INTO fieldcheck_bookmarks VALUES (:campaign, :number, :text, :seal) ON CONFLICT (campaign) "
        "DO UPDATE SET number = :number, text = :text, seal = :seal"
    )

    path = None

    def __init__(self, place: str, *, create: bool = False) -> None:
        self._address = parse(place)
        super().__init__(self._address.shown)
        with self._translated():
            self._connection: Connection | None = self._connect()
        try:
            if create:
                self._within(self._make)
            self._reading(self._check_there)
        except BaseException:
            self.close()
            raise

    def _connect(self) -> Connection:
        line = self._address.connect(TIMEOUT)
        try:
            arguments = self._address.arguments()
            connection: Connection = _native().Connection(sock=line, application_name="fieldcheck", **arguments)
            for statement in SESSION:
                connection.run(statement)
        except BaseException:
            line.close()
            raise
        return connection

    def _make(self) -> None:
        self._run("SELECT pg_advisory_xact_lock(:lock)", lock=MAKING)
        if self._run("SELECT to_regclass('fieldcheck_events') IS NULL")[0][0]:
            for statement in TABLES:
                self._run(statement)
        self._run(
            "INSERT INTO fieldcheck_campaigns VALUES (:campaign, 0, '', :format) ON CONFLICT DO NOTHING", format=FORMAT
        )

    def _check_there(self) -> None:
        there = self._run("SELECT to_regclass('fieldcheck_campaigns') IS NOT NULL")[0][0]
        rows = self._run("SELECT name, format FROM fieldcheck_campaigns ORDER BY name") if there else ()
        formats: dict[str, int] = {str(row[0]): int(row[1]) for row in rows}
        name = self._address.campaign
        if name not in formats:
            have = ", ".join(list(formats)[:10]) or "none yet"
            raise StoreError(
                f"{self.place}: no campaign '{name}'",
                rule=f"the campaigns of this database are: {have}",
                hint="?campaign=NAME at the end of the URL",
            )
        if formats[name] > FORMAT:
            raise StoreError(
                f"{self.place}: written by a newer fieldcheck (format {formats[name]})",
                rule=f"this version reads format {FORMAT}",
                hint="pip install --upgrade fieldcheck",
            )

    def _run(self, statement: str, **values: Any) -> Sequence[Row]:
        if self._connection is None:
            self._connection = self._connect()
        rows: Sequence[Row] | None = self._connection.run(statement, campaign=self._address.campaign, **values)
        return rows or ()

    def _within(self, work: Callable[[], T]) -> T:
        def transaction() -> T:
            self._run("START TRANSACTION")
            try:
                result = work()
                self._run("COMMIT")
            except BaseException:
                self._roll_back()
                raise
            return result

        return self._persistently(transaction)

    def _roll_back(self) -> None:
        """A connection that cannot even roll back is of no use any more; the server rolls back by itself."""
        try:
            if self._connection is not None:
                self._connection.run("ROLLBACK")
        except (_native().Error, OSError):
            self._drop()

    def _reading(self, work: Callable[[], T]) -> T:
        return self._persistently(work)

    def _persistently(self, work: Callable[[], T]) -> T:
        """Do some work; where the connection drops, connect again and do it again."""
        for pause in PAUSES:
            try:
                return work()
            except StoreError:
                raise
            except (_native().Error, OSError) as error:
                if not _is_lost(error):
                    raise self._in_words(error) from error
                self._drop()
                time.sleep(pause)
        with self._translated():
            return work()

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(_native().Error, OSError):
                connection.close()

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        """The server's errors in our words."""
        try:
            yield
        except (_native().Error, OSError) as error:
            raise self._in_words(error) from error

    def _in_words(self, error: Exception) -> StoreError:
        problem, rule, hint = PROBLEMS.get(_code(error), ("", "", ""))
        if not problem and _is_lost(error):
            problem, rule, hint = "the server does not answer", NOT_STORED, "check host, port, and that it runs"
        return StoreError(f"{self.place}: {problem or _words(error)}", rule=rule, hint=hint)

    def close(self) -> None:
        """Close the connection; what was acknowledged is in the database."""
        with self._lock:
            self._drop()


NOT_STORED = "nothing is acknowledged that is not stored"


WHO = ("user or password is wrong", "a user who may write to the database", "check the URL, or PGPASSWORD")


PROBLEMS = {
    "28P01": WHO,
    "28000": WHO,
    "3D000": ("there is no such database", "the database exists already", "createdb NAME"),
    "42501": ("this user may not do that", "a user who may make and write tables", "GRANT, or another user"),
    "25006": ("the database can only be read", NOT_STORED, "the primary server, not a copy of it"),
    "53100": ("the server's disk is full", NOT_STORED, "make room, and try again"),
    "55P03": ("another process has been writing for 20 seconds", "one at a time writes, for a moment", "try again"),
    "42P01": ("its tables are not as they were made", "", "restore the last backup"),
    "42703": ("its tables are not as they were made", "", "restore the last backup"),
}
"""By the server's code: problem, rule, try."""


GONE = ("08", "57P")
"""Beginnings of the codes of a connection, or a server, that is gone."""


def _native() -> Any:
    try:
        import pg8000.native
    except ImportError:
        raise StoreError(
            "PostgreSQL needs a package that is not installed: pg8000",
            hint='pip install "fieldcheck[postgres]"',
        ) from None
    return pg8000.native


def _code(error: Exception) -> str:
    return str(error.args[0].get("C", "")) if error.args and isinstance(error.args[0], dict) else ""


def _words(error: Exception) -> str:
    return str(error.args[0].get("M", "")) if error.args and isinstance(error.args[0], dict) else str(error)


def _is_lost(error: Exception) -> bool:
    """Whether the connection is gone, and another one may do."""
    return isinstance(error, OSError | _native().InterfaceError) or _code(error).startswith(GONE)
