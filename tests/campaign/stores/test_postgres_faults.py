"""What can happen between here and a PostgreSQL server: said in plain words, without the password."""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Iterator
from typing import Any

import pg8000.native
import pytest

from fieldcheck.campaign.stores import open_store
from fieldcheck.campaign.stores.address import parse
from fieldcheck.campaign.stores.base import Event
from fieldcheck.campaign.stores.postgres import FORMAT, PostgresStore
from fieldcheck.core.errors import StoreError

from .server import PASSWORD, USER, Server

NUMBERS = itertools.count(1)


def event(key: str) -> Event:
    return Event("labelled", key, item="img_1", by="Ann", at=1.5, data={"label": "cat"})


@pytest.fixture
def url(server: Server) -> str:
    return server.url(f"faults-{next(NUMBERS)}")


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    """With three events."""
    found = PostgresStore(url, create=True)
    found.append([event("a"), event("b"), event("c")], seen=0)
    yield found
    found.close()


def test_a_connection_that_was_ended_is_made_again(store: PostgresStore, server: Server) -> None:
    with server.connection() as other:
        other.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'fieldcheck'")
        assert len(store.append([event("d")], seen=3)) == 1
        other.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'fieldcheck'")
    assert [one.key for one in store.read()] == ["a", "b", "c", "d"]


@pytest.mark.parametrize("lost", ["START TRANSACTION", "FOR UPDATE", "INSERT", "COMMIT", "after COMMIT"])
def test_wherever_the_connection_drops_it_is_stored_once(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    """Also between the commit and its acknowledgement, when nobody can know whether it was stored."""
    run, dropped = store._run, []

    def unlucky(statement: str, **values: Any) -> Any:
        after = lost.startswith("after ")
        now = lost.removeprefix("after ") in statement and not dropped
        found = run(statement, **values) if not now or after else None
        if now:
            dropped.append(statement)
            assert store._connection is not None
            store._connection._usock.close()
            raise pg8000.native.InterfaceError("network error")
        return found

    monkeypatch.setattr(store, "_run", unlucky)
    (stored,) = store.append([event("d")], seen=3)
    assert len(dropped) == 1
    assert stored.number == 4
    assert [one.key for one in store.read()] == ["a", "b", "c", "d"]


def test_a_server_that_stays_away(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fieldcheck.campaign.stores.postgres.PAUSES", (0.0, 0.0))
    monkeypatch.setattr(store, "_connect", lambda: (_ for _ in ()).throw(ConnectionRefusedError()))
    store._drop()
    with pytest.raises(StoreError, match="does not answer") as caught:
        store.append([event("d")], seen=3)
    assert PASSWORD not in str(caught.value)


@pytest.mark.parametrize(
    ("pattern", "wrong", "found"),
    [
        (r"p%40ss%3Aw%2Frd", "secret-1", "user or password"),
        (r"/postgres\?", "/nowhere?", "no such database"),
        (r"127\.0\.0\.1", "no-such-host.invalid", "does not answer"),
        (r":\d+/", ":1/", "does not answer"),
        (r"campaign=", "campaign=none-", "no campaign"),
    ],
)
def test_what_cannot_be_reached(store: PostgresStore, url: str, pattern: str, wrong: str, found: str) -> None:
    with pytest.raises(StoreError, match=found) as caught:
        open_store(re.sub(pattern, wrong, url))
    assert not any(word in str(caught.value) for word in (PASSWORD, "p%40ss", "secret"))


def test_the_password_is_nowhere_to_be_seen(store: PostgresStore, url: str) -> None:
    assert PASSWORD not in store.place + repr(store) + repr(parse(url))
    assert "p%40ss" not in store.place
    assert f"{USER}@127.0.0.1" in store.place


def test_a_password_from_the_environment(store: PostgresStore, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    other = open_store(url.replace(":p%40ss%3Aw%2Frd@", "@"))
    assert len(other.read()) == 3
    other.close()


def test_the_socket_of_the_same_machine(store: PostgresStore, server: Server) -> None:
    port, campaign = server.port, name_of(store)
    other = open_store(f"postgresql://{USER}:p%40ss%3Aw%2Frd@:{port}/postgres?campaign={campaign}&host={server.folder}")
    assert len(other.read()) == 3
    other.close()


def name_of(store: PostgresStore) -> str:
    return store.place.partition("campaign=")[2]


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://host/database",
        "postgresql://user:secret@host",
        "postgresql://user:secret/1@host/database",
        "postgresql://user:secret@host/database?colour=red",
        "postgresql://user:secret@host/database?sslmode=sometimes",
        "postgresql://user:secret@host/database?campaign",
    ],
)
def test_a_url_that_cannot_be_read(url: str) -> None:
    with pytest.raises(StoreError, match="URL of the database") as caught:
        open_store(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("mode", "context"), [("disable", False), ("require", True), ("prefer", None), ("verify-full", "verified")]
)
def test_encryption(mode: str, context: Any) -> None:
    found = parse(f"postgresql://user@host/database?sslmode={mode}").arguments()["ssl_context"]
    assert (found.check_hostname if context == "verified" else found is context) is True


@pytest.mark.parametrize("statement", ["UPDATE fieldcheck_events SET item = ''", "TRUNCATE fieldcheck_events"])
def test_events_are_never_changed(store: PostgresStore, server: Server, statement: str) -> None:
    with server.connection() as other, pytest.raises(pg8000.native.DatabaseError, match="never changed"):
        other.run(statement)
    assert len(store.read()) == 3


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("UPDATE fieldcheck_events SET annotator = 'Bob' WHERE campaign = :name AND number = 2", "event 2 is damaged"),
        ("DELETE FROM fieldcheck_events WHERE campaign = :name AND number = 2", "event 2 is damaged"),
        ("DELETE FROM fieldcheck_events WHERE campaign = :name AND number = 3", "last events are lost: 2 of 3"),
    ],
)
def test_tampering_is_noticed(store: PostgresStore, server: Server, statement: str, found: str) -> None:
    with server.connection() as other:
        other.run("ALTER TABLE fieldcheck_events DISABLE TRIGGER never_changed")
        other.run(statement, name=name_of(store))
        other.run("ALTER TABLE fieldcheck_events ENABLE TRIGGER never_changed")
    with pytest.raises(StoreError, match=found):
        store.read()


