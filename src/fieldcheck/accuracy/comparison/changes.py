"""What a new version does better and worse than the one before, on labels that neither was trained on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from fieldcheck.accuracy import estimators
from fieldcheck.accuracy.assessment import cutting
from fieldcheck.accuracy.assessment.cutting import Cut
from fieldcheck.accuracy.assessment.slices import FEWEST, WIDEST, item_sums
from fieldcheck.accuracy.estimators.base import ItemFit, ItemValues
from fieldcheck.core import words
from fieldcheck.core.errors import SampleError
from fieldcheck.core.exhibit import Table
from fieldcheck.core.label import Label
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.sample import Labelled
from fieldcheck.core.types import BoolArray, FloatArray, IntArray
from fieldcheck.numerics.intervals import wilson

DISAGREE = 0.04
"""Share of the items on which a version and the next one differ: of ordinary rounds of training."""

LISTED = 20
"""Items of a kind that are shown; JSON has all."""


@dataclass(frozen=True)
class PartChange:
    """The difference in a part of the pool.

    difference, low, high
        Of the mean losses, old less new; None where there are too few labels.
    """

    name: str
    items: int
    labels: int
    mended: int
    broken: int
    difference: float | None = None
    low: float | None = None
    high: float | None = None

    def cells(self) -> tuple[str | int, ...]:
        """Of a table."""
        shown = (f"{100 * one:+.1f}" for one in (self.difference, self.low, self.high) if one is not None)
        points = tuple(shown) or ("too few labels", "", "")
        return (self.name, self.items, self.labels, *points, self.mended, self.broken)


@dataclass(frozen=True)
class CutChange:
    """The difference in each part of the pool, by one column."""

    by: str
    parts: tuple[PartChange, ...]

    def table(self) -> Table:
        """The parts, in the order of the column's values."""
        columns = ("part", "items", "labels", "points better", "low", "high", "failures gone", "new failures")
        shown = sum(one.difference is not None for one in self.parts)
        note = f"{shown} intervals: the part that changed most looks as if it changed more than it did" * (shown > 1)
        rows = tuple(one.cells() for one in self.parts)
        return Table(f"change/by-{self.by}", f"What changed, by {self.by}", columns, rows, note=note)


@dataclass(frozen=True)
class ChangedItem:
    """A labelled item on which one version fails, and the other does not."""

    id: str
    truth: str
    before: str
    now: str


@dataclass(frozen=True)
class Change:
    """What a new version does better, and what worse, on labels that it was not trained on.

    difference
        Of the mean losses, old less new: above 0, the new version is better.
    low, high
        Bounds for it.
    mended, broken
        Labelled items on which only the old version fails, and only the new one.
    cuts
        The same for each part of the pool.
    """

    difference: float
    low: float
    high: float
    mended: tuple[ChangedItem, ...]
    broken: tuple[ChangedItem, ...]
    labels: int
    cuts: tuple[CutChange, ...] = ()

    def sentence(self) -> str:
        """What changed, in words."""
        better = "better" if self.low > 0 else "worse" if self.high < 0 else "not shown to be better or worse"
        bounds = f"{100 * self.low:+.1f} to {100 * self.high:+.1f}"
        return (
            f"Against the version before, on the same {words.counted(self.labels, 'label')}: {better} "
            f"({100 * self.difference:+.1f} points, {bounds}); {words.counted(len(self.mended), 'failure')} gone, "
            f"{len(self.broken):,} new."
        )

    def both(self) -> dict[str, tuple[ChangedItem, ...]]:
        """Failures that are gone, and new ones, by these words."""
        return {"gone": self.mended, "new": self.broken}

    def lists(self) -> list[Table]:
        """The same as tables, where there are any."""
        return [_listed(name, items) for name, items in self.both().items() if items]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def _listed(name: str, items: tuple[ChangedItem, ...]) -> Table:
    rows = tuple((one.id, one.truth, one.before, one.now) for one in items[:LISTED])
    rest = f"{len(items) - LISTED:,} more: see --json" if len(items) > LISTED else ""
    title = f"Failures that are {name}"
    return Table(f"change/{name}", title, ("item", "truth", "before", "now"), rows, note=rest)


