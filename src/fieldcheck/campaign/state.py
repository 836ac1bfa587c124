"""What a campaign's events add up to. A pure function of them: whoever reads the same events knows the same."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

from fieldcheck.campaign.people import spelt
from fieldcheck.campaign.settings import Place, Settings
from fieldcheck.campaign.stores.base import Event, Happening
from fieldcheck.core.errors import CampaignError
from fieldcheck.core.types import Task

Standing = Literal["open", "labelled", "skipped", "disputed"]


Whose = TypeVar("Whose", "Mark", "Lease")


@dataclass(frozen=True)
class Mark:
    """What somebody said about an item.

    text
        The label as it counts (the name of the class, the number, or wrong), the reason of a skip, or the note of a
        flag.
    number
        Of the event.
    typed
        The label as it was given.
    """

    by: str
    text: str
    at: float
    number: int
    typed: str = ""


@dataclass(frozen=True)
class Lease:
    """Who has an item, and until when (seconds since 1970, UTC)."""

    by: str
    until: float


@dataclass(frozen=True)
class ItemState:
    """One item that was drawn.

    position
        In the pool.
    labels, skips, flags
        What stands now, one per person, in order of time; what was corrected or retracted is only in the events.
    leases
        Of those who are to label it, one per person, in order of time; some may have run out.
    verdict
        ``labelled`` or ``skipped`` when it is done; ``disputed``: as many people as wanted have spoken, but they do not
        agree, on the label or on whether there is one.
    label
        What counts, once it is labelled: the majority; of numbers, the median.
    """

    id: str
    position: int
    labels: tuple[Mark, ...] = ()
    skips: tuple[Mark, ...] = ()
    flags: tuple[Mark, ...] = ()
    leases: tuple[Lease, ...] = ()
    verdict: Standing = "open"
    label: str = ""

    @property
    def done(self) -> bool:
        return self.verdict in ("labelled", "skipped")

    def mark_of(self, by: str) -> Mark | None:
        """The label or skip of somebody."""
        return next((mark for mark in (*self.labels, *self.skips) if mark.by == by), None)

    def lease_of(self, by: str) -> Lease | None:
        """The lease of somebody, though it may have run out."""
        return next((lease for lease in self.leases if lease.by == by), None)

    def leased_at(self, now: float) -> tuple[Lease, ...]:
        """The leases that have not run out."""
        return tuple(lease for lease in self.leases if lease.until > now)


@dataclass(frozen=True)
class Draw:
    """What the design added at one go: the part of a ``Sample`` that is new.

    items
        One per new draw.
    draws
        How they were drawn, as a record; what is not of single draws is that of the whole sample so far.
    """

    items: tuple[int, ...]
    estimator: str
    draws: Mapping[str, Any]
    complete: bool
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class State:
    """A campaign after some events.

    number
        Of the last event.
    changed
        Of the last event that may change the estimate.
    items
        By id, all that were drawn, in the order to label them.
    seen
        By id, the losses that the design had seen at the last draw; infinite where there is no label to be had.
    names
        Of the people who did something, in order of time.
    pools
        Where the pool was moved to, in order of time.
    """

    settings: Settings
    number: int
    changed: int
    items: Mapping[str, ItemState]
    draws: tuple[Draw, ...] = ()
    seen: Mapping[str, float] = field(default_factory=dict)
    closed: bool = False
    names: tuple[str, ...] = ()
    pools: tuple[Place, ...] = ()

    def person(self, name: str) -> str:
        """Somebody's name as it was spelt first."""
        return spelt(name, self.names)

    @property
    def complete(self) -> bool:
        """Whether the design wants no further items."""
        return bool(self.draws) and self.draws[-1].complete


def fold(events: Iterable[Event], state: State | None = None) -> State:
    """The state after these events; with a state, they are those that came after it."""
    rest = iter(events)
    if state is None:
        first = next(rest, None)
        if first is None or first.kind != "created":
            raise CampaignError("there is no campaign here", rule="its first event is its creation")
        state = State(Settings.from_record(first.data), first.number, first.number, {})
    folding = _Folding(state)
    for event in rest:
        folding.take(event)
    return folding.result()


