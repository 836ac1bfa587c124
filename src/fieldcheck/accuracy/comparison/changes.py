"""What a new version does better and worse than the one before, on labels that neither was trained on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from fieldcheck.accuracy import estimators
from fieldcheck.accuracy.assessment import slices
from fieldcheck.core import words
from fieldcheck.core.errors import SampleError
from fieldcheck.core.exhibit import Table
from fieldcheck.core.label import Label
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.sample import ItemFit, Labelled
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
    whole = _Gain.of(old, new, before, after)
    value, half = whole.within(np.ones(new.sample.population, dtype=bool), level)
    cuts = tuple(_cut(slices.cut(pools[0], one), whole, gone, fresh, new.sample.items, level) for one in by)

    def listed(which: BoolArray) -> tuple[ChangedItem, ...]:
        return tuple(_item(int(at), pools, labels) for at in new.sample.items[which])

    return Change(value, value - half, value + half, listed(gone), listed(fresh), len(new.losses), cuts)


def _item(at: int, pools: tuple[Pool, Pool], labels: Mapping[str, Label]) -> ChangedItem:
    before, now = (str(pool.prediction_at(at)) for pool in pools)
    name = pools[1].id_of(at)
    return ChangedItem(name, str(labels[name]), before, now)


@dataclass(frozen=True, eq=False)
class _Gain:
    """By how much losses fall: as expected of every item, and what the labels say beyond it.

    beyond
        One per item: what was seen less what was expected, over its chance; 0 where there is no label.
    variance
        One per item: what it adds to the variance of a sum.
    heavy
        One per item: what one label stands for there.
    """

    expected: FloatArray
    beyond: FloatArray
    variance: FloatArray
    heavy: FloatArray
    labelled: BoolArray

    @classmethod
    def of(cls, old: Labelled, new: Labelled, before: ItemFit, after: ItemFit) -> _Gain:
        items, expected = new.sample.items, before.expected - after.expected
        left, chance = old.losses - new.losses - expected[items], after.chance[items]
        beyond, variance, labelled = np.zeros(len(expected)), np.zeros(len(expected)), np.zeros(len(expected), bool)
        beyond[items], labelled[items] = left / chance, True
        variance[items] = (1 - chance) / chance**2 * left**2 * max(before.optimism, after.optimism)
        return cls(expected, beyond, variance, 1 / after.chance, labelled)

    def within(self, part: BoolArray, level: float) -> tuple[float, float]:
        """The mean gain of a part of the pool, and half of its interval."""
        size, count = int(part.sum()), int(self.labelled[part].sum())
        value = float((self.expected + self.beyond)[part].sum()) / size
        # Labels that the two versions agree on look as if nothing could differ: one unseen difference is allowed for.
        unseen = float(self.heavy[part].mean()) / size
        error = math.sqrt(float(self.variance[part].sum()) / size**2 + unseen**2)
        return value, wilson.critical(count, level) * error


def _cut(
    where: slices.Cut, whole: _Gain, gone: BoolArray, fresh: BoolArray, items: IntArray, level: float
) -> CutChange:
    found = []
    for code, (name, size) in enumerate(zip(where.names, where.sizes.tolist(), strict=True)):
        inside = where.codes[items] == code
        numbers = (size, int(inside.sum()), int((gone & inside).sum()), int((fresh & inside).sum()))
        value, half = whole.within(where.codes == code, level) if numbers[1] >= slices.FEWEST else (0.0, math.inf)
        bounds = (value, value - half, value + half) if half <= slices.WIDEST else ()
        found.append(PartChange(name, *numbers, *bounds))
    return CutChange(where.by, tuple(found))


def least_gain(labels: int) -> float:
    """About the smallest gain that so many labels show, if the versions disagree on a twenty-fifth of the items."""
    return 1.96 * math.sqrt(DISAGREE / max(labels, 1))
