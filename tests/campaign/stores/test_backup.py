"""A copy of a campaign that goes on: whole, the same, and a campaign itself; and what is found in a damaged one."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.stores import SqliteStore, back_up, open_store
from fieldcheck.campaign.stores.base import Event
from fieldcheck.campaign.verification import Verification, verify
from fieldcheck.core.errors import CampaignError, StoreError

from ..crowd import animals, blank, houses, label_all


def begun(place: str, design: str = "waves", labels: int | None = 40) -> Campaign:
    campaign = Campaign.create(place, blank(animals()), design, budget=60, seed=5)
    if labels is None:
        label_all(campaign, animals())
    else:
        for item in campaign.ask("Ada", n=labels):
            campaign.tell(item, "dog", by="Ada")
    return campaign


def holding(found: Verification) -> dict[str, bool | None]:
    return {finding.name: finding.holds for finding in found.findings}


def test_the_copy_is_the_campaign_and_goes_on(new_place: Callable[[], str], tmp_path: Path) -> None:
    place, copy = new_place(), tmp_path / "copy.db"
    with begun(place) as campaign, closing(open_store(place)) as store:
        assert back_up(store, copy) == campaign.state.number
        before = verify(place, pool=blank(animals()))
        after = verify(copy, pool=blank(animals()))
        assert before == after
        assert set(holding(after).values()) <= {True, None}
        with Campaign.open(copy, pool=blank(animals())) as restored:
            assert restored.estimate() == campaign.estimate()
            restored.tell(restored.ask("Bob")[0], "cat", by="Bob")
        assert verify(copy, pool=blank(animals())).digest != before.digest
    assert [path.name for path in tmp_path.iterdir() if "copy" in path.name] == ["copy.db"]  # no log is left beside it


def test_copies_while_people_label_are_whole(tmp_path: Path) -> None:
    place = str(tmp_path / "c.db")
    with begun(place, "srs", labels=1) as campaign:
        copies = [tmp_path / f"copy-{at}.db" for at in range(5)]

        def copy_all() -> None:
            with closing(open_store(place)) as store:
                for copy in copies:
                    back_up(store, copy)

        copying = threading.Thread(target=copy_all)
        copying.start()
        label_all(campaign, animals())
        copying.join()
        whole = campaign.log.events()
        for copy in copies:
            with closing(open_store(str(copy))) as store:
                found = store.read()
            assert tuple(found) == whole[: len(found)]
            assert verify(copy, pool=blank(animals())).holds


@pytest.mark.parametrize("design", ["waves", "srs", "ssrs", "gbs", "sups", "deepest"])
def test_a_replay_leads_to_the_same_estimate(design: str, tmp_path: Path) -> None:
    with begun(str(tmp_path / "c.db"), design, labels=None) as campaign:
        found = verify(tmp_path / "c.db", pool=blank(animals()))
        assert holding(found) == dict.fromkeys(("events", "state", "pool", "draws", "estimate"), True)
        assert found.estimate == campaign.estimate()


def rewritten(place: Path, change: Callable[[list[Event]], None]) -> None:
    """A person who knows how events are chained changes one, and chains them all anew."""
    with closing(open_store(str(place))) as store:
        events = store.read()
    change(events)
    place.unlink()
    with closing(SqliteStore(place, create=True)) as fresh:
        fresh.append(events, seen=0)


def damage(place: Path, statement: str, values: Sequence[object] = ()) -> None:
    with sqlite3.connect(place) as connection:
        connection.execute("DROP TRIGGER no_update")
        connection.execute("DROP TRIGGER no_delete")
        connection.execute(statement, values)
    connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET annotator = 'Eve' WHERE kind = 'labelled' AND number = (SELECT max(number) FROM events)",
        "DELETE FROM events WHERE number = 7",
        "DELETE FROM events WHERE number = (SELECT max(number) FROM events)",
        "UPDATE events SET data = '{}' WHERE number = 2",
        "DELETE FROM head",
    ],
)
def test_a_changed_or_lost_event_is_found(statement: str, tmp_path: Path) -> None:
    begun(str(tmp_path / "c.db")).disconnect()
    damage(tmp_path / "c.db", statement)
    found = verify(tmp_path / "c.db", pool=blank(animals()))
    assert holding(found) == {"events": False}
    assert not found.holds
    with closing(open_store(str(tmp_path / "c.db"))) as store, pytest.raises(StoreError):
        back_up(store, tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()


def test_draws_that_the_design_would_not_make_are_found(tmp_path: Path) -> None:
    begun(str(tmp_path / "c.db"), "srs").disconnect()
    before = verify(tmp_path / "c.db", pool=blank(animals())).digest

    def other_items(events: list[Event]) -> None:
        sample = dict(events[1].data["sample"])
        sample["items"] = sample["items"][::-1]
        events[1] = replace(events[1], data={**events[1].data, "sample": sample})

    rewritten(tmp_path / "c.db", other_items)
    found = verify(tmp_path / "c.db", pool=blank(animals()))
    assert holding(found) == {"events": True, "state": True, "pool": True, "draws": False}
    assert found.digest != before  # and by this alone, also where the design would draw it


def test_another_pool_is_found_and_a_missing_one_is_an_error(tmp_path: Path) -> None:
    begun(str(tmp_path / "c.db")).disconnect()
    assert holding(verify(tmp_path / "c.db", pool=blank(animals(299))))["pool"] is False
    assert holding(verify(tmp_path / "c.db", pool=blank(houses())))["pool"] is False
    with pytest.raises(CampaignError, match="is not found"):
        verify(tmp_path / "c.db")
