"""Predicted against true class, estimated for the whole pool: what precision, recall and F1 follow from.

Failures of each predicted class come from the estimate of that slice; which class they truly are, from the failures
that were found. Variances are those of the first-order expansion (Särndal, Swensson and Wretman 1992, section 5.5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fieldcheck.accuracy.assessment.cutting import Cut, cut
from fieldcheck.accuracy.assessment.scores import ClassScore, Confusion
from fieldcheck.accuracy.assessment.slices import WIDEST, Slice, item_fit, item_sums
from fieldcheck.accuracy.estimators.base import ItemValues
from fieldcheck.core import words
from fieldcheck.core.draws import EqualDraws
from fieldcheck.core.errors import LabelError, PoolError
from fieldcheck.core.interval import Interval
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.sample import Labelled
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.numerics.intervals import wilson

FAILURES = 10
"""Failures that must be found before recall and F1 are shown."""

SHRINK = 1.0
"""Failures that what is known from elsewhere counts for, where a class of failures is shared out."""

LISTED = 15
"""Confusions that are listed."""


@dataclass(frozen=True, eq=False)
class Crosstab:
    """Predicted against true class, with what its variance needs.

    predicted, true
        Names; the first true classes are the predicted ones, in the same order.
    sizes
        Items of the pool, one per predicted class.
    failing
        Estimated failures, one per predicted class.
    share
        Of the failures of each predicted class (row), the part that each true class has (column); rows add up to 1.
    codes, truth
        One per draw: predicted and true class.
    weight, expected
        One per draw: 1/π, and the loss that was expected.
    first, second
        One per predicted class: ``Σ m (1/π - 1)`` and ``Σ m² (1/π - 1)`` over its items.
    optimism
        How much larger the variance is when labels are judged by a model that has not seen them.
    """

    predicted: tuple[str, ...]
    true: tuple[str, ...]
    sizes: IntArray
    failing: FloatArray
    share: FloatArray
    codes: IntArray
    truth: IntArray
    losses: FloatArray
    weight: FloatArray
    expected: FloatArray
    first: FloatArray
    second: FloatArray
    optimism: float = 1.0

    @classmethod
    def of(cls, labelled: Labelled, pool: Pool, true_classes: Sequence[str]) -> Crosstab:
        chosen = _by_class(pool)
        said, predicted = chosen.codes(pool, labelled.sample.items), chosen.names
        names = [*predicted, *sorted(set(true_classes) - set(predicted))]
        place = {name: at for at, name in enumerate(names)}
        truth = np.array([place[name] for name in true_classes], dtype=np.int64)
        losses, many = labelled.losses, len(predicted)
        _check_truth(truth, said, losses)
        expected = _Expected.of(labelled, pool, chosen, said)
        weight = 1 / expected.chance
        failing = expected.total + np.bincount(said, (losses - expected.drawn) * weight, minlength=many)
        return cls(
            predicted=predicted,
            true=tuple(names),
            sizes=chosen.sizes,
            failing=np.clip(failing, 0.0, chosen.sizes),
            share=_share(said, truth, losses * weight, shape=(many, len(names))),
            codes=said,
            truth=truth,
            losses=losses,
            weight=weight,
            expected=expected.drawn,
            first=expected.first,
            second=expected.second,
            optimism=expected.optimism,
        )

    @property
    def right(self) -> FloatArray:
        """Items that are predicted right, one per true class."""
        return self._padded(self.sizes - self.failing)

    @property
    def missed(self) -> FloatArray:
        """Items of a class that are predicted to be another, one per true class."""
        return self.failing @ self.share

    @property
    def found(self) -> int:
        """Failures among the labels."""
        return int(self.losses.sum())

    def _padded(self, values: FloatArray | IntArray) -> FloatArray:
        return np.concatenate([values, np.zeros(len(self.true) - len(self.predicted))])

    def variance(self, row: FloatArray, column: FloatArray) -> float:
        """Variance of a metric that a failure of predicted class a and true class c lowers by row[a] + column[c].

        The larger of what the labels show and what the model foresees, as for the accuracy.
        """
        cost = row[: len(self.predicted), None] + column[None, :]
        mean = (self.share * cost).sum(axis=1)
        off = self.losses * cost[self.codes, self.truth] - self.expected * mean[self.codes]
        seen = self.optimism * float((self.weight * (self.weight - 1) * off**2).sum())
        foreseen = float(self.first @ (self.share * cost**2).sum(axis=1) - self.second @ mean**2)
        return max(seen, foreseen)

    def scores(self, metric: str, rows: Sequence[Slice], *, level: float) -> list[ClassScore]:
        """One per predicted class (not for precision, which the slices give), and their mean."""
        value, lost, missed = self._pieces(metric)
        one = [] if metric == "precision" else [
            self._score(metric, at, pieces=(value[at], lost[at], missed[at]), row=row, level=level)
            for at, row in enumerate(rows)
        ]  # fmt: skip
        return [*one, self._macro(metric, value, lost, missed=missed, level=level)]

    def _pieces(self, metric: str) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Value of each class; how much a failure predicted to be it, and one that truly is it, lowers it."""
        right, size, total = self.right, self._padded(self.sizes), self.right + self.missed
        if metric == "precision":
            return right / np.maximum(size, 1), 1 / np.maximum(size, 1), np.zeros(len(right))
        if metric == "recall":
            value = right / np.maximum(total, 1e-9)
            return value, (1 - value) / np.maximum(total, 1e-9), value / np.maximum(total, 1e-9)
        both = np.maximum(size + total, 1e-9)
        value = 2 * right / both
        return value, (2 - value) / both, value / both

    def _score(
        self, metric: str, at: int, *, pieces: tuple[float, float, float], row: Slice, level: float
    ) -> ClassScore:
        misses = int(np.count_nonzero((self.truth == at) & (self.losses > 0)))
        if row.interval is None:
            return ClassScore(metric, row.name, None, None, too_few(row))
        if self.found < FAILURES:
            return ClassScore(metric, row.name, None, None, self.too_few_failures)
        if not misses:
            return self._bound(metric, row, precision=row.interval.low, level=level)
        value, lost, missed = pieces
        only = np.arange(len(self.true)) == at
        variance = self.variance(lost * only, missed * only)
        interval = _interval(value, variance, row.labels + misses, level=level, evidence=row.failures + misses)
        if interval.width / 2 > WIDEST:
            return ClassScore(metric, row.name, None, None, f"too few labels: the interval would be over ±{WIDEST:g}")
        return ClassScore(metric, row.name, value, interval)

    def _bound(self, metric: str, row: Slice, *, precision: float, level: float) -> ClassScore:
        """A lower bound where no missed item of the class was found: so large a share would hardly have been missed.

        Each of three bounds (failures of the pool, share of the class, precision of the class) gets its own error.

        precision
            Its lower bound.
        """
        weights = self.weight[self.losses > 0]
        worth = float(weights.sum() ** 2 / (weights**2).sum())
        share = 1 - (1 - level) ** (1 / worth)
        failing = float(self.failing.sum())
        most = failing + wilson.critical(len(self.losses), level) * float(
            np.sqrt(self.variance(np.ones(len(self.true)), np.zeros(len(self.true))))
        )
        right, missed = row.items * precision, share * most
        low = right / max(right + missed, 1e-9) if metric == "recall" else 2 * right / (row.items + right + missed)
        remark = f"no missed item of this class was found: only a bound, at least {low:.3f}"
        interval = Interval(low, 1.0, level, "asymptotic", "no miss found", note="one-sided")
        return ClassScore(metric, row.name, None, interval, remark)

    def _macro(
        self, metric: str, value: FloatArray, lost: FloatArray, *, missed: FloatArray, level: float
    ) -> ClassScore:
        if self.found < FAILURES:
            return ClassScore(metric, "macro", None, None, self.too_few_failures)
        many = len(self.true)
        mean = float(value.mean())
        variance = self.variance(lost / many, missed / many)
        interval = _interval(mean, variance, len(self.losses), level=level, evidence=self.found)
        return ClassScore(metric, "macro", mean, interval)

    @property
    def too_few_failures(self) -> str:
        """Why it is not said which classes are missed; empty where it is."""
        if self.found >= FAILURES:
            return ""
        return f"{words.counted(self.found, 'failure')} found; {FAILURES} are needed to say which classes are missed"

    def confusion(self, level: float) -> Confusion:
        """The whole matrix."""
        counts = self.failing[:, None] * self.share
        at = np.arange(len(self.predicted))
        counts[at, at] = self.sizes - self.failing
        return Confusion(
            self.predicted,
            self.true,
            tuple(tuple(row) for row in counts.tolist()),
            self._largest(counts, level),
            level,
        )

    def _largest(self, counts: FloatArray, level: float) -> tuple[tuple[str, str, int, float, float, float], ...]:
        seen = np.zeros(counts.shape, dtype=np.int64)
        np.add.at(seen, (self.codes, self.truth), (self.losses > 0).astype(np.int64))
        cells = [(int(a), int(c)) for a, c in zip(*np.nonzero(seen), strict=True)]
        cells = sorted(cells, key=lambda cell: -counts[cell])[:LISTED]
        return tuple(
            (self.predicted[a], self.true[c], int(seen[a, c]), float(counts[a, c]), *self._cell(a, c, counts, level))
            for a, c in cells
        )

    def _cell(self, a: int, c: int, counts: FloatArray, level: float) -> tuple[float, float]:
        """Bounds of one cell, in items."""
        size, share = int(self.sizes[a]), self.share[a, c]
        here = self.codes == a
        off = self.losses[here] * (self.truth[here] == c) - self.expected[here] * share
        seen = self.optimism * float((self.weight[here] * (self.weight[here] - 1) * off**2).sum())
        foreseen = float(self.first[a] * share - self.second[a] * share**2)
        labels = int(np.count_nonzero(here))
        z = wilson.critical(labels, level, coefficients=2)
        low, high = wilson.effective_wilson(float(counts[a, c]) / size, max(seen, foreseen) / size**2, labels, z=z)
        return size * low, size * high


