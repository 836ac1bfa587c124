"""How far a campaign is, in numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from fieldcheck.campaign.state import ItemState, State
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.label import Label, Missing


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
