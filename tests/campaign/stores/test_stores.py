"""What every store promises, whatever it is made of."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from fieldcheck.campaign import stores
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.stores import SqliteStore, open_store
from fieldcheck.campaign.stores.base import Bookmark, Event, Store
from fieldcheck.core.errors import StaleError, StoreError
from fieldcheck.testing import check_store

from .people import pool


def event(key: str, **changes: object) -> Event:
    plain = Event("labelled", key, item="img_1", by="Ann", at=1_700_000_000.123456, data={"label": "cat"})
    return replace(plain, **changes)  # type: ignore[arg-type]


def test_a_bookmark_is_kept_and_found_only_where_it_fits(store: Store) -> None:
    assert store.bookmark() is None
    store.append([event("a"), event("b")], seen=0)
    for mark in (Bookmark(1, "one"), Bookmark(2, "zwölf")):
        store.keep(mark)
        assert store.bookmark() == mark
    assert [found.key for found in (store.find("b"), store.find(1)) if found] == ["b", "a"]
    assert store.find("c") is None


def test_events_come_back_as_they_were_given_numbered(store: Store) -> None:
    given = [event("a"), event("b", kind="skipped", data={"reason": "blurred", "more": [1, None, 0.1, {"x": True}]})]
    stored = store.append(given, seen=0)
    assert stored == [replace(one, number=number) for number, one in enumerate(given, start=1)]
    assert store.read() == stored
    assert store.read(1) == stored[1:]
    assert store.read(2) == []


@pytest.mark.parametrize(
    "text", ["grün", "'; DROP TABLE events; --", "日本語 🙂", "%s :key $1", 'a"b\\c\n\t', "x" * 5000]
)
def test_any_text_is_kept(store: Store, text: str) -> None:
    stored = store.append([event("a", item=text, by=text, data={text: text})], seen=0)
    assert store.read() == stored
    assert (stored[0].item, stored[0].data) == (text, {text: text})


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
def test_text_that_no_database_takes_is_refused(store: Store, text: str) -> None:
    with pytest.raises(StoreError, match="cannot be stored"):
        store.append([event("a", item=text)], seen=0)
    assert store.read() == []


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object()])
def test_data_are_json(store: Store, value: object) -> None:
    with pytest.raises(StoreError):
        store.append([event("a"), event("b", data={"x": value})], seen=0)
    assert store.read() == []


def test_nothing_may_be_appended(store: Store) -> None:
    stored = store.append([event("a")], seen=0)
    assert store.append([], seen=1) == []
    assert store.read() == stored
    assert len(store.append([event("b")], seen=1)) == 1


def test_whoever_has_not_seen_all_is_refused(store: Store) -> None:
    store.append([event("a")], seen=0)
    with pytest.raises(StaleError):
        store.append([event("b")], seen=0)
    assert len(store.append([event("b")], seen=1)) == 1
    with pytest.raises(StoreError, match="3 have been seen") as caught:
        store.append([event("c")], seen=3)
    assert not isinstance(caught.value, StaleError)


def test_a_key_is_taken_once_whatever_was_seen(store: Store) -> None:
    first = store.append([event("a"), event("b")], seen=0)
    store.append([event("c")], seen=2)
    assert store.append([event("b", item="other"), event("a")], seen=0) == first[::-1]
    assert [one.key for one in store.read()] == ["a", "b", "c"]


def test_of_keys_that_are_there_in_part_the_others_are_taken(store: Store) -> None:
    first = store.append([event("a")], seen=0)
    with pytest.raises(StaleError):
        store.append([event("a"), event("b")], seen=0)
    both = store.append([event("a"), event("b")], seen=1)
    assert both[0] == first[0]
    assert both[1].number == 2
    assert store.read() == both


def test_what_is_decided_together_is_stored_at_one_go_or_not_at_all(place: str) -> None:
    with Campaign.create(place, pool(), "srs", budget=20, seed=1) as campaign:
        one, two, three = campaign.ask("Ann", n=3)
        with campaign.log.together():
            campaign.tell(one, "cat", by="Ann", key="1" * 16)
            campaign.tell(two, "dog", by="Ann", key="2" * 16)
        before = campaign.state
        for again in ((three, "4"), (one, "1")):  # sent twice in one go, or before
            with contextlib.suppress(StoreError):
                with campaign.log.together():
                    for item, digit in ((three, "4"), again):
                        campaign.tell(item, "cat", by="Ann", key=digit * 16)
                raise AssertionError("it was taken")
            assert campaign.state is before
        assert campaign.tell(three, "cat", by="Ann", key="4" * 16).item == three
        said = [event for event in campaign.log.events() if event.kind == "labelled"]
        assert [event.item for event in said] == [one, two, three]


def test_another_process_reads_and_goes_on(store: Store, place: str) -> None:
    other = open_store(place)
    mine = store.append([event("a")], seen=0)
    assert other.read() == mine
    theirs = other.append([event("b")], seen=1)
    assert store.read(1) == theirs
    with pytest.raises(StaleError):
        store.append([event("c")], seen=1)
    other.close()
    assert len(store.append([event("c")], seen=2)) == 1


def test_numbers_have_no_gaps_when_many_write(store: Store, place: str) -> None:
    """Eight writers on four connections, each until it has stored ten events."""
    stores = [store, *(open_store(place) for _ in range(3))]

    def write(name: int) -> None:
        mine = stores[name % 4]
        for count in range(10):
            while True:
                seen = len(mine.read())
                try:
                    mine.append([event(f"{name}-{count}")], seen=seen)
                    break
                except StaleError:
                    continue

    threads = [threading.Thread(target=write, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = store.read()
    assert [one.number for one in found] == list(range(1, 81))
    assert len({one.key for one in found}) == 80
    for one in stores[1:]:
        one.close()


def test_reopened_it_is_the_same(store: Store, place: str) -> None:
    stored = store.append([event("a"), event("b")], seen=0)
    store.close()
    with pytest.raises(StoreError):
        open_store(place.replace("campaign-", "other-") if "://" in place else place + "x")
    again = open_store(place, create=True)
    assert again.read() == stored
    again.close()


def test_stores_are_apart(new_place: Callable[[], str]) -> None:
    one, two = open_store(new_place(), create=True), open_store(new_place(), create=True)
    one.append([event("a")], seen=0)
    assert two.read() == []
    two.append([event("a", item="other")], seen=0)
    assert one.read()[0].item == "img_1"
    one.close()
    two.close()


def test_it_passes_the_check_for_stores_of_others(kind: str, new_place: Callable[[], str]) -> None:
    check_store(stores.registry[{"postgres": "postgresql"}.get(kind, kind)], new_place)


class Drawer:
    """A store of another package: campaigns in memory, by name."""

    name = "drawer"
    kept: ClassVar[dict[str, Path]] = {}

    def __new__(cls, place: str, *, create: bool = False) -> Any:
        return SqliteStore(cls.kept[place], create=create)


def test_a_store_of_ones_own_is_known_by_its_scheme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Drawer.kept["drawer://desk"] = tmp_path / "c.db"
    monkeypatch.setitem(stores.registry._entries, "drawer", Drawer)
    with contextlib.closing(open_store("drawer://desk", create=True)) as store:
        assert store.append([], seen=0) == []
    with pytest.raises(StoreError, match="no store 'postgres'") as error:
        open_store("postgres://host/database")
    assert "postgresql" in error.value.hint
