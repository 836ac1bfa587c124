"""What a campaign's events add up to. A pure function of them: all who read the same events know the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from fieldcheck.campaign.item_state import Annotation, ItemFlag, Items, ItemsOnTheWay, ItemState, Lease, settled
from fieldcheck.campaign.people import spelt
from fieldcheck.campaign.settings import Place, Settings
from fieldcheck.campaign.stores.base import Event, EventKind
from fieldcheck.core.errors import CampaignError
from fieldcheck.core.label import Label, Missing, from_record

Whose = TypeVar("Whose", Annotation, ItemFlag, Lease)


@dataclass(frozen=True)
class Draw:
    """What the design added at one go: the part of a ``Sample`` that is new.

    items
        One per new draw.
    draws
        How they were drawn, as a record; what is not of single draws is that of the whole sample so far.
    train
        One per new draw: whether its label is to train with; None where all are kept.
    """

    items: tuple[int, ...]
    estimator: str
    draws: Mapping[str, Any]
    complete: bool
    warnings: tuple[str, ...]
    train: tuple[bool, ...] | None = None


@dataclass(frozen=True)
class State:
    """A campaign after some events.

    number
        Of the last event.
    changed
        Of the last event that may change the estimate.
    seen
        By id, the labels that the design had seen at the last draw.
    names
        Of the people who did something, in order of time.
    closed
        Number of the event that closed it; 0 while it is open.
    pools
        Where the pool was moved to, in order of time.
    declared
        Classes that were declared since the start.
    invited
        By name, the fingerprint of the token in a person's link; empty where it was revoked.
    shown
        Whether people who label were shown what the model said.
    exported
        Ids of the items that were given away to train with.
    """

    settings: Settings
    number: int
    changed: int
    items: Items
    draws: tuple[Draw, ...] = ()
    seen: Mapping[str, Label] = field(default_factory=dict)
    closed: int = 0
    names: tuple[str, ...] = ()
    pools: tuple[Place, ...] = ()
    declared: tuple[str, ...] = ()
    invited: Mapping[str, str] = field(default_factory=dict)
    shown: bool = False
    exported: tuple[str, ...] = ()

    @property
    def classes(self) -> tuple[str, ...]:
        """All that a label may name."""
        return tuple(dict.fromkeys((*self.settings.classes, *self.declared)))

    def person(self, name: str) -> str:
        """A name as it was spelt first."""
        return spelt(name, self.names)

    def to_train(self) -> tuple[ItemState, ...]:
        """The items that were drawn to train the next version with."""
        drawn = ((draw.items, draw.train) for draw in self.draws if draw.train)
        chosen = {item for items, roles in drawn for item, train in zip(items, roles, strict=True) if train}
        return tuple(item for item in self.items.values() if item.position in chosen) if chosen else ()

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
        state = State(Settings.from_record(first.data), first.number, first.number, Items())
    folding = _Folding(state)
    for event in rest:
        folding.take(event)
    return folding.result()


class _Folding:
    """A state that is being changed; it lives for one call of ``fold``."""

    def __init__(self, state: State) -> None:
        self.settings, self.items, self.seen = state.settings, ItemsOnTheWay(state.items), state.seen
        self.number, self.changed, self.closed = state.number, state.changed, state.closed
        self.draws, self.pools, self.names = state.draws, state.pools, dict.fromkeys(state.names)
        self.declared = state.declared
        self.invited, self.predictions_shown, self.exported = state.invited, state.shown, state.exported
        self.steps: dict[EventKind, Callable[[Event], None]] = {
            "drawn": self.drawn,
            "leased": self.leased,
            "released": self.released,
            "labelled": self.labelled,
            "skipped": self.skipped,
            "flagged": self.flagged,
            "retracted": self.retracted,
            "settled": self.settled,
            "declared": self.declare,
            "moved": self.moved,
            "invited": self.invite,
            "shown": self.show,
            "extended": self.extended,
            "exported": self.export,
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
            self.settings,
            self.number,
            self.changed,
            self.items.result(),
            self.draws,
            self.seen,
            self.closed,
            tuple(self.names),
            self.pools,
            self.declared,
            self.invited,
            self.predictions_shown,
            self.exported,
        )

    def drawn(self, event: Event) -> None:
        for name, position in zip(event.data["ids"], event.data["positions"], strict=True):
            self.items.add(ItemState(name, position))
        new = {name: from_record(label) for name, label in event.data["seen"].items()}
        self.seen = {**self.seen, **new}
        self.draws = (*self.draws, draw_of(event.data["sample"]))
        self.changed = event.number

    def leased(self, event: Event) -> None:
        item = self._item(event)
        if not item.done and item.annotation_of(event.by) is None:
            held = _others(item.leased_at(event.at), event.by)
            self.items.change(replace(item, leases=(*held, Lease(event.by, event.data["until"]))))

    def released(self, event: Event) -> None:
        item = self._item(event)
        self.items.change(replace(item, leases=_others(item.leases, event.by)))

    def labelled(self, event: Event) -> None:
        item = self._item(event)
        self._settle(event, item, (*_others(item.labels, event.by), _said(event, item)), _others(item.skips, event.by))

    def skipped(self, event: Event) -> None:
        item = self._item(event)
        new = Annotation(item.id, Missing(event.data["reason"]), event.by, at=event.at, number=event.number)
        self._settle(event, item, _others(item.labels, event.by), (*_others(item.skips, event.by), new))

    def flagged(self, event: Event) -> None:
        item = self._item(event)
        flag = ItemFlag(event.by, event.data["note"])
        self.items.change(replace(item, flags=(*_others(item.flags, event.by), flag)))

    def retracted(self, event: Event) -> None:
        """The item is theirs again, to be labelled anew; unless it is done without them."""
        item = self._item(event)
        self._settle(event, item, _others(item.labels, event.by), _others(item.skips, event.by))
        self.leased(event)

    def settled(self, event: Event) -> None:
        """What the lead says counts; whoever flagged the item has been heard."""
        item = self._item(event)
        self._settle(event, replace(item, flags=(), final=_said(event, item)), item.labels, item.skips)

    def declare(self, event: Event) -> None:
        self.declared = tuple(dict.fromkeys((*self.declared, *event.data["classes"])))

    def moved(self, event: Event) -> None:
        self.pools = (*self.pools, Place(event.data["pool_file"], event.data["pool_beside"]))

    def invite(self, event: Event) -> None:
        self.names.setdefault(event.data["person"])
        self.invited = {**self.invited, event.data["person"]: event.data["digest"]}

    def show(self, event: Event) -> None:
        self.predictions_shown = True

    def extended(self, event: Event) -> None:
        """The design goes on, where it had thought that it was done; a first budget may be what is drawn already."""
        narrowed = event.data.get("narrowed")
        before = self.settings if narrowed is None else self.settings.narrowed(narrowed)
        self.settings = before.extended(event.data["budget"])
        spent = sum(len(draw.items) for draw in self.draws) >= self.settings.most
        self.draws = (*self.draws[:-1], replace(self.draws[-1], complete=spent))
        self.changed = event.number

    def export(self, event: Event) -> None:
        self.exported = tuple(dict.fromkeys((*self.exported, *event.data["ids"])))

    def close(self, event: Event) -> None:
        self.closed = event.number

    def _item(self, event: Event) -> ItemState:
        if event.item not in self.items:
            raise CampaignError(f"event {event.number} is about '{event.item}', which was never drawn")
        return self.items[event.item]

    def _settle(
        self, event: Event, item: ItemState, labels: tuple[Annotation, ...], skips: tuple[Annotation, ...]
    ) -> None:
        settings = self.settings
        standing, label = (
            settled(labels, skips, settings.labels_per_item, settings.task)
            if item.final is None
            else ("skipped", None)
            if item.final.skipped
            else ("labelled", item.final.label)
        )
        leases = () if standing in ("labelled", "skipped") else _others(item.leases, event.by)
        self.items.change(replace(item, labels=labels, skips=skips, leases=leases, standing=standing, label=label))
        self.changed = event.number


def _said(event: Event, item: ItemState) -> Annotation:
    """The label that an event gives an item; most are typed as the class is spelt, and that is kept once."""
    label, typed = from_record(event.data["label"]), event.data["typed"]
    words = str(label)
    return Annotation(item.id, label, event.by, words if words == typed else typed, event.at, event.number)


def draw_of(record: Mapping[str, Any]) -> Draw:
    """What an event says about the new draws."""
    return Draw(
        items=tuple(record["items"]),
        estimator=record["estimator"],
        draws=record["draws"],
        complete=record["complete"],
        warnings=tuple(record["warnings"]),
        train=None if record["train"] is None else tuple(record["train"]),
    )


def _others(theirs: tuple[Whose, ...], by: str) -> tuple[Whose, ...]:
    """What is of others than one person."""
    return tuple(one for one in theirs if one.by != by) if theirs else theirs
