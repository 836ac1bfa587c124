"""People at work on one campaign, through processes that crash and send things twice: one machine for all stores.

What the campaign says is compared, after every step, with a few dictionaries that hold what should be.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.state import fold
from fieldcheck.campaign.stores import open_store
from fieldcheck.core.errors import CampaignError

from .people import CLASSES, pool

PEOPLE = ("Ann", "Bob", "Cy", "")
LEASE = 100.0
NAMES = itertools.count(1)

people = st.sampled_from(PEOPLE)
words = st.sampled_from((*CLASSES, "right", "wrong"))
windows = st.sampled_from((0, 1))
chances = st.integers(0, 10**6)


class Campaigning(RuleBasedStateMachine):
    """The campaign through two windows, and what it should be."""

    new_place: Callable[[], str]

    @initialize(needed=st.sampled_from((1, 2)), design=st.sampled_from(("waves:first=6", "srs")))
    def start(self, needed: int, design: str) -> None:
        self.now, self.needed = 1000.0, needed
        self.place = self.new_place()
        first = Campaign.create(
            self.place,
            pool(),
            design,
            budget=30,
            seed=3,
            labels_per_item=needed,
            lease_seconds=LEASE,
            clock=lambda: self.now,
        )
        self.windows = [first, self.open()]
        self.said: dict[str, dict[str, tuple[str, str]]] = {}
        self.flags: set[tuple[str, str]] = set()
        self.final: dict[str, str] = {}
        self.keys: dict[str, tuple[Any, ...]] = {}
        self.leases: dict[str, dict[str, float]] = {}
        self.closed = False

    def open(self) -> Campaign:
        return Campaign.open(open_store(self.place), pool=pool(), clock=lambda: self.now)

    def item(self, chance: int) -> str:
        known = list(self.windows[0].refresh().items)
        return known[chance % len(known)]

    def prediction(self, item: str) -> str:
        items = pool()
        assert items.predictions is not None
        return items.classes[int(items.predictions[items.position_of([item])[0]])]

    def standing(self, item: str) -> str:
        """Written anew, from the words of the rules."""
        if item in self.final:
            return "skipped" if self.final[item] == "?" else "labelled"
        marks = self.said.get(item, {})
        labels = [text for kind, text in marks.values() if kind == "label"]
        if len(marks) < self.needed:
            return "open"
        if len(labels) < self.needed:
            return "skipped" if len(marks) - len(labels) >= self.needed else "disputed"
        counts = sorted(Counter(labels).values(), reverse=True)
        if len(counts) == 1 or counts[0] > counts[1]:
            return "labelled"
        return "skipped" if list(marks.values())[-1][0] == "skip" else "disputed"

    def done(self, item: str) -> bool:
        return self.standing(item) in ("labelled", "skipped")

    def put(self, item: str, by: str, what: tuple[str, str] | None) -> None:
        marks = self.said.setdefault(item, {})
        marks.pop(by, None)
        if what is not None:
            marks[by] = what
        self.holding(item).pop(by, None)
        if self.done(item):
            self.leases.pop(item, None)

    def holding(self, item: str) -> dict[str, float]:
        """Until when each of those who have an item has it."""
        return self.leases.setdefault(item, {})

    def hold(self, item: str, by: str) -> None:
        """Make it theirs; whose time has run out loses it then."""
        kept = {name: until for name, until in self.holding(item).items() if name != by and until > self.now}
        self.leases[item] = {**kept, by: self.now + LEASE}

    @rule(window=windows, by=people, n=st.integers(1, 4))
    def ask(self, window: int, by: str, n: int) -> None:
        given = self.windows[window].ask(by, n=n)
        assert len(given) == len(set(given)) <= n
        for item in given:
            assert not self.done(item)
            assert by not in self.said.get(item, {})
            live = {name for name, until in self.holding(item).items() if until > self.now}
            labels = sum(kind == "label" for kind, _ in self.said.get(item, {}).values())
            assert by in live or len(live) < max(1, self.needed - labels)
            if self.holding(item).get(by, 0.0) <= self.now + LEASE / 2:
                self.hold(item, by)
        if self.closed:
            assert given == []

    @precondition(lambda self: not self.closed)
    @rule(window=windows, by=people, chance=chances, word=words, repeats=st.integers(1, 3))
    def tell(self, window: int, by: str, chance: int, word: str, repeats: int) -> None:
        item, key = self.item(chance), f"key {len(self.keys)}"
        sent = [self.windows[(window + at) % 2].tell(item, word, by=by, key=key) for at in range(repeats)]
        assert len({event.number for event in sent}) == 1
        label = self.prediction(item) if word == "right" else word
        self.keys[key] = ("labelled", item, by, label)
        self.put(item, by, ("label", label))

    @precondition(lambda self: not self.closed)
    @rule(window=windows, by=people, chance=chances, reason=st.sampled_from(("", "blurred")))
    def skip(self, window: int, by: str, chance: int, reason: str) -> None:
        item, key = self.item(chance), f"key {len(self.keys)}"
        self.windows[window].skip(item, reason, by=by, key=key)
        self.keys[key] = ("skipped", item, by, None)
        self.put(item, by, ("skip", reason))

    @precondition(lambda self: not self.closed)
    @rule(window=windows, by=people, chance=chances)
    def retract(self, window: int, by: str, chance: int) -> None:
        item = self.item(chance)
        if by in self.said.get(item, {}):
            self.windows[window].retract(item, by=by)
            self.put(item, by, None)
            if not self.done(item):
                self.hold(item, by)
        else:
            with pytest.raises(CampaignError):
                self.windows[window].retract(item, by=by)

    @precondition(lambda self: not self.closed)
    @rule(window=windows, by=people, chance=chances)
    def flag(self, window: int, by: str, chance: int) -> None:
        item = self.item(chance)
        self.windows[window].flag(item, "odd", by=by)
        self.flags.add((item, by))

    @precondition(lambda self: not self.closed)
    @rule(window=windows, chance=chances, word=st.sampled_from(("cat", "dog", "?")))
    def settle(self, window: int, chance: int, word: str) -> None:
        item = self.item(chance)
        self.windows[window].settle(item, word, by="lead")
        self.final[item] = word
        self.flags = {(name, by) for name, by in self.flags if name != item}
        self.leases.pop(item, None)

    @precondition(lambda self: any(self.leases.values()) and not self.closed)
    @rule(window=windows, chance=chances)
    def release(self, window: int, chance: int) -> None:
        held = [(item, by) for item, holders in self.leases.items() for by in holders]
        item, by = held[chance % len(held)]
        self.windows[window].release(item, by=by)
        del self.leases[item][by]

    @precondition(lambda self: self.keys)
    @rule(window=windows, chance=chances)
    def send_something_old_again(self, window: int, chance: int) -> None:
        """Long after, whatever happened since, even after the end: it is there, and changes nothing."""
        key = list(self.keys)[chance % len(self.keys)]
        kind, item, by, label = self.keys[key]
        before = self.windows[window].refresh().number
        if kind == "labelled":
            assert self.windows[window].tell(item, label, by=by, key=key).key == key
            with pytest.raises(CampaignError, match="used for something else"):
                self.windows[window].tell(item, label, by=by + "?", key=key)
        else:
            with pytest.raises(CampaignError, match="used for something else"):
                self.windows[window].flag(item, by=by, key=key)
        assert self.windows[window].refresh().number == before

    @rule(window=windows)
    def crash(self, window: int) -> None:
        """A process ends without a word, and another takes its place."""
        self.windows[window].disconnect()
        self.windows[window] = self.open()

    @rule(seconds=st.sampled_from((1.0, 60.0, 101.0)))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @precondition(lambda self: len(self.keys) > 15)
    @rule(window=windows)
    def close(self, window: int) -> None:
        self.windows[window].close(by="Ann")
        self.closed = True
        with pytest.raises(CampaignError, match="closed"):
            self.windows[1 - window].tell(self.item(0), "cat", by="Bob")

    @invariant()
    def both_windows_show_what_was_said(self) -> None:
        if not hasattr(self, "windows"):
            return
        first, second = (window.refresh() for window in self.windows)
        assert first == second == fold(self.windows[0].log.events())
        for name, entry in first.items.items():
            marks = self.said.get(name, {})
            assert {mark.by: ("label", str(mark.label)) for mark in entry.labels} | {
                mark.by: ("skip", mark.label.reason) for mark in entry.skips
            } == marks
            assert entry.standing == self.standing(name)
            assert {mark.by for mark in entry.flags} == {by for item, by in self.flags if item == name}
        progress = self.windows[1].progress()
        assert progress.leased == sum(
            any(until > self.now for until in holders.values()) for holders in self.leases.values()
        )
        assert progress.labelled + progress.skipped + progress.disputed + progress.open == len(first.items)
        assert Counter(event.key for event in self.windows[0].log.events()).most_common(1)[0][1] == 1
        assert first.closed == self.closed

    def teardown(self) -> None:
        for window in getattr(self, "windows", ()):
            window.disconnect()


def test_people_at_work(kind: str, new_place: Callable[[], str]) -> None:
    class Here(Campaigning):
        pass

    Here.new_place = staticmethod(new_place)  # type: ignore[method-assign]
    run_state_machine_as_test(
        Here,
        settings=settings(
            max_examples=15 if kind == "sqlite" else 4,
            stateful_step_count=30,
            deadline=None,
            derandomize=True,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        ),
    )
