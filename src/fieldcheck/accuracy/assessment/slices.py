"""The accuracy of parts of the pool: by predicted class, or by any column."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fieldcheck.accuracy import estimators
from fieldcheck.accuracy.assessment import cutting
from fieldcheck.accuracy.assessment.cutting import Cut, CutRule
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.estimators.base import ItemFit, ItemRule, ItemValues
from fieldcheck.core import measures, words
from fieldcheck.core.draws import EqualDraws
from fieldcheck.core.errors import SampleError
from fieldcheck.core.exhibit import IntervalChart, IntervalRow, Table
from fieldcheck.core.interval import Interval
from fieldcheck.core.measures.base import SCALES
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.sample import Labelled, Sample
from fieldcheck.core.types import FloatArray, IntArray, Loss
from fieldcheck.numerics import exact
from fieldcheck.numerics.intervals import wilson

FEWEST = 10
"""Labels of a slice under which nothing is shown."""


WIDEST = 0.15
"""Half-width of an interval for an accuracy over which nothing is shown."""


WIDEST_RELATIVE = 0.5
"""The same for errors, in units of the estimate."""


DRAWN = 30
"""Slices up to which a chart also names those with too few labels; the table does it always."""


COEFFICIENTS = 2
"""Degrees of freedom that an estimate within a slice costs."""


@dataclass(frozen=True)
class Slice:
    """One part of the pool.

    items, labels, failures
        How many there are in it.
    value, interval
        The metric there; None where the labels do not suffice.
    more
        About how many more labels of this slice would do; 0 where it is shown.
    """

    name: str
    items: int
    labels: int
    failures: int
    value: float | None = None
    interval: Interval | None = None
    more: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        shown = self.interval
        return {
            "slice": self.name,
            "items": self.items,
            "labels": self.labels,
            "failures": self.failures,
            "value": self.value,
            "low": None if shown is None else shown.low,
            "high": None if shown is None else shown.high,
            "more_labels_needed": self.more,
        }


@dataclass(frozen=True)
class Slices:
    """All parts of the pool by one column, in the order of its values."""

    by: str
    metric: str
    level: float
    rows: tuple[Slice, ...]
    note: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the numbers mean, and what would make them wrong."""
        shown = [row for row in self.rows if row.interval is not None]
        words = [self.note] if self.note else []
        words.append(f"{self.metric} of the items of this pool in each slice; nothing is said about future data")
        words += sorted({row.interval.note for row in shown if row.interval and row.interval.note})
        if len(shown) > 1:
            words.append(
                f"{len(shown)} intervals at {self.level:.0%}: about {len(shown) * (1 - self.level):.1f} of them are "
                "expected to miss, and the slice that looks worst looks worse than it is"
            )
        if hidden := len(self.rows) - len(shown):
            words.append(
                f"{hidden} of {len(self.rows)} slices have too few labels: under {FEWEST}, or an interval wider than "
                + (f"±{WIDEST:g}" if self.metric == "accuracy" else f"±{WIDEST_RELATIVE:.0%} of the estimate")
            )
        return tuple(words)

    def table(self) -> Table:
        """The slices as a table."""
        unit = ", %" if SCALES[self.metric].share else ""
        columns = ("slice", "items", "labels", "failures", f"{self.metric}{unit}", "low", "high", "remark")
        return Table(
            f"slices/{self.by}",
            f"{self.metric.capitalize()} by {self.by}, {100 * self.level:g} % intervals",
            columns,
            tuple(_table_row(row, 100.0 if unit else 1.0) for row in self.rows),
            note="; ".join(self.notes),
            grey=frozenset(at for at, row in enumerate(self.rows) if row.interval is None),
        )

    def chart(self) -> IntervalChart:
        """The slices as a chart; those with too few labels are named in grey, unless there are too many of them."""
        rows = tuple(
            IntervalRow(row.name, trusted=False, remark=f"{words.counted(row.labels, 'label')}: too few to tell")
            if row.interval is None or row.value is None
            else IntervalRow(row.name, row.value, row.interval.low, row.interval.high)
            for row in self.rows
        )
        shown = tuple(row for row in rows if row.trusted)
        rows = rows if shown and len(rows) <= DRAWN else shown
        title = f"{self.metric.capitalize()} by {self.by}"
        return IntervalChart(f"slices/{self.by}-chart", title, self.metric, rows, share=SCALES[self.metric].share)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "by": self.by,
            "metric": self.metric,
            "level": self.level,
            "rows": [row.to_dict() for row in self.rows],
            "notes": list(self.notes),
        }


