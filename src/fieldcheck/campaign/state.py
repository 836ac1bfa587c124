"""What a campaign's events add up to. A pure function of them: all who read the same events know the same."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeVar

from fieldcheck.campaign.people import spelt
from fieldcheck.campaign.settings import Place, Settings
from fieldcheck.campaign.stores.base import Event, EventKind
from fieldcheck.core.errors import CampaignError
from fieldcheck.core.label import Label, Missing, Value, from_record
from fieldcheck.core.types import Task

Standing = Literal["open", "labelled", "skipped", "disputed"]


T = TypeVar("T")


Whose = TypeVar("Whose", "Annotation", "ItemFlag", "Lease")


BLOCK = 128
"""Items that are copied when one of them changes. Of 32 to 512, the cheapest for 100,000 items (8 µs a label)."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """What an annotator says about an item: a label, or that there is none.

    typed
        The label as it was written.
    at, number
        When it was stored, and the number of the event; 0 before that.
    """

    item: str
    label: Label
    by: str = ""
    typed: str = ""
    at: float = 0.0
    number: int = 0

    @property
    def skipped(self) -> bool:
        return isinstance(self.label, Missing)

    @property
    def given(self) -> str | None:
        """The answer as people gave it; None: it was skipped."""
        return None if self.skipped else str(self.label)


@dataclass(frozen=True, slots=True)
class ItemFlag:
    """That an item should be looked at again, and why."""

    by: str
    note: str


@dataclass(frozen=True, slots=True)
class Lease:
    """Who has an item, and until when (seconds since 1970, UTC)."""

    by: str
    until: float


@dataclass(frozen=True, slots=True)
class ItemState:
    """One item that was drawn.

    position
        In the pool.
    labels, skips, flags
        What stands now, one per person, in order of time; what was corrected or retracted is only in the events.
    leases
        Of those who are to label it, one per person, in order of time; some may have run out.
    standing
        ``labelled`` or ``skipped`` when it is done; ``disputed``: as many people as wanted have spoken, but they do not
        agree, on the label or on whether there is one.
    label
        What counts, once it is labelled: the lead's word, or the majority; of numbers, the median.
    final
        The lead's word, which settles the item whatever others say.
    """

    id: str
    position: int
    labels: tuple[Annotation, ...] = ()
    skips: tuple[Annotation, ...] = ()
    flags: tuple[ItemFlag, ...] = ()
    leases: tuple[Lease, ...] = ()
    standing: Standing = "open"
    label: Label | None = None
    final: Annotation | None = None

    @property
    def done(self) -> bool:
        return self.standing in ("labelled", "skipped")

    def annotation_of(self, by: str) -> Annotation | None:
        """The label or skip of an annotator."""
        return next((one for one in (*self.labels, *self.skips) if one.by == by), None)

    def lease_of(self, by: str) -> Lease | None:
        """The lease of one person, though it may have run out."""
        return next((lease for lease in self.leases if lease.by == by), None)

    def leased_at(self, now: float) -> tuple[Lease, ...]:
        """The leases that have not run out."""
        return tuple(lease for lease in self.leases if lease.until > now)


@dataclass(frozen=True, slots=True)
class Block:
    """Some consecutive items, how many of them are not done, and how many are leased."""

    items: tuple[ItemState, ...]
    open: int
    leased: int


def _block(items: Sequence[ItemState]) -> Block:
    return Block(tuple(items), sum(not item.done for item in items), sum(bool(item.leases) for item in items))


class Items(Mapping[str, ItemState]):
    """By id, all items that were drawn, in the order to label them.

    It never changes: what comes after it shares all blocks with it but those in which an item changed, so that the
    cost of a change does not grow with the campaign.
    """

    def __init__(self, places: dict[str, int] | None = None, blocks: tuple[Block, ...] = (), size: int = 0) -> None:
        # Shared with what comes after, which may have added items: those have places from ``size`` on.
        self._places, self._blocks, self._size = places or {}, blocks, size

    @classmethod
    def of(cls, items: Sequence[ItemState]) -> Items:
        """These items, in this order."""
        blocks = tuple(_block(items[start : start + BLOCK]) for start in range(0, len(items), BLOCK))
        return cls({item.id: place for place, item in enumerate(items)}, blocks, len(items))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[str]:
        return (item.id for item in self._all())

    def _all(self) -> Iterator[ItemState]:
        return (item for block in self._blocks for item in block.items)

    def __getitem__(self, name: str) -> ItemState:
        place = self._places[name]
        if place >= self._size:
            raise KeyError(name)
        return self._blocks[place // BLOCK].items[place % BLOCK]

    def open(self) -> Iterator[ItemState]:
        """Those that are not done."""
        return (item for block in self._blocks if block.open for item in block.items if not item.done)

    def leased(self) -> Iterator[ItemState]:
        """Those with a lease, though it may have run out."""
        return (item for block in self._blocks if block.leased for item in block.items if item.leases)

    def blocks(self) -> tuple[Block, ...]:
        """All of them, some at a time; a block in which nothing changed is the same object as before."""
        return self._blocks


class PerBlock(Generic[T]):
    """Something that is found out about some items at a time: again only where one of them changed."""

    def __init__(self, make: Callable[[Sequence[ItemState]], T]) -> None:
        self._make = make
        self._known: dict[int, tuple[Block, T]] = {}

    def of(self, items: Items) -> list[T]:
        """What was found, one per block."""
        return [self._at(place, block) for place, block in enumerate(items.blocks())]

    def _at(self, place: int, block: Block) -> T:
        known = self._known.get(place)
        if known is None or known[0] is not block:
            known = self._known[place] = (block, self._make(block.items))
        return known[1]


class _ItemsOnTheWay:
    """Items that are being changed; they live for one call of ``fold``."""

    def __init__(self, items: Items) -> None:
        self._places, self._size = items._places, items._size
        self._blocks: list[Block] = list(items._blocks)
        self._copies: dict[int, list[ItemState]] = {}

    def __contains__(self, name: str) -> bool:
        return self._places.get(name, self._size) < self._size

    def __getitem__(self, name: str) -> ItemState:
        block, at = divmod(self._places[name], BLOCK)
        return self._copies[block][at] if block in self._copies else self._blocks[block].items[at]

    def change(self, item: ItemState) -> None:
        block, at = divmod(self._places[item.id], BLOCK)
        self._copy(block)[at] = item

    def add(self, item: ItemState) -> None:
        if len(self._places) != self._size:  # another state has gone on from the same items
            self._places = {name: place for name, place in self._places.items() if place < self._size}
        self._places[item.id] = self._size
        self._copy(self._size // BLOCK).append(item)
        self._size += 1

    def _copy(self, block: int) -> list[ItemState]:
        if block not in self._copies:
            self._copies[block] = list(self._blocks[block].items) if block < len(self._blocks) else []
        return self._copies[block]

    def result(self) -> Items:
        for block, items in sorted(self._copies.items()):
            self._blocks[block : block + 1] = [_block(items)]
        return Items(self._places, tuple(self._blocks), self._size)


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
        self.settings, self.items, self.seen = state.settings, _ItemsOnTheWay(state.items), state.seen
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
        label, typed = from_record(event.data["label"]), event.data["typed"]
        new = Annotation(item.id, label, event.by, typed, event.at, event.number)
        self._settle(event, item, (*_others(item.labels, event.by), new), _others(item.skips, event.by))

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
        label, typed = from_record(event.data["label"]), event.data["typed"]
        final = Annotation(item.id, label, event.by, typed, event.at, event.number)
        self._settle(event, replace(item, flags=(), final=final), item.labels, item.skips)

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
        """The design goes on, where it had thought that it was done."""
        self.settings = self.settings.extended(event.data["budget"])
        self.draws = (*self.draws[:-1], replace(self.draws[-1], complete=False))
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


def settled(
    labels: tuple[Annotation, ...], skips: tuple[Annotation, ...], needed: int, task: Task
) -> tuple[Standing, Label | None]:
    """Where an item stands, and the label that counts.

    It is done when as many people as wanted gave a label, even where others skipped it, or as many skipped it. Where
    some do the one and some the other it waits for one more person. So does a tie; a skip after it makes it a skip.
    """
    if len(labels) + len(skips) < needed:
        return "open", None
    if not labels or len(labels) < needed <= len(skips):
        return "skipped", None
    if len(labels) < needed:
        return "disputed", None
    if task == "regression":
        numbers = [one.label.number for one in labels if isinstance(one.label, Value)]
        return "labelled", Value(float(statistics.median(numbers)))
    (first, count), *others = Counter(one.label for one in labels).most_common(2)
    if not others or others[0][1] < count:
        return "labelled", first
    last = max((*labels, *skips), key=lambda one: one.number)
    return ("skipped" if last in skips else "disputed"), None


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