def between(
    old: Labelled,
    new: Labelled,
    pools: tuple[Pool, Pool],
    labels: Mapping[str, Label],
    *,
    level: float,
    by: Sequence[str] = (),
) -> Change:
    """The difference of two versions on the same labels: the difference of what is expected of them, put right by what
    the labels say about both.

    pools
        What the versions said about the same items, old and new.
    labels
        By id.
    by
        Also for each part of the pool: by what the old version said (``prediction``), or any column of its pool.
    """
    before, after = estimators.estimate(old).items, estimators.estimate(new).items
    if before is None or after is None:
        raise SampleError("the chances of these labels are not known", rule="designs waves and srs")
    gone, fresh = old.failed & ~new.failed, new.failed & ~old.failed
    gain = _Gain.of(old, new, before, after)
    (value,), (half,) = gain.within(pools[0], cutting.uncut(pools[0]), level)
    cuts = tuple(_cut(pools[0], cutting.cut(pools[0], one), gain, gone, fresh, level=level) for one in by)

    def listed(which: BoolArray) -> tuple[ChangedItem, ...]:
        return _changed(new.sample.items[which], pools, labels)

    return Change(value, value - half, value + half, listed(gone), listed(fresh), len(new.losses), cuts)


def _changed(items: IntArray, pools: tuple[Pool, Pool], labels: Mapping[str, Label]) -> tuple[ChangedItem, ...]:
    names, (before, now) = pools[1].ids_of(items), (map(str, pool.predictions_at(items.tolist())) for pool in pools)
    return tuple(map(ChangedItem, names, (str(labels[name]) for name in names), before, now))


@dataclass(frozen=True, eq=False)
class _Gain:
    """By how much losses fall: as expected of every item, and what the labels say beyond it.

    items
        Labelled, one per draw.
    beyond
        One per draw: what was seen less what was expected, over its chance.
    variance
        One per draw: what it adds to the variance of a sum.
    """

    before: ItemFit
    after: ItemFit
    items: IntArray
    beyond: FloatArray
    variance: FloatArray

    @classmethod
    def of(cls, old: Labelled, new: Labelled, before: ItemFit, after: ItemFit) -> _Gain:
        chance = after.drawn.chance
        left = old.losses - new.losses - (before.drawn.expected - after.drawn.expected)
        variance = (1 - chance) / chance**2 * left**2 * max(before.optimism, after.optimism)
        return cls(before, after, new.sample.items, left / chance, variance)

    def within(self, pool: Pool, where: Cut, level: float) -> tuple[FloatArray, FloatArray]:
        """The mean gain in each part of the pool, and half of its interval."""
        group, many = where.codes(pool, self.items), len(where.names)
        (expected,) = item_sums(self.before, pool, where, _expected)
        left, heavy = item_sums(self.after, pool, where, _weighed)
        beyond, variance = (np.bincount(group, one, many) for one in (self.beyond, self.variance))
        # Labels that the two versions agree on look as if nothing could differ: one unseen difference is allowed for.
        error = np.sqrt(variance + (heavy / where.sizes) ** 2) / where.sizes
        counts = np.bincount(group, minlength=many).tolist()
        critical = np.array([wilson.critical(count, level) for count in counts])
        return (expected - left + beyond) / where.sizes, critical * error


def _expected(said: ItemValues) -> tuple[FloatArray]:
    return (said.expected,)


def _weighed(said: ItemValues) -> tuple[FloatArray, FloatArray]:
    """The expected loss, and what one label stands for."""
    return said.expected, 1 / said.chance


def _cut(pool: Pool, where: Cut, gain: _Gain, gone: BoolArray, fresh: BoolArray, *, level: float) -> CutChange:
    group, many = where.codes(pool, gain.items), len(where.names)
    everything = np.ones(len(group), dtype=bool)
    counts = (np.bincount(group[which], minlength=many).tolist() for which in (everything, gone, fresh))
    numbers = zip(where.names, where.sizes.tolist(), *counts, strict=True)
    values, halves = (one.tolist() for one in gain.within(pool, where, level))
    parts = zip(numbers, values, halves, strict=True)
    return CutChange(where.by, tuple(_part(*one, value=value, half=half) for one, value, half in parts))


def _part(name: str, *numbers: int, value: float, half: float) -> PartChange:
    """numbers: items, labels, failures gone, new ones."""
    enough = numbers[1] >= FEWEST and half <= WIDEST
    return PartChange(name, *numbers, *((value, value - half, value + half) if enough else ()))


def least_gain(labels: int) -> float:
    """About the smallest gain that so many labels show, if the versions disagree on a twenty-fifth of the items."""
    return 1.96 * math.sqrt(DISAGREE / max(labels, 1))