def _table_row(row: Slice, unit: float) -> tuple[str | float | int | None, ...]:
    low, high = (None, None) if row.interval is None else (unit * row.interval.low, unit * row.interval.high)
    value = None if row.value is None else unit * row.value
    remark = "" if row.interval is not None else f"too few labels to tell: about {row.more:,} more from this slice"
    return (row.name, row.items, row.labels, row.failures, value, low, high, remark)


@dataclass(frozen=True)
class Part:
    """What the labels say about the mean loss of one slice.

    worth
        How many labels of a simple random sample one label of this slice stands for.
    likely
        The mean loss that is to be expected there, also without any label.
    usual
        That of the whole pool, where whether a slice is shown must not hang on its own few labels.
    """

    value: float
    interval: Interval
    worth: float = 1.0
    likely: float = 0.0
    usual: float | None = None


def slices(
    labelled: Labelled, pool: Pool, by: str = "prediction", *, level: float = 0.95, loss: Loss = "squared"
) -> Slices:
    """The metric in each part of the pool, where the labels suffice to say it.

    waves: ``[Σ_c m + Σ_{s∩c} (y - m)/π] / N_c`` with Wilson's interval, ``t`` with two degrees of freedom less than
    the slice has labels. Simple random samples: the labels of a slice are a simple random sample of it, whatever their
    number, so that the interval is exact. Other techniques are refused.
    """
    chosen, items = cutting.cut(pool, by), labelled.sample.items
    group = chosen.codes(pool, items)
    if isinstance(labelled.sample.draws, EqualDraws):
        parts = _simple_random(labelled, chosen, group, level)
    else:
        parts = _assisted(labelled, pool, chosen, group=group, level=level)
    metric = measures.measure_of(labelled.task, loss).scales[0]
    counts, failures = (_different(items[some], group[some], len(parts)) for some in (slice(None), labelled.failed))
    rows = [
        _slice(name, part, sizes=(int(size), int(k), int(f)), metric=metric)
        for name, part, size, k, f in zip(chosen.names, parts, chosen.sizes, counts, failures, strict=True)
    ]
    return Slices(chosen.by, metric, level, tuple(rows), chosen.note)


def _different(items: IntArray, group: IntArray, count: int) -> IntArray:
    """How many different items each group has."""
    _, first = np.unique(items, return_index=True)
    return np.bincount(group[first], minlength=count)


def _slice(name: str, part: Part | None, *, sizes: tuple[int, int, int], metric: str) -> Slice:
    items, labels, _ = sizes
    accuracy = metric == "accuracy"
    if part is not None and (labels == items or _shown(part, labels, accuracy=accuracy)):
        interval = part.interval.map(SCALES[metric].of)
        return Slice(name, *sizes, value=SCALES[metric].of(part.value), interval=interval)
    enough = FEWEST
    if part is not None:
        enough = max(_enough(part, part.likely), _asked(part)) if accuracy else 0
        enough = max(enough, _narrowed(part, labels, accuracy=accuracy))
    return Slice(name, *sizes, more=min(in_fives(enough - labels), items - labels))


def in_fives(more: int) -> int:
    """A number of labels as one asks for them: what is only forecast is not known to a single label."""
    return 5 * max(math.ceil(more / 5), 1)


def _shown(part: Part, labels: int, *, accuracy: bool) -> bool:
    half = part.interval.width / 2
    if not accuracy:
        return labels >= FEWEST and half <= WIDEST_RELATIVE * part.value
    return labels >= _asked(part) and half <= WIDEST


def _asked(part: Part) -> int:
    """Labels that a slice must have, whatever they say: to show it because few of its labels fail would be to choose
    the lucky ones, which then cover too seldom (.89 instead of .95 for simple random samples of 100 classes)."""
    return FEWEST if part.usual is None else _enough(part, part.usual)


def _enough(part: Part, likely: float) -> int:
    """Labels with which Wilson's interval at this rate is narrow enough."""
    rate = min(max(likely, 0.0), 1.0)

    def narrow(labels: int) -> bool:
        variance = rate * (1 - rate) / (part.worth * labels)
        z = wilson.critical(labels, part.interval.level, coefficients=COEFFICIENTS)
        low, high = wilson.effective_wilson(rate, variance, labels, z=z)
        return (high - low) / 2 <= WIDEST

    return next((labels for labels in range(FEWEST, 1_000) if narrow(labels)), 1_000)


def _narrowed(part: Part, labels: int, *, accuracy: bool) -> int:
    """Labels with which the interval that there is would be narrow enough: its width falls with their root."""
    widest = WIDEST if accuracy else WIDEST_RELATIVE * part.value
    if widest <= 0 or not math.isfinite(part.interval.width):
        return max(2 * labels, FEWEST)
    return max(FEWEST, math.ceil(labels * (part.interval.width / 2 / widest) ** 2))