class _Folding:
    """A state that is being changed; it lives for one call of ``fold``."""

    def __init__(self, state: State) -> None:
        self.state, self.items, self.seen = state, dict(state.items), dict(state.seen)
        self.number, self.changed, self.closed = state.number, state.changed, state.closed
        self.draws, self.pools = list(state.draws), list(state.pools)
        self.names = dict.fromkeys(state.names)
        self.steps: dict[Happening, Callable[[Event], None]] = {
            "drawn": self.drawn,
            "leased": self.leased,
            "released": self.released,
            "labelled": self.labelled,
            "skipped": self.skipped,
            "flagged": self.flagged,
            "retracted": self.retracted,
            "moved": self.moved,
            "closed": self.close,
        }

    def take(self, event: Event) -> None:
        if event.number != self.number + 1 or event.kind not in self.steps:
            raise CampaignError(f"event {event.number}, '{event.kind}', cannot follow event {self.number}")
        self.number = event.number
        if event.by:
            self.names.setdefault(event.by)
        self.steps[event.kind](event)

    def result(self) -> State:
        return State(
            self.state.settings,
            self.number,
            self.changed,
            self.items,
            tuple(self.draws),
            self.seen,
            self.closed,
            tuple(self.names),
            tuple(self.pools),
        )

    def drawn(self, event: Event) -> None:
        new = zip(event.data["ids"], event.data["positions"], strict=True)
        self.items.update({name: ItemState(name, position) for name, position in new})
        self.seen.update({name: float("inf") if loss is None else loss for name, loss in event.data["seen"].items()})
        self.draws.append(draw_of(event.data["sample"]))
        self.changed = event.number

    def leased(self, event: Event) -> None:
        item = self._item(event)
        if not item.done:
            held = _others(item.leased_at(event.at), event.by)
            self._change(event, leases=(*held, Lease(event.by, event.data["until"])))

    def released(self, event: Event) -> None:
        self._change(event, leases=_others(self._item(event).leases, event.by))

    def labelled(self, event: Event) -> None:
        item = self._item(event)
        mark = Mark(event.by, event.data["label"], event.at, event.number, event.data["typed"])
        self._judge(event, labels=(*_others(item.labels, event.by), mark), skips=_others(item.skips, event.by))

    def skipped(self, event: Event) -> None:
        item = self._item(event)
        mark = Mark(event.by, event.data["reason"], event.at, event.number)
        self._judge(event, labels=_others(item.labels, event.by), skips=(*_others(item.skips, event.by), mark))

    def flagged(self, event: Event) -> None:
        mark = Mark(event.by, event.data["note"], event.at, event.number)
        self._change(event, flags=(*_others(self._item(event).flags, event.by), mark))

    def retracted(self, event: Event) -> None:
        """The item is theirs again, to be labelled anew; unless it is done without them."""
        item = self._item(event)
        self._judge(event, labels=_others(item.labels, event.by), skips=_others(item.skips, event.by))
        self.leased(event)

    def moved(self, event: Event) -> None:
        self.pools.append(Place(event.data["pool_file"], event.data["pool_beside"]))

    def close(self, event: Event) -> None:
        self.closed = True

    def _item(self, event: Event) -> ItemState:
        if event.item not in self.items:
            raise CampaignError(f"event {event.number} is about '{event.item}', which was never drawn")
        return self.items[event.item]

    def _change(self, event: Event, **changes: Any) -> None:
        self.items[event.item] = replace(self._item(event), **changes)

    def _judge(self, event: Event, *, labels: tuple[Mark, ...], skips: tuple[Mark, ...]) -> None:
        settings, item = self.state.settings, self._item(event)
        verdict, label = judged(
            labels, skips, needed=settings.labels_per_item, task=settings.task, skips_count=settings.skips_count
        )
        leases = () if verdict in ("labelled", "skipped") else _others(item.leases, event.by)
        self._change(event, labels=labels, skips=skips, verdict=verdict, label=label, leases=leases)
        self.changed = event.number


def judged(
    labels: tuple[Mark, ...], skips: tuple[Mark, ...], *, needed: int, task: Task, skips_count: bool = False
) -> tuple[Standing, str]:
    """Where an item stands, and the label that counts.

    It is done when as many people as wanted gave a label, whoever else skipped it, or as many skipped it. Where some
    do the one and some the other it waits for one more person. So does a tie; a skip after it makes it a skip.

    skips_count
        As campaigns of format 1 have it: it is done when as many people as wanted have said something.
    """
    if len(labels) + len(skips) < needed:
        return "open", ""
    if not labels or (len(labels) < needed <= len(skips) and not skips_count):
        return "skipped", ""
    if len(labels) < needed and not skips_count:
        return "disputed", ""
    if task == "regression":
        return "labelled", repr(float(statistics.median(float(mark.text) for mark in labels)))
    (first, count), *others = Counter(mark.text for mark in labels).most_common(2)
    if not others or others[0][1] < count:
        return "labelled", first
    last = max((*labels, *skips), key=lambda mark: mark.number)
    return ("skipped", "") if last in skips else ("disputed", "")


def draw_of(record: Mapping[str, Any]) -> Draw:
    """What an event says about the new draws."""
    return Draw(
        items=tuple(record["items"]),
        estimator=record["estimator"],
        draws=record["draws"],
        complete=record["complete"],
        warnings=tuple(record["warnings"]),
    )


def _others(theirs: tuple[Whose, ...], by: str) -> tuple[Whose, ...]:
    """What is of others than somebody."""
    return tuple(one for one in theirs if one.by != by)