def test_a_campaign_from_a_newer_version(store: PostgresStore, server: Server, url: str) -> None:
    with server.connection() as other:
        other.run(
            "UPDATE fieldcheck_campaigns SET format = :format WHERE name = :name",
            format=FORMAT + 1,
            name=name_of(store),
        )
    with pytest.raises(StoreError, match="newer fieldcheck"):
        open_store(url)


def test_a_database_that_can_only_be_read(store: PostgresStore) -> None:
    store._run("SET default_transaction_read_only TO on")
    for wish in ([event("d")], []):
        with pytest.raises(StoreError, match="can only be read"):
            store.append(wish, seen=3)
    assert len(store.read()) == 3


def test_a_user_who_may_only_read(store: PostgresStore, server: Server, url: str) -> None:
    with server.connection() as owner:
        owner.run("DROP ROLE IF EXISTS reader")
        owner.run("CREATE ROLE reader LOGIN PASSWORD 'reader'")
        owner.run("GRANT SELECT ON fieldcheck_events, fieldcheck_campaigns TO reader")
        other = open_store(url.replace(f"{USER}:p%40ss%3Aw%2Frd", "reader:reader"))
        assert len(other.read()) == 3
        with pytest.raises(StoreError, match="may not"):
            other.append([event("d")], seen=3)
        other.close()
        owner.run("DROP OWNED BY reader")
        owner.run("DROP ROLE reader")
    assert len(store.read()) == 3


def test_somebody_who_never_stops_writing(store: PostgresStore, server: Server) -> None:
    store._run("SET lock_timeout TO '50ms'")
    with server.connection() as other:
        other.run("START TRANSACTION")
        other.run("SELECT 1 FROM fieldcheck_campaigns WHERE name = :name FOR UPDATE", name=name_of(store))
        with pytest.raises(StoreError, match="another process"):
            store.append([event("d")], seen=3)
        other.run("ROLLBACK")
    assert len(store.append([event("d")], seen=3)) == 1


def test_acknowledged_is_on_disk_whatever_the_server_defaults_to(store: PostgresStore) -> None:
    assert store._run("SHOW synchronous_commit") == [["on"]]


def test_the_package_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pg8000.native", None)
    with pytest.raises(StoreError, match=r"fieldcheck\[postgres\]"):
        open_store("postgresql://user@127.0.0.1:1/database")