def item_fit(labelled: Labelled) -> ItemFit:
    """What the labels say about every item; a sample whose estimator does not know that is refused."""
    fit = estimators.estimate(labelled).items
    if fit is None:
        raise SampleError(
            f"no slices from a sample with the estimator '{labelled.sample.estimator}'",
            rule="slices are known for waves and for simple random samples (srs)",
            hint="--design waves or --design srs for the next sample",
        )
    return fit


def item_sums(
    fit: ItemFit,
    pool: Pool,
    chosen: Cut,
    columns: Callable[[ItemValues], tuple[FloatArray, ...]],
) -> tuple[FloatArray, ...]:
    """Sums over the items of each slice: exact, and rounded once.

    columns
        What is added up, from what is said about some items; a function of a module.
    """
    given = (fit.rule, chosen.rule, len(chosen.names), columns)
    found = exact.merged(derived.map_beside(fit.frame, pool, _item_sums, given, needs=chosen.rule.needs))
    return tuple(one.rounded for one in found)


def _item_sums(
    both: tuple[Frame, Pool], given: tuple[ItemRule, CutRule, int, Callable[[ItemValues], tuple[FloatArray, ...]]]
) -> tuple[exact.GroupedSum, ...]:
    (part, rows), (said, rule, count, columns) = both, given
    return exact.grouped(rule.codes(rows), count, *columns(said.of(part)))


def _simple_random(labelled: Labelled, chosen: Cut, group: IntArray, level: float) -> list[Part | None]:
    overall = (float(labelled.losses.sum()) + 0.5) / (len(labelled.sample) + 1)
    return [
        _simple_part(labelled, group == code, int(size), level=level, overall=overall)
        for code, size in enumerate(chosen.sizes)
    ]


def _simple_part(labelled: Labelled, inside: Any, size: int, *, level: float, overall: float) -> Part | None:
    count = int(np.count_nonzero(inside))
    if not count:
        return None
    sample = labelled.sample
    within = Sample(size, sample.items[inside], sample.estimator, sample.draws)
    found = estimators.estimate(
        Labelled(within, labelled.losses[inside], labelled.failed[inside], labelled.task), level=level
    )
    likely = (found.value * count + overall) / (count + 1)
    return Part(found.value, found.interval, likely=likely, usual=overall)


def _assisted(labelled: Labelled, pool: Pool, chosen: Cut, *, group: IntArray, level: float) -> list[Part | None]:
    fit = item_fit(labelled)
    losses, sizes, many = labelled.losses, chosen.sizes, len(chosen.sizes)
    at, residual = fit.drawn.chance, losses - fit.drawn.expected
    hoped, foreseen = item_sums(fit, pool, chosen, _foreseen)
    value = (hoped + np.bincount(group, residual / at, minlength=many)) / sizes
    seen = np.bincount(group, (1 - at) / at**2 * residual**2, minlength=many)
    variance = np.maximum(seen, foreseen) / sizes**2
    counts, known = np.bincount(group, minlength=many), np.bincount(group, losses, minlength=many)
    return [
        _assisted_part(
            labelled.task == "classification",
            *(float(value[c]), float(variance[c]), float(hoped[c] / sizes[c])),
            counts=(int(sizes[c]), int(counts[c]), float(known[c])),
            level=level,
        )
        for c in range(many)
    ]


def _foreseen(said: ItemValues) -> tuple[FloatArray, FloatArray]:
    return said.expected, said.spread * (1 / said.chance - 1)


def _assisted_part(
    rates: bool, value: float, variance: float, likely: float, *, counts: tuple[int, int, float], level: float
) -> Part | None:
    """counts: items, labels, and the sum of the losses that are known."""
    size, labels, known = counts
    note = "assumes that the risk model is about right where few labels were taken"
    if labels == size:
        exact = Interval(known / size, known / size, level, "exact", "all items are labelled")
        return Part(known / size, exact, likely=likely)
    z = wilson.critical(labels, level, coefficients=COEFFICIENTS)
    if not rates:
        low, high = wilson.log_bounds(value, variance, z=z)
        return Part(value, Interval(low, high, level, "asymptotic", "log-normal", note=note), likely=likely)
    low, high = wilson.effective_wilson(value, variance, max(labels, 1), z=z)
    # Labelled items need no inference: those that failed bound the rate from below, those that passed from above.
    least, most = known / size, (size - labels + known) / size
    bounds = Interval(max(low, least), min(high, most), level, "asymptotic", "Wilson, effective sample size", note=note)
    worth = likely * (1 - likely) / (variance * labels) if variance * labels > 0 else 1.0
    return Part(min(max(value, least), most), bounds, worth=min(max(worth, wilson.LEAST), wilson.MOST), likely=likely)
