"""Ask, tell, estimate: a campaign with people leads where a simulated one leads, on any machine, after any restart."""

from __future__ import annotations

import contextlib
import itertools
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import fieldcheck as fc
from fieldcheck.accuracy import designs
from fieldcheck.accuracy.assessment.requirement import decide
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.state import fold
from fieldcheck.campaign.stores import SqliteStore, open_store
from fieldcheck.campaign.verification import verify
from fieldcheck.core.errors import BudgetError, CampaignError, DesignError, LabelError, StaleError, StoreError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.requirement import Requirement

from .crowd import Clock, animals, blank, houses, label_all, start, truth, work

SPECS = [name for name in designs.registry if name != "ces"]


def numbers(found: Estimate) -> tuple[object, ...]:
    return found.value, found.audit, found.standard_error, found.interval, found.beside, found.labels, found.failures


@pytest.mark.parametrize("spec", [*SPECS, "waves:first=20", "gbs:batch=7", "srs:replace=yes", "gbs:replace=yes"])
def test_with_people_as_in_simulation(spec: str, tmp_path: Path) -> None:
    """To the last bit, for every technique: the same items, and the same estimate."""
    campaign = start(tmp_path, animals(), spec)
    label_all(campaign, animals())
    assert numbers(campaign.estimate()) == numbers(fc.simulate(animals(), spec, budget=60, seed=5))
    assert campaign.progress().complete


@pytest.mark.parametrize("spec", ["waves", "ssrs:auxiliary=lsa", "gbs:auxiliary=lsa"])
def test_numbers_too(spec: str, tmp_path: Path) -> None:
    campaign = start(tmp_path, houses(), spec)
    label_all(campaign, houses())
    assert numbers(campaign.estimate()) == numbers(fc.simulate(houses(), spec, budget=60, seed=5))
    assert campaign.progress().failures == campaign.estimate().failures == len(campaign.failures()) > 0


def test_activations(tmp_path: Path) -> None:
    matrix = np.random.default_rng(1).random((300, 8))
    campaign = start(tmp_path, animals(), "ces", activations=matrix)
    label_all(campaign, animals())
    simulated = fc.simulate(animals(), "ces", budget=60, seed=5, activations=matrix)
    assert numbers(campaign.estimate()) == numbers(simulated)


@pytest.mark.parametrize("objective", ["estimate", "balanced", "expose"])
def test_the_objective_is_a_parameter_of_waves(objective: str, tmp_path: Path) -> None:
    campaign = start(tmp_path, animals(), objective=objective)
    label_all(campaign, animals())
    simulated = fc.simulate(animals(), f"waves:objective={objective}", budget=60, seed=5)
    assert numbers(campaign.estimate()) == numbers(simulated)
    assert campaign.settings.objective == objective


def test_many_people_find_the_same(tmp_path: Path) -> None:
    """Whoever labels, in whatever order inside a wave: the estimate is the same."""
    campaign = start(tmp_path, animals())
    people = ("Ann", "Bob", "Cy")
    while any(hands := {by: campaign.ask(by, n=4) for by in people}):
        given = [(by, item) for by, items in hands.items() for item in reversed(items)]
        assert len({item for _, item in given}) == len(given)
        if not given:
            break
        for by, item in given:
            campaign.tell(item, truth(animals(), item), by=by)
    assert numbers(campaign.estimate()) == numbers(fc.simulate(animals(), "waves", budget=60, seed=5))
    assert sum(campaign.progress().annotators.values()) == 60


def test_it_goes_on_after_every_single_label(tmp_path: Path) -> None:
    """A new process each time."""
    start(tmp_path, animals(), budget=25).disconnect()
    while True:
        with Campaign.open(tmp_path / "campaign.db", pool=blank(animals())) as campaign:
            given = campaign.ask("Ann")
            if not given:
                break
            campaign.tell(given[0], truth(animals(), given[0]), by="Ann")
    with Campaign.open(tmp_path / "campaign.db", pool=blank(animals())) as campaign:
        assert numbers(campaign.estimate()) == numbers(fc.simulate(animals(), "waves", budget=25, seed=5))