def _by_class(pool: Pool) -> Cut:
    """By predicted class, of those that are predicted at all."""
    if pool.predictions is None:
        raise PoolError("the pool has no predictions", rule="metrics of a class need the predicted class of each item")
    return cut(pool, "prediction")


def _check_truth(truth: IntArray, said: IntArray, losses: FloatArray) -> None:
    if np.any((truth != said) != (losses > 0)):
        raise LabelError(
            "true classes and outcomes disagree",
            rule="an item fails where its true class is not the predicted one, and nowhere else",
            hint="true classes in draw order, spelt as the predictions",
        )


@dataclass(frozen=True, eq=False)
class _Expected:
    """Which losses are expected.

    drawn, chance
        One per draw: the expected loss, and the chance to be drawn.
    total, first, second
        One per predicted class, sums over its items: of ``m``, of ``m (1/π - 1)`` and of ``m² (1/π - 1)``.
    optimism
        Of the expectation about the labels.
    """

    drawn: FloatArray
    chance: FloatArray
    total: FloatArray
    first: FloatArray
    second: FloatArray
    optimism: float = 1.0

    @classmethod
    def of(cls, labelled: Labelled, pool: Pool, chosen: Cut, said: IntArray) -> _Expected:
        """By the estimator of the sample.

        A simple random sample is taken as one of each predicted class, of the size that it happens to have there
        (poststratification); a class without a label counts as one with half a label.
        """
        if not isinstance(labelled.sample.draws, EqualDraws):
            fit = item_fit(labelled)
            total, first, second = item_sums(fit, pool, chosen, _weighed)
            return cls(fit.drawn.expected, fit.drawn.chance, total, first, second, fit.optimism)
        sizes = chosen.sizes
        labels, failures = (np.bincount(said, one, minlength=len(sizes)) for one in (None, labelled.losses))
        rate = (failures + labelled.losses.mean()) / (labels + 1)
        chance = np.minimum(np.maximum(labels, 0.5) / sizes, 1.0)
        total, first, second = (sizes * one for one in _weighed(ItemValues(rate, rate, chance)))
        return cls(rate[said], chance[said], total, first, second)


