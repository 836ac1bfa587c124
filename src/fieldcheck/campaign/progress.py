"""How far a campaign is, in numbers."""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fieldcheck.campaign.item_state import Annotation, ItemState
from fieldcheck.campaign.state import State
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.label import Label, Missing

SITTING = 600.0
"""Seconds after which a person was away, not slow."""


@dataclass(frozen=True)
class Progress:
    """How far a campaign is. Counts are of items.

    drawn
        Asked for so far: labelled, skipped, disputed or open.
    begun
        Of the open ones, those about which somebody has said something, and not as many people as wanted.
    leased
        In somebody's hands at this moment.
    budget
        Labels at most; None: until somebody stops.
    failures
        Labelled items on which the model is wrong.
    complete
        Whether nothing is left to label.
    annotators
        By name, items that they have labelled.
    agreement
        Share of the items with several labels on which all agree; nan where there are none.
    """

    drawn: int
    labelled: int
    skipped: int
    disputed: int
    open: int
    begun: int
    leased: int
    flagged: int
    budget: int | None
    failures: int
    complete: bool
    closed: bool
    annotators: Mapping[str, int]
    agreement: float


@dataclass(frozen=True)
class Left:
    """What is left to label: asked for by all who wait, so it is no more than they need."""

    items: int
    disputed: int
    leased: int
    complete: bool
    closed: bool


@dataclass(frozen=True)
class Failure:
    """An item on which the model is wrong.

    position
        In the pool.
    by, at
        Who said so first, and when.
    """

    item: str
    position: int
    label: Label
    prediction: str | float | None
    by: str
    at: float


@dataclass(frozen=True)
class Nonresponse:
    """Items that were asked for and have no label that counts, and what they may do to the estimate.

    count, disputed
        How many there are: those that nobody could label, and those on which people disagree; how many the latter are.
    reasons
        By reason, how often it was given.
    estimate
        If they are like the labelled ones; None for techniques that cannot do without a label.
    if_right, if_wrong
        If the model is right on all of them, or wrong on all. Regression: if its error is 0; there is no worst error.
    """

    count: int
    disputed: int
    reasons: Mapping[str, int]
    estimate: Estimate | None
    if_right: Estimate
    if_wrong: Estimate | None


@dataclass(frozen=True)
class Annotator:
    """What one person did.

    seconds
        Between two of their answers, usually; nan where there are none in one sitting.
    agreement
        Share of their labels that are what counts, of items that others labelled, too; nan where there are none.
    open
        Items that they have at hand.
    """

    name: str
    labels: int
    skips: int
    seconds: float
    agreement: float
    open: int


def annotators_of(state: State, *, now: float) -> list[Annotator]:
    """Everyone who labelled, or has an item, or a link; who labelled most first."""
    said = defaultdict[str, list[Annotation]](list)
    counted = defaultdict[str, list[bool]](list)
    for item in state.items.values():
        shared = len(item.labels) + bool(item.final) > 1
        for one in item.labels:
            said[one.by].append(one)
            if shared:
                counted[one.by].append(one.label == item.label)
        for one in item.skips:
            said[one.by].append(one)
    held = Counter(lease.by for item in state.items.leased() for lease in item.leased_at(now))
    found = [_annotator(name, said[name], counted[name], held[name]) for name in {*said, *held, *state.invited}]
    return sorted(found, key=lambda one: (-one.labels, one.name))


def _annotator(name: str, said: Sequence[Annotation], right: Sequence[bool], held: int) -> Annotator:
    skips = sum(one.skipped for one in said)
    return Annotator(
        name,
        labels=len(said) - skips,
        skips=skips,
        seconds=_pace([one.at for one in said]),
        agreement=sum(right) / len(right) if right else math.nan,
        open=held,
    )


def _pace(moments: Sequence[float]) -> float:
    """The median of the times between answers that belong to one sitting."""
    pauses = [after - before for before, after in pairwise(sorted(moments)) if after - before < SITTING]
    return statistics.median(pauses) if pauses else math.nan


@dataclass(frozen=True)
class Tally:
    """What there is to count of some items.

    several, agreed
        Items with several labels, and those of them on which all agree.
    """

    standing: Counter[str]
    begun: int
    flagged: int
    annotators: Counter[str]
    several: int
    agreed: int

    @classmethod
    def of(cls, items: Sequence[ItemState]) -> Tally:
        several = [len({one.label for one in item.labels}) == 1 for item in items if len(item.labels) > 1]
        return cls(
            standing=Counter(item.standing for item in items),
            begun=sum(item.standing == "open" and bool(item.labels or item.skips) for item in items),
            flagged=sum(bool(item.flags) for item in items),
            annotators=Counter(one.by for item in items for one in item.labels),
            several=len(several),
            agreed=sum(several),
        )


def progress_of(
    state: State, tallies: Sequence[Tally], *, failures: int, enough: Callable[[], bool], now: float
) -> Progress:
    """Progress at a moment.

    tallies
        Of all items, some at a time.
    enough
        Whether the question wants no further items; asked only where all are done.
    """
    standing, annotators = Counter[str](), Counter[str]()
    for tally in tallies:
        standing.update(tally.standing)
        annotators.update(tally.annotators)
    several = sum(tally.several for tally in tallies)
    left = standing["open"] + standing["disputed"]
    return Progress(
        drawn=len(state.items),
        labelled=standing["labelled"],
        skipped=standing["skipped"],
        disputed=standing["disputed"],
        open=standing["open"],
        begun=sum(tally.begun for tally in tallies),
        leased=sum(bool(item.leased_at(now)) for item in state.items.leased()),
        flagged=sum(tally.flagged for tally in tallies),
        budget=state.settings.budget,
        failures=failures,
        complete=not left and (state.complete or enough()),
        closed=bool(state.closed),
        annotators=dict(annotators),
        agreement=sum(tally.agreed for tally in tallies) / several if several else math.nan,
    )


def left_of(state: State, *, enough: Callable[[], bool], now: float) -> Left:
    """What is left at a moment; it takes no longer than there are items that are not done."""
    items = list(state.items.open())
    return Left(
        items=len(items),
        disputed=sum(item.standing == "disputed" for item in items),
        leased=sum(bool(item.leased_at(now)) for item in items),
        complete=not items and (state.complete or enough()),
        closed=bool(state.closed),
    )


def reasons_of(items: Iterable[ItemState]) -> dict[str, int]:
    """By reason, how often it was given for an item that is skipped; the most frequent first."""
    skips = (one.label for item in items if item.standing == "skipped" for one in item.skips)
    return dict(Counter(label.reason for label in skips if isinstance(label, Missing)).most_common())
