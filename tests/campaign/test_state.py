"""The fold: a pure function of the events, in as many steps as one likes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldcheck.campaign.item_state import Lease
from fieldcheck.campaign.kept_state import as_text, from_text
from fieldcheck.campaign.settings import FORMAT, Settings
from fieldcheck.campaign.state import State, fold
from fieldcheck.campaign.stores.base import Event
from fieldcheck.core.errors import CampaignError
from fieldcheck.core.label import TrueClass

PLAIN = Settings(
    title="animals",
    design="srs",
    auxiliary="none",
    objective="",
    budget=4,
    seed=0,
    task="classification",
    loss="squared",
    threshold=0.5,
    population=9,
    classes=("cat", "dog"),
)
SAMPLE = {
    "items": [4, 2, 7, 0],
    "estimator": "mean",
    "draws": {"kind": "EqualDraws", "replacement": False},
    "complete": True,
    "warnings": [],
    "train": None,
}
IDS = ("e", "c", "h", "a")


def begun(*more: Event, needed: int = 1) -> list[Event]:
    """A campaign on four items, and then some events."""
    record = replace(PLAIN, labels_per_item=needed).as_record()
    drawn = {"ids": list(IDS), "positions": [4, 2, 7, 0], "seen": {}, "sample": SAMPLE}
    events = [Event("created", "c", data=record), Event("drawn", "drawn:0", data=drawn), *more]
    return [replace(event, number=number, key=event.key or str(number)) for number, event in enumerate(events, 1)]


def label(item: str, text: str, by: str = "Ann", at: float = 0.0) -> Event:
    return Event("labelled", "", item=item, by=by, at=at, data={"label": {"class": text}, "typed": text.upper()})


def skip(item: str, by: str = "Ann") -> Event:
    return Event("skipped", "", item=item, by=by, data={"reason": "dark"})


def lease(item: str, by: str, until: float, at: float = 0.0) -> Event:
    return Event("leased", "", item=item, by=by, at=at, data={"until": until})


def flag(item: str, by: str) -> Event:
    return Event("flagged", "", item=item, by=by, data={"note": "?"})


def retract(item: str, by: str) -> Event:
    return Event("retracted", "", item=item, by=by, data={"of": 0, "until": 50.0})


def test_items_are_in_the_order_of_the_design_and_know_their_place() -> None:
    state = fold(begun())
    assert [(item.id, item.position) for item in state.items.values()] == [("e", 4), ("c", 2), ("h", 7), ("a", 0)]
    assert (state.number, state.changed, state.complete, state.closed) == (2, 2, True, False)


def test_what_stands_is_the_last_that_somebody_said() -> None:
    state = fold(begun(label("c", "cat"), label("c", "dog"), label("e", "cat", by="Bob")))
    (mark,) = state.items["c"].labels
    assert (mark.label, mark.typed, mark.number) == (TrueClass("dog"), "DOG", 4)
    assert (state.items["c"].standing, state.items["c"].label) == ("labelled", TrueClass("dog"))
    assert state.items["h"].standing == "open"


def test_only_what_is_said_changes_the_estimate() -> None:
    events = begun(label("c", "cat"), lease("e", "Ann", 9.0), Event("flagged", "", item="c", data={"note": ""}))
    assert (fold(events).changed, fold(events).number) == (3, 5)


def test_a_lease_ends_with_the_label_of_whoever_holds_it_or_when_the_item_is_done() -> None:
    held = lease("c", "Ann", 9.0)
    assert holders(held) == ["Ann"]
    assert holders(held, label("c", "cat", by="Ann")) == []
    assert holders(held, label("c", "cat", by="Bob")) == []
    assert holders(held, label("c", "cat", by="Bob"), needed=2) == ["Ann"]
    assert holders(held, label("c", "cat", by="Ann"), needed=2) == []
    assert holders(held, Event("released", "", item="c", by="Ann")) == []


def holders(*more: Event, needed: int = 1) -> list[str]:
    """Who has item c."""
    return [lease.by for lease in fold(begun(*more, needed=needed)).items["c"].leases]


def test_several_people_hold_an_item_each_for_a_time_of_their_own() -> None:
    both = lease("c", "Ann", 9.0), lease("c", "Bob", 20.0, at=5.0)
    assert holders(*both, needed=2) == ["Ann", "Bob"]
    assert holders(*both, label("c", "cat", by="Ann"), needed=2) == ["Bob"]
    assert holders(*both, Event("released", "", item="c", by="Bob"), needed=2) == ["Ann"]
    assert holders(*both, lease("c", "Ann", 30.0, at=6.0), needed=2) == ["Bob", "Ann"]
    assert holders(*both, lease("c", "Cy", 30.0, at=9.0), needed=2) == ["Bob", "Cy"]


def test_names_are_known_by_their_first_spelling() -> None:
    state = fold(begun(label("c", "cat", by="ANN"), flag("e", by="Bob"), flag("e", by="bob")))
    assert state.names == ("ANN", "Bob", "bob")
    assert [state.person(name) for name in ("ann", "Ann", "BOB", "bob", "Cy", "")] == [
        *("ANN", "ANN", "Bob", "bob", "Cy", "")
    ]


def test_what_is_retracted_is_theirs_again_unless_others_settled_it() -> None:
    state = fold(begun(label("c", "cat"), retract("c", "Ann")))
    assert (state.items["c"].standing, state.items["c"].labels) == ("open", ())
    assert state.items["c"].leases == (Lease("Ann", 50.0),)
    state = fold(begun(label("c", "cat"), label("c", "cat", by="Bob"), retract("c", "Ann")))
    assert (state.items["c"].standing, state.items["c"].leases) == ("labelled", ())


def test_an_item_is_held_until_its_lease_runs_out() -> None:
    item = fold(begun(lease("c", "Ann", 9.0))).items["c"]
    assert item.leased_at(8.9) == (Lease("Ann", 9.0),)
    assert item.leased_at(9.0) == ()


@pytest.mark.parametrize(
    "events",
    [
        [],
        begun()[1:],
        [*begun(), *begun()],
        begun(label("never drawn", "cat")),
        [*begun(), replace(label("c", "cat"), number=9)],
        begun(Event("created", "again", data=PLAIN.as_record())),
        *([replace(begun()[0], data={**PLAIN.as_record(), "format": other})] for other in (FORMAT - 1, FORMAT + 1)),
    ],
)
def test_events_that_are_no_campaign(events: Sequence[Event]) -> None:
    with pytest.raises(CampaignError):
        fold(events)


def test_settings_come_back_as_they_were() -> None:
    assert Settings.from_record(PLAIN.as_record()) == PLAIN
    assert fold(begun()).settings == PLAIN


people = st.sampled_from(("Ann", "Bob", "Cy"))
items = st.sampled_from(IDS)
happenings = st.one_of(
    st.builds(label, items, st.sampled_from(("cat", "dog", "wrong")), people),
    st.builds(skip, items, people),
    st.builds(lease, items, people, st.floats(0, 100)),
    st.builds(retract, items, people),
    st.builds(flag, items, people),
    st.builds(lambda item, by: Event("released", "", item=item, by=by), items, people),
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(happenings, max_size=25), st.integers(1, 3), st.data())
def test_in_one_step_or_many(more: list[Event], needed: int, data: st.DataObject) -> None:
    events = begun(*more, needed=needed)
    whole = fold(events)
    cut = data.draw(st.integers(1, len(events)))
    before = fold(events[:cut])
    kept = State(**vars(before))
    assert fold(events[cut:], before) == whole
    assert before == kept
    assert from_text(as_text(whole)) == whole
    for item in whole.items.values():
        names = [mark.by for mark in (*item.labels, *item.skips)]
        assert len(names) == len(set(names))
        assert item.done == (item.standing in ("labelled", "skipped"))
        assert (item.label is not None) == (item.standing == "labelled")
        assert not (item.done and item.leases)
        holding = [lease.by for lease in item.leases]
        assert len(holding) == len(set(holding))
        assert not set(holding) & set(names)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(happenings, max_size=15))
def test_nothing_is_ever_done_with_fewer_people_than_wanted(more: list[Event]) -> None:
    state = fold(begun(*more, needed=3))
    assert all(len(item.labels) + len(item.skips) >= 3 for item in state.items.values() if item.done)


def test_whoever_goes_on_from_one_state_leaves_it_to_others_as_it_was() -> None:
    """States share what did not change; two that go on from one must not meet in it."""
    before = fold(begun())
    drawn = {"positions": [1, 3], "seen": {}, "sample": SAMPLE}
    here = fold([Event("drawn", "x", number=3, data={**drawn, "ids": ["b", "d"]})], before)
    there = fold([Event("drawn", "y", number=3, data={**drawn, "ids": ["d", "f"]})], before)
    assert (list(before.items), "b" in before.items) == (list(IDS), False)
    assert (list(here.items), list(there.items)) == ([*IDS, "b", "d"], [*IDS, "d", "f"])
    assert [here.items[name].id for name in here.items] == list(here.items)
    assert "b" not in there.items


def test_a_label_costs_the_same_in_a_large_campaign() -> None:
    """Counted, not timed: of 50,000 items, those that a label looks at are some hundreds."""
    names = [f"item {at}" for at in range(50_000)]
    drawn = {"ids": names, "positions": list(range(50_000)), "seen": {}, "sample": SAMPLE}
    state = fold([begun()[0], Event("drawn", "drawn:0", number=2, data=drawn)])
    after = fold([replace(label("item 7", "cat"), number=3)], state)
    shared = {id(item) for item in state.items.values()} & {id(item) for item in after.items.values()}
    assert len(shared) == 49_999
    assert len({id(block) for block in state.items._blocks} - {id(block) for block in after.items._blocks}) == 1
    assert (str(after.items["item 7"].label), state.items["item 7"].label) == ("cat", None)