def test_elsewhere_it_is_the_same(tmp_path: Path) -> None:
    """The folder is moved: pool and items are found beside the campaign."""
    here, there = tmp_path / "here", tmp_path / "there"
    (here / "pictures").mkdir(parents=True)
    fc.save(blank(animals()), here / "pool.csv")
    first = Campaign.create(here / "c.db", here / "pool.csv", budget=30, items=here / "pictures")
    label_all(first, animals())
    found, state = first.estimate(), first.state
    assert first.view.items_folder == here / "pictures"
    first.disconnect()
    shutil.move(here, there)
    with Campaign.open(there / "c.db") as second:
        assert second.state == state
        assert second.estimate() == found
        assert second.view.items_folder == there / "pictures"


def test_how_the_pool_was_read_is_remembered(tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_text("name,said,sure\n" + "".join(f"n{at},a,0.{at % 9 + 1}\n" for at in range(50)))
    options = {"columns": {"id": "name", "prediction": "said", "confidence": "sure"}}
    Campaign.create(tmp_path / "c.db", tmp_path / "odd.csv", budget=10, pool_options=options).disconnect()
    with Campaign.open(tmp_path / "c.db") as campaign:
        assert campaign.pool.confidence is not None
        assert campaign.ask()[0].startswith("n")


def test_a_pool_that_is_gone_or_another(tmp_path: Path) -> None:
    fc.save(blank(animals()), tmp_path / "pool.csv")
    Campaign.create(tmp_path / "c.db", tmp_path / "pool.csv", budget=30).disconnect()
    with pytest.raises(CampaignError, match="not the one"):
        Campaign.open(tmp_path / "c.db", pool=blank(animals(299)))
    (tmp_path / "pool.csv").rename(tmp_path / "elsewhere.csv")
    with pytest.raises(CampaignError, match="not found"):
        Campaign.open(tmp_path / "c.db")
    Campaign.open(tmp_path / "c.db", pool=tmp_path / "elsewhere.csv").disconnect()


def test_a_correction_does_not_change_what_was_drawn(tmp_path: Path) -> None:
    """The design goes on from what it had seen; the estimate counts what is true now."""
    corrected = start(tmp_path, animals())
    first = list(corrected.state.items)
    for item in first:
        corrected.tell(item, "wrong", by="Ann")
    corrected.ask("Ann")
    drawn = list(corrected.state.items)
    for item in first:
        corrected.tell(item, truth(animals(), item), by="Ann")
    label_all(corrected, animals())
    assert list(corrected.state.items)[: len(drawn)] == drawn
    items = animals().position_of(list(corrected.state.items))
    assert corrected.estimate().failures == int(np.asarray(animals().failed)[items].sum())
    assert corrected.estimate().value != fc.simulate(animals(), "waves", budget=60, seed=5).value
    with Campaign.open(corrected.place, pool=blank(animals())) as again:
        assert again.state == corrected.state
        assert again.estimate() == corrected.estimate()


def test_a_label_that_is_taken_back_is_a_gap(tmp_path: Path) -> None:
    """Whoever took it back has the item again; meanwhile the estimate ends before it."""
    campaign = start(tmp_path, animals(), "srs", budget=20)
    label_all(campaign, animals())
    ids = list(campaign.state.items)
    campaign.retract(ids[12], by="Ann")
    assert campaign.estimate().labels == 12
    assert campaign.state.items[ids[12]].standing == "open"
    assert campaign.ask("Bob") == []
    assert campaign.ask("Ann") == [ids[12]]
    campaign.tell(ids[12], "wrong", by="Ann")
    assert campaign.estimate().labels == 20


def test_an_open_end(tmp_path: Path) -> None:
    """Without a budget the waves go on through the whole pool."""
    campaign = start(tmp_path, animals(100), budget=None)
    assert (campaign.settings.budget, len(campaign.state.items)) == (None, 40)
    assert not campaign.progress().complete
    label_all(campaign, animals(100))
    assert len(campaign.state.items) == 100
    assert campaign.progress().complete
    assert campaign.estimate().interval.kind == "exact"


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"design": "srs", "budget": None}, BudgetError),
        ({"budget": 1}, BudgetError),
        ({"budget": 301}, BudgetError),
        ({"design": "srs", "objective": "expose"}, DesignError),
        ({"objective": "everything"}, DesignError),
        ({"design": "nothing"}, DesignError),
        ({"design": "ssrs", "auxiliary": "lsa"}, fc.PoolError),
        ({"labels_per_item": 0}, CampaignError),
        ({"lease_seconds": 0}, CampaignError),
    ],
)
def test_a_campaign_that_cannot_be_started_leaves_no_file(
    options: dict[str, object], error: type[Exception], tmp_path: Path
) -> None:
    with pytest.raises(error):
        start(tmp_path, animals(), **options)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_a_campaign_is_started_once(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals())
    with pytest.raises(CampaignError, match="already"):
        start(tmp_path, animals())
    with pytest.raises(StoreError):
        Campaign.open(tmp_path / "other.db")
    assert len(campaign.ask("Ann")) == 1


