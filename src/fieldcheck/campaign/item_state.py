"""The items of a campaign as its events leave them: what was said about each, where it stands, and all of them."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from fieldcheck.core import label
from fieldcheck.core.label import Label, Missing
from fieldcheck.core.types import Task

Standing = Literal["open", "labelled", "skipped", "disputed"]

T = TypeVar("T")

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
        numbers = [one.label.number for one in labels if isinstance(one.label, label.Value)]
        return "labelled", label.Value(float(statistics.median(numbers)))
    (first, count), *others = Counter(one.label for one in labels).most_common(2)
    if not others or others[0][1] < count:
        return "labelled", first
    last = max((*labels, *skips), key=lambda one: one.number)
    return ("skipped" if last in skips else "disputed"), None


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


class ItemsOnTheWay:
    """Items that are being changed; they live for one call of ``fold``."""

    def __init__(self, items: Items) -> None:
        self._places, self._size = items._places, items._size
        self._blocks: list[Block] = list(items._blocks)
        self._copies: dict[int, list[ItemState]] = {}
        self._counts: dict[int, list[int]] = {}  # of each copy, how many are not done, and how many are leased

    def __contains__(self, name: str) -> bool:
        return self._places.get(name, self._size) < self._size

    def __getitem__(self, name: str) -> ItemState:
        block, at = divmod(self._places[name], BLOCK)
        return self._copies[block][at] if block in self._copies else self._blocks[block].items[at]

    def change(self, item: ItemState) -> None:
        block, at = divmod(self._places[item.id], BLOCK)
        items = self._copy(block)
        self._count(block, items[at], -1)
        self._count(block, item, 1)
        items[at] = item

    def add(self, item: ItemState) -> None:
        if len(self._places) != self._size:  # another state has gone on from the same items
            self._places = {name: place for name, place in self._places.items() if place < self._size}
        self._places[item.id] = self._size
        block = self._size // BLOCK
        self._copy(block).append(item)
        self._count(block, item, 1)
        self._size += 1

    def _copy(self, block: int) -> list[ItemState]:
        if block not in self._copies:
            if block == len(self._blocks):
                self._blocks.append(Block((), 0, 0))
            before = self._blocks[block]
            self._copies[block], self._counts[block] = list(before.items), [before.open, before.leased]
        return self._copies[block]

    def _count(self, block: int, item: ItemState, by: int) -> None:
        counts = self._counts[block]
        if not item.done:
            counts[0] += by
        if item.leases:
            counts[1] += by

    def result(self) -> Items:
        for block, items in self._copies.items():
            self._blocks[block] = Block(tuple(items), *self._counts[block])
        return Items(self._places, tuple(self._blocks), self._size)
