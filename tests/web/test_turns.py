"""Acts that are stored together: each is answered as if it had come alone, and nothing before it is stored."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.stores.base import Event
from fieldcheck.core.errors import FieldcheckError, StoreError
from fieldcheck.web.serve import _bound
from fieldcheck.web.turns import Turns

from .sites import animals

Act = Callable[[], Any]


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return Campaign.create(tmp_path / "c.db", animals(), "srs", budget=40, seed=1)


def told(campaign: Campaign, item: str, label: str, *, key: str, by: str = "Ada") -> Act:
    return lambda: {"number": campaign.tell(item, label, by=by, key=key).number}


def all_at_once(campaign: Campaign, acts: Sequence[Act]) -> list[Any]:
    """What acts are answered that wait while another one is being done."""

    async def everything() -> list[Any]:
        turns, go = Turns("test", together=campaign.log.together), threading.Event()
        first = asyncio.ensure_future(turns.take(lambda: {"first": go.wait(30)}))
        others = [asyncio.ensure_future(turns.take(act)) for act in acts]
        await asyncio.sleep(0)
        go.set()
        await first
        return await asyncio.gather(*others, return_exceptions=True)

    return asyncio.run(everything())


class Commits:
    """Counts what a store is given, each time."""

    def __init__(self, campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sizes: list[int] = []
        store = campaign.log._store
        append = store.append

        def counted(events: Sequence[Event], *, seen: int) -> list[Event]:
            self.sizes.append(len(events))
            return append(events, seen=seen)

        monkeypatch.setattr(store, "append", counted)


def key(number: int) -> str:
    return f"{number:032x}"


def standing(campaign: Campaign) -> dict[str, str]:
    """By item, what a fresh opener finds."""
    with Campaign.open(campaign.place, pool=campaign.pool) as fresh:
        return {item.id: str(item.label) for item in fresh.state.items.values() if item.done}


def test_one_commit_for_all_that_wait(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    items, commits = campaign.ask("Ada", n=20), Commits(campaign, monkeypatch)
    before = campaign.state.number
    answers = all_at_once(campaign, [told(campaign, item, "cat", key=key(at)) for at, item in enumerate(items)])
    assert commits.sizes == [20]
    assert answers == [{"number": before + 1 + at} for at in range(20)]
    assert standing(campaign) == dict.fromkeys(items, "cat")


def test_people_who_ask_at_once_get_different_items(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the items are drawn within: everybody waits at the end of a wave."""
    waves = Campaign.create(Path(campaign.place).with_name("w.db"), campaign.pool, budget=40, seed=1)
    first = waves.ask("Ada", n=50)
    acts = [told(waves, item, "cat", key=key(at)) for at, item in enumerate(first)]
    commits = Commits(waves, monkeypatch)
    answers = all_at_once(waves, [*acts, *(lambda name=name: waves.ask(name, n=2) for name in "BCDE")])
    assert commits.sizes == [len(first) + 1 + 8]  # labels, a draw, leases
    items = [item for answer in answers[len(first) :] if isinstance(answer, list) for item in answer]
    assert len(set(items)) == 8
    assert not set(items) & set(first)
    assert {lease.by for item in waves.state.items.leased() for lease in item.leases} == set("BCDE")


def test_refused_ones_do_not_keep_others_back(campaign: Campaign) -> None:
    one, two = campaign.ask("Ada", n=2)
    acts = [told(campaign, one, "cat", key=key(1)), told(campaign, "nothing", "cat", key=key(2))]
    first, refused, second = all_at_once(campaign, [*acts, told(campaign, two, "dog", key=key(3))])
    assert isinstance(refused, FieldcheckError)
    assert "nothing" in str(refused)
    assert isinstance(first, dict)
    assert isinstance(second, dict)
    assert standing(campaign) == {one: "cat", two: "dog"}


def test_sent_twice_is_stored_once(campaign: Campaign) -> None:
    """Once more in the same go, and once more after an earlier one; with another label it is refused."""
    one, two, three = campaign.ask("Ada", n=3)
    earlier = campaign.tell(one, "cat", by="Ada", key=key(1)).number
    acts = [(one, "cat", 1), (two, "dog", 2), (two, "dog", 2), (one, "owl", 1), (three, "owl", 3)]
    answers = all_at_once(campaign, [told(campaign, item, label, key=key(at)) for item, label, at in acts])
    assert answers[0] == {"number": earlier}
    assert answers[1] == answers[2]
    assert isinstance(answers[3], FieldcheckError)
    assert standing(campaign) == {one: "cat", two: "dog", three: "owl"}
    assert sum(event.kind == "labelled" for event in campaign.log.events()) == 3


def test_another_program_wrote(campaign: Campaign) -> None:
    items = campaign.ask("Ada", n=3)
    with Campaign.open(campaign.place, pool=campaign.pool) as other:
        other.flag(items[0], "look", by="Bo")
    answers = all_at_once(campaign, [told(campaign, item, "cat", key=key(at)) for at, item in enumerate(items)])
    assert all(isinstance(answer, dict) for answer in answers)
    assert standing(campaign) == dict.fromkeys(items, "cat")


def test_what_is_not_stored_is_not_answered(campaign: Campaign, tmp_path: Path) -> None:
    items = campaign.ask("Ada", n=5)
    number = campaign.state.number
    (tmp_path / "c.db").rename(tmp_path / "elsewhere.db")
    answers = all_at_once(campaign, [told(campaign, item, "cat", key=key(at)) for at, item in enumerate(items)])
    assert all(isinstance(answer, StoreError) for answer in answers)
    assert campaign.state.number == number
    (tmp_path / "elsewhere.db").rename(tmp_path / "c.db")
    answers = all_at_once(campaign, [told(campaign, item, "cat", key=key(at)) for at, item in enumerate(items)])
    assert all(isinstance(answer, dict) for answer in answers)
    assert standing(campaign) == dict.fromkeys(items, "cat")


def test_a_state_that_was_not_stored_is_forgotten(campaign: Campaign) -> None:
    item = campaign.ask("Ada")[0]
    before = campaign.state
    with contextlib.suppress(KeyboardInterrupt), campaign.log.together():
        campaign.tell(item, "cat", by="Ada", key=key(1))
        raise KeyboardInterrupt
    assert campaign.state is before
    assert campaign.refresh() is before


def test_answers_do_not_wait_for_acknowledgements() -> None:
    """asyncio sets TCP_NODELAY only where the protocol is named; without it every second answer takes 40 ms."""
    with (
        _bound("127.0.0.1", 0) as listener,
        socket.create_connection(listener.getsockname()),
        listener.accept()[0] as accepted,
    ):
        assert accepted.proto == socket.IPPROTO_TCP