@pytest.fixture
def moved(tmp_path: Path) -> tuple[Path, Path]:
    """A campaign whose pool lay in another folder, and was moved: where both are now."""
    (tmp_path / "data").mkdir()
    fc.sources.save(blank(animals()), tmp_path / "data" / "pool.csv")
    Campaign.create(tmp_path / "c.db", tmp_path / "data" / "pool.csv", budget=20).disconnect()
    (tmp_path / "data" / "pool.csv").rename(tmp_path / "data" / "elsewhere.csv")
    return tmp_path / "c.db", tmp_path / "data" / "elsewhere.csv"


def kinds(place: Path) -> list[str]:
    store = open_store(place)
    try:
        return [event.kind for event in store.read()]
    finally:
        store.close()


def test_a_pool_that_was_moved_is_named_once(moved: tuple[Path, Path], tmp_path: Path) -> None:
    place, pool = moved
    with pytest.raises(CampaignError, match="is not found"):
        Campaign.open(place)
    for given in (pool, pool, None, str(pool)):
        with Campaign.open(place, pool=given) as campaign:
            assert len(campaign.pool) == 300
    assert kinds(place) == ["created", "drawn", "moved"]
    (tmp_path / "away").mkdir()
    for name in ("c.db", "data"):
        (tmp_path / name).rename(tmp_path / "away" / name)
    with Campaign.open(tmp_path / "away" / "c.db") as campaign:  # as seen from the campaign's file, it has not moved
        assert len(campaign.ask("Ann", n=3)) == 3
        campaign.close()


def test_a_pool_that_moves_on_is_found_where_it_was_last(moved: tuple[Path, Path], tmp_path: Path) -> None:
    place, pool = moved
    Campaign.open(place, pool=pool).disconnect()
    again = pool.rename(tmp_path / "data" / "third.csv")
    Campaign.open(place, pool=again).disconnect()
    pool.write_text("id,prediction\na,b\n")
    Campaign.open(place).disconnect()
    assert kinds(place)[2:] == ["moved", "moved"]