def _weighed(said: ItemValues) -> tuple[FloatArray, FloatArray, FloatArray]:
    left = 1 / said.chance - 1
    return said.expected, said.expected * left, said.expected**2 * left


def _share(said: IntArray, truth: IntArray, weight: FloatArray, *, shape: tuple[int, int]) -> FloatArray:
    """Of the failures of each predicted class, the part of each true class.

    Each row is drawn towards the share of the true classes among all failures, and that towards equal shares, by
    one failure each: a class of which no miss was found is not one that is never missed.

    weight
        One per draw: 1/π where the model fails, else 0.
    """
    mass, seen = np.zeros(shape), np.zeros(shape[0])
    np.add.at(mass, (said, truth), weight)
    np.add.at(seen, said, (weight > 0).astype(np.float64))
    found = max(float(seen.sum()), 1.0)
    total = max(float(mass.sum()), 1e-300)
    overall = (found * mass.sum(axis=0) / total + SHRINK / shape[1]) / (found + SHRINK)
    prior = np.tile(overall, (shape[0], 1))
    at = np.arange(shape[0])
    prior[at, at] = 0.0
    prior /= np.maximum(prior.sum(axis=1, keepdims=True), 1e-300)
    rows = np.maximum(mass.sum(axis=1, keepdims=True), 1e-300)
    share: FloatArray = (seen[:, None] * mass / rows + SHRINK * prior) / (seen[:, None] + SHRINK)
    return share


def _interval(value: float, variance: float, labels: int, *, level: float, evidence: int) -> Interval:
    """Wilson's; the failures that say which classes are missed are what the variance is known from."""
    z = wilson.critical(evidence, level, coefficients=1)
    low, high = wilson.effective_wilson(value, variance, labels, z=z)
    note = "failures that were not found are taken to be of the same true classes as those that were"
    return Interval(low, high, level, "asymptotic", "linearised, Wilson", note=note)


def too_few(row: Slice) -> str:
    """Why a predicted class has no number."""
    return f"too few labels to tell: about {row.more:,} more with this prediction"