def test_another_pool_is_not_remembered(moved: tuple[Path, Path], tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("id,prediction,confidence\na,b,0.5\n")
    with pytest.raises(CampaignError, match="is not the one"):
        Campaign.open(moved[0], pool=other)
    assert kinds(moved[0]) == ["created", "drawn"]


def test_a_campaign_that_can_only_be_read_remembers_nothing(
    moved: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> list[object]:
        raise StoreError("the file can only be read")

    monkeypatch.setattr(SqliteStore, "append", refused)
    with Campaign.open(moved[0], pool=moved[1]) as campaign:
        assert len(campaign.pool) == 300


def test_a_store_without_a_campaign(tmp_path: Path) -> None:
    open_store(tmp_path / "c.db", create=True).close()
    with pytest.raises(CampaignError, match="no campaign"):
        Campaign.open(tmp_path / "c.db")
    start(tmp_path, animals()).disconnect()


def test_items_are_leased_and_come_back(tmp_path: Path) -> None:
    clock = Clock()
    campaign = start(tmp_path, animals(), lease_seconds=100, clock=clock)
    order = list(campaign.state.items)
    assert campaign.ask("Ann", n=2) == order[:2]
    assert campaign.ask("Bob", n=2) == order[2:4]
    assert campaign.ask("Ann", n=3) == [*order[:2], order[4]]
    assert campaign.progress().leased == 5
    clock.now += 101
    assert campaign.progress().leased == 0
    assert campaign.ask("Bob", n=6) == order[:6]
    campaign.release(order[0], by="Bob")
    assert campaign.ask("Ann") == [order[0]]
    with pytest.raises(CampaignError, match="not in the hands"):
        campaign.release(order[1], by="Ann")


def test_a_lease_is_renewed_only_when_half_of_it_is_over(tmp_path: Path) -> None:
    """A page that is loaded again and again leaves no trace."""
    clock = Clock()
    campaign = start(tmp_path, animals(), lease_seconds=100, clock=clock)
    (item,) = campaign.ask("Ann")
    number = campaign.state.number
    clock.now += 49
    assert campaign.ask("Ann") == [item]
    assert campaign.state.number == number
    clock.now += 2
    assert campaign.ask("Ann") == [item]
    (lease,) = campaign.state.items[item].leases
    assert lease.until == clock.now + 100


def test_nothing_is_left_while_others_have_the_rest(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals(), budget=60)
    first = campaign.ask("Ann", n=50)
    assert len(first) == 20
    assert campaign.ask("Bob", n=5) == []
    assert not campaign.progress().complete
    for item in first:
        campaign.tell(item, "right", by="Ann")
    assert len(campaign.ask("Bob", n=50)) == 40


def test_closed_is_closed(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals())
    (item,) = campaign.ask("Ann")
    campaign.tell(item, "cat", by="Ann", key="k")
    first = campaign.close(by="Ann")
    assert campaign.close(by="Bob") == first
    assert campaign.progress().closed
    assert campaign.ask("Ann") == []
    for call in (campaign.tell, campaign.flag, campaign.skip):
        with pytest.raises(CampaignError, match="closed"):
            call(item, "dog", by="Ann")
    with pytest.raises(CampaignError, match="closed"):
        campaign.retract(item, by="Ann")
    assert campaign.tell(item, "cat", by="Ann", key="k").key == "k"


def test_the_same_key_is_the_same_event(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals())
    first, second = campaign.ask("Ann", n=2)
    told = campaign.tell(first, "cat", by="Ann", key="k")
    assert campaign.tell(first, "CAT", by="Ann", key="k") == told
    for wrong in (
        lambda: campaign.tell(first, "dog", by="Ann", key="k"),
        lambda: campaign.tell(second, "cat", by="Ann", key="k"),
        lambda: campaign.tell(first, "cat", by="Bob", key="k"),
        lambda: campaign.skip(first, by="Ann", key="k"),
        lambda: campaign.retract(first, by="Ann", key="k"),
    ):
        with pytest.raises(CampaignError, match="used for something else"):
            wrong()
    undone = campaign.retract(first, by="Ann", key="u")
    assert campaign.retract(first, by="Ann", key="u") == undone
    assert campaign.tell(first, "cat", by="Ann", key="k") == told
    assert campaign.state.items[first].labels == ()


def test_what_stands_need_not_be_said_again(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals())
    (item,) = campaign.ask("Ann")
    told = campaign.tell(item, "cat", by="Ann")
    assert campaign.tell(item, "Cat", by="Ann") == told
    assert campaign.tell(item, "dog", by="Ann").number == told.number + 1
    assert campaign.tell(item, "cat", by="Ann").number == told.number + 2
    assert campaign.skip(item, "blurred", by="Ann") == campaign.skip(item, "blurred", by="Ann")


class Rushed:
    """A store at which somebody else always comes first, a few times."""

    def __init__(self, place: Path, times: int) -> None:
        self.inner, self.times, self.place = open_store(place), times, str(place)
        self.read, self.close, self.find = self.inner.read, self.inner.close, self.inner.find
        self.bookmark, self.keep, self.path = self.inner.bookmark, self.inner.keep, self.inner.path
        self.name = self.inner.name

    def append(self, events: list[fc.campaign.Event], *, seen: int) -> list[object]:  # type: ignore[name-defined]
        if self.times:
            self.times -= 1
            (item, *_) = (one.item for one in events)
            known = next(one for one in reversed(self.read()) if one.kind == "drawn").data["ids"]
            flag = replace(
                events[0], kind="flagged", key=f"rush {self.times}", item=item or known[0], data={"note": ""}
            )
            self.inner.append([flag], seen=len(self.read()))
        return self.inner.append(events, seen=seen)  # type: ignore[return-value]


@pytest.mark.parametrize("times", [1, 5])
def test_who_comes_second_decides_anew(times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start(tmp_path, animals()).disconnect()
    monkeypatch.setattr("fieldcheck.campaign.log.LONGEST_PAUSE", 0.0)
    store = Rushed(tmp_path / "campaign.db", times)
    campaign = Campaign.open(store, pool=blank(animals()))  # type: ignore[arg-type]
    (item,) = campaign.ask("Ann")
    campaign.tell(item, "cat", by="Ann")
    assert [event.kind for event in campaign.log.events()].count("flagged") == times
    assert [event.kind for event in campaign.log.events()].count("labelled") == 1


def test_who_never_comes_first_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = start(tmp_path, animals())
    monkeypatch.setattr("fieldcheck.campaign.log.LONGEST_PAUSE", 0.0)
    monkeypatch.setattr(
        campaign.log._store, "append", lambda events, *, seen: (_ for _ in ()).throw(StaleError("late"))
    )
    with pytest.raises(CampaignError, match="another process came first"):
        campaign.ask("Ann")


def test_two_draw_the_next_wave_at_once(tmp_path: Path) -> None:
    """Both have seen the last label; the wave is drawn once."""
    one = start(tmp_path, animals())
    two = Campaign.open(one.place, pool=blank(animals()))
    for item in one.ask("Ann", n=20):
        one.tell(item, "right", by="Ann")
    two.refresh()
    event = two.view.next_draw(two.state)
    one.ask("Ann")
    assert two.log.append([event])[0] == one.log.keyed("fieldcheck:drawn:20")
    assert two.refresh() == one.refresh()


def test_development_ends_with_the_estimate_and_computes_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = start(tmp_path, animals())
    assert campaign.view.development() == []
    computed = count(monkeypatch)
    for number, item in enumerate(work(campaign), start=1):
        campaign.tell(item, truth(animals(), item), by="Ann")
        if number < 10:
            assert campaign.view.development(points=10) == []
            with pytest.raises(LabelError):
                campaign.estimate()
        else:
            newest = campaign.view.development(points=10)[-1]
            found = campaign.estimate()
            assert (newest.labels, newest.value, newest.failures) == (number, found.value, found.failures)
            assert (newest.low, newest.high) == (found.interval.low, found.interval.high)
    points = campaign.view.development(points=10)
    assert [point.labels for point in points] == sorted({point.labels for point in points})
    assert {20, 60} <= {point.labels for point in points}
    assert len(points) <= 12
    assert len(computed) <= 2 * 60
    before = len(computed)
    campaign.flag(item)
    assert campaign.view.development(points=10) == points
    assert len(computed) == before


def count(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    from fieldcheck.accuracy.assessment import development

    original: Callable[..., object] = development.point
    computed: list[int] = []

    def counted(labelled: object, draws: int, **options: object) -> object:
        computed.append(draws)
        return original(labelled, draws, **options)

    monkeypatch.setattr(development, "point", counted)
    return computed


@pytest.mark.parametrize(("draws", "most", "expected"), [(7, 60, [5, 6, 7]), (9, 4, [8, 9]), (100, 10, None)])
def test_looks(draws: int, most: int, expected: list[int] | None) -> None:
    from fieldcheck.accuracy.assessment.development import grid

    found = grid(draws, most)
    assert found == (expected or [16, 32, 48, 64, 80, 96, 100])
    assert set(grid(draws + 1, most)) >= set(found) - {draws}


def test_strata_without_a_label_have_no_point_yet(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals(), "ssrs", budget=20)
    label_all(campaign, animals())
    assert [point.labels for point in campaign.view.development()] == list(range(10, 21))


def test_a_technique_that_needs_all_its_labels_develops_at_its_end(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals(), "rhc", budget=20)
    *first, last = campaign.ask("Ann", n=1000)
    for item in first:
        campaign.tell(item, truth(animals(), item), by="Ann")
    assert campaign.view.development() == []
    with pytest.raises(LabelError):
        campaign.estimate()
    campaign.tell(last, truth(animals(), last), by="Ann")
    assert [point.labels for point in campaign.view.development()] == [20]


def test_state_is_the_fold_of_the_events(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals())
    label_all(campaign, animals())
    events = campaign.log.events()
    assert fold(events) == campaign.state
    for cut in range(1, len(events), 13):
        assert fold(events[cut:], fold(events[:cut])) == campaign.state


def test_it_is_opened_from_where_its_state_was_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the events after that are read; a state that was tampered with is passed over."""
    monkeypatch.setattr("fieldcheck.campaign.log.LONG", 20)
    with start(tmp_path, animals()) as first:
        label_all(first, animals())
        found, state = first.estimate(), first.refresh()
    place = tmp_path / "campaign.db"
    read = list[int]()
    plain = SqliteStore.read
    monkeypatch.setattr(SqliteStore, "read", lambda self, after=0: read.append(after) or plain(self, after))
    with Campaign.open(place, pool=blank(animals())) as second:
        assert (second.state, second.estimate().value) == (state, found.value)
        assert min(read) == state.number
        assert fold(second.log.events()) == state
    with contextlib.closing(sqlite3.connect(place, isolation_level=None)) as connection:
        connection.execute("UPDATE bookmark SET text = replace(text, 'cat', 'dog')")
    read.clear()
    with Campaign.open(place, pool=blank(animals())) as third:
        assert (third.state, min(read)) == (state, 0)


@pytest.mark.parametrize("spec", ["waves", "srs", "waves:objective=protected"])
def test_an_extended_campaign_goes_on_from_what_it_drew(spec: str, tmp_path: Path) -> None:
    """It draws as a simulation does whose budget was extended, and both halves of its history are replayed."""
    campaign = start(tmp_path, animals(), spec)
    label_all(campaign, animals())
    before = list(campaign.state.items)
    campaign.extend("+25", by="ann")
    assert not campaign.progress().complete
    label_all(campaign, animals())
    assert list(campaign.state.items)[:60] == before
    assert campaign.progress().complete
    assert campaign.settings.budgets == (60, 85)
    name, _, rest = spec.partition(":")
    again = fc.simulate(animals(), f"{name}:{rest},earlier=60" if rest else f"{name}:earlier=60", budget=85, seed=5)
    assert numbers(campaign.estimate()) == numbers(again)
    assert not [one for one in verify(tmp_path / "campaign.db", pool=blank(animals())).findings if one.holds is False]
    with Campaign.open(tmp_path / "campaign.db", pool=blank(animals())) as opened:
        assert numbers(opened.estimate()) == numbers(campaign.estimate())
        assert list(opened.state.items) == list(campaign.state.items)


def test_a_decision_of_an_earlier_look_stands(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals())
    wanted = Requirement("accuracy", 0.6)
    assert campaign.view.check(wanted).preliminary
    label_all(campaign, animals())
    first = campaign.view.check(wanted)
    assert (first.word, first.preliminary) == ("passed", False)
    campaign.extend(85)
    assert campaign.view.check(wanted) == first
    hard = Requirement("accuracy", campaign.estimate().value)
    assert campaign.view.check(hard).preliminary
    label_all(campaign, animals())
    assert campaign.view.check(wanted).look == first.look
    second = campaign.view.check(hard).look
    assert second is not None
    assert (second.extensions, second.labels, second.error) == (1, 85, pytest.approx(0.008))


def test_the_labels_to_go_are_those_of_an_extension(tmp_path: Path) -> None:
    """A spent budget is extended, and that is decided at a smaller error: more labels than the first look needed."""
    campaign = start(tmp_path, animals())
    label_all(campaign, animals())
    low = campaign.estimate(level=0.96).protected
    assert low is not None
    wanted = Requirement("accuracy", low.low + 0.03)
    found = campaign.view.check(wanted)
    assert (found.word, found.look and found.look.extensions) == ("undecided", 0)
    assert found.more == decide(campaign.estimate(level=0.992), wanted).more
    assert found.more > decide(campaign.estimate(level=0.96), wanted).more


@pytest.mark.parametrize(("spec", "extendable"), [("waves", True), ("srs", True), ("ssrs", False), ("rhc", False)])
def test_what_cannot_be_extended_says_so(spec: str, extendable: bool, tmp_path: Path) -> None:
    assert start(tmp_path, animals(), spec).view.question.extendable == extendable


def test_an_open_ended_campaign_gets_a_budget(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals(), budget=None)
    for item in itertools.islice(work(campaign), 45):
        campaign.tell(item, truth(animals(), item), by="Ann")
    drawn = list(campaign.state.items)
    campaign.extend(70)
    label_all(campaign, animals())
    assert list(campaign.state.items)[: len(drawn)] == drawn
    assert len(campaign.state.items) == 70
    assert campaign.progress().complete


@pytest.mark.parametrize("budget", ["+0", 60, 59, "much", 301, "-5"])
def test_budgets_that_add_nothing_are_refused(budget: int | str, tmp_path: Path) -> None:
    with pytest.raises(BudgetError):
        start(tmp_path, animals()).extend(budget)


@pytest.mark.parametrize("spec", ["ssrs", "rhc", "css:auxiliary=confidence"])
def test_designs_laid_out_for_one_budget_are_not_extended(spec: str, tmp_path: Path) -> None:
    with pytest.raises(DesignError, match="cannot go on"):
        start(tmp_path, animals(), spec).extend("+5")


def test_a_design_that_could_not_be_found_again_is_refused_at_the_start(tmp_path: Path) -> None:
    class Unknown(designs.Srs):
        name = "unknown"

    with pytest.raises(DesignError, match="no design 'unknown'"):
        Campaign.create(tmp_path / "c.db", animals(), Unknown(), budget=10)
    assert not (tmp_path / "c.db").exists()


def test_an_extension_that_is_sent_twice_counts_once(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals())
    assert campaign.extend("+5", key="k1") == campaign.extend("+5", key="k1")
    assert campaign.settings.budgets == (60, 65)
