"""The risk model of a large population, from bins of its variables: what needs a whole column is a sum over bins.

A feature is a function of one variable, so that an item is told by the numbers of its bins (two bytes a variable) and
a feature by a table with one row per bin. Ranks, means, and the items that stand for all follow from counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.numerics import special
from fieldcheck.numerics.regression import priors, risk
from fieldcheck.numerics.regression.population import Population
from fieldcheck.numerics.types import FloatArray, IntArray

Codes = npt.NDArray[np.uint16]


BINS = 1 << 16


DOUBTS = (float(special.logit(1e-6)), float(special.logit(0.999)))
"""The log odds that a model's doubt may have."""


BLOCK = 1 << 16
"""Items that are looked at at once."""


@dataclass(frozen=True, eq=False)
class BinnedVariable:
    """A variable of the population in bins.

    codes
        The bin of each item.
    features
        What the items of a bin have as features, one row per bin.
    """

    codes: Codes
    features: FloatArray


@dataclass(frozen=True, eq=False)
class BinnedRisks:
    """A risk model without its features.

    of
        The model, for no item.
    """

    of: risk.RiskModel
    variables: tuple[BinnedVariable, ...]
    groups: npt.NDArray[Any] | None
    size: int

    @cached_property
    def before(self) -> FloatArray:
        """Log odds of a failure by the signals, before any label: one per item."""
        mean = np.concatenate([self.of.mean, np.zeros(self.of.group_count)])
        return np.concatenate(list(self._odds(risk.Belief(mean[None], np.ones(1)))))

    @cached_property
    def announced(self) -> float:
        """Mean chance to fail by the signals, before any label."""
        parts = (self.before[start : start + BLOCK] for start in range(0, self.size, BLOCK))
        return sum(float((1 / (1 + np.exp(-odds))).sum()) for odds in parts) / self.size

    def model(self, items: IntArray) -> risk.RiskModel:
        """The risk model of some items of the population, one row each, in this order."""
        columns = [np.ones((len(items), 1)), *(one.features[one.codes[items]] for one in self.variables)]
        groups = None if self.groups is None else self.groups[items]
        return risk.RiskModel.given(
            np.concatenate(columns, axis=1),
            self.of.mean,
            self.of.sd,
            groups=groups,
            classes=self.of.group_count,
            family=self.of.family,
            announced=self.announced if self.of.family == "bernoulli" else None,
        )

    def spread(self, belief: risk.Belief | None, count: int) -> IntArray:
        """So many items, spread evenly over all risks: what is believed of them has the quantiles of the population.

        belief
            None: before any label.
        """
        found = self.before if belief is None else np.concatenate(list(self._odds(belief)))
        low, high = float(found.min()), float(found.max())
        codes = ((found - low) * ((BINS - 1) / max(high - low, 1e-9))).astype(np.uint16)
        counts = np.bincount(codes, minlength=BINS)
        ends = np.cumsum(counts)
        wanted = ((np.arange(count) + 0.5) * self.size / count).astype(np.int64)
        bins = np.searchsorted(ends, wanted, side="right")
        hit = np.zeros(BINS, dtype=bool)
        hit[bins] = True
        near = np.flatnonzero(hit[codes])
        near = near[np.argsort(np.round(found[near], risk.DIGITS), kind="stable")]
        before = np.cumsum(np.where(hit, counts, 0)) - counts  # items near, in the bins before
        return near[before[bins] + wanted - (ends - counts)[bins]]

    def _odds(self, belief: risk.Belief) -> Iterator[FloatArray]:
        """What is believed of the items, by blocks: log odds of a failure, or the logarithm of the loss."""
        same = bool((belief.coefficients == belief.coefficients[0]).all())
        rows = belief.coefficients[:1] if same else belief.coefficients
        tables = [self._tables(row) for row in rows]
        for start in range(0, self.size, BLOCK):
            linear = [self._linear(one, row, start) for one, row in zip(tables, rows, strict=True)]
            if same:
                yield linear[0]  # whatever hides, the order is this one
                continue
            chance = sum(
                weight * (hidden + (1 - hidden) / (1 + np.exp(-one)))
                for one, hidden, weight in zip(linear, risk.HIDDEN, belief.weights, strict=True)
            )
            yield np.asarray(special.logit(np.clip(chance, 1e-12, 1 - 1e-12)))

    def _tables(self, coefficients: FloatArray) -> list[FloatArray]:
        """By variable, what a bin adds to the linear predictor."""
        at, found = 1, []
        for one in self.variables:
            width = one.features.shape[1]
            found.append(one.features @ coefficients[at : at + width])
            at += width
        return found if self.groups is None else [*found, coefficients[at:]]

    def _linear(self, tables: list[FloatArray], coefficients: FloatArray, start: int) -> FloatArray:
        codes = [one.codes for one in self.variables] + ([] if self.groups is None else [self.groups])
        found = np.full(min(BLOCK, self.size - start), coefficients[0])
        for table, own in zip(tables, codes, strict=True):
            found += table[own[start : start + BLOCK]]
        return found


def binned_risks(population: Population) -> BinnedRisks:
    """What ``priors.model_of`` gives, by bins."""
    others = {name: own for name, own in population.auxiliary.items() if name != "confidence"}
    groups = population.predictions
    if population.task == "regression":
        own = {} if groups is None else {"": np.abs(groups - np.median(groups))}
        columns = [
            BinnedVariable(codes, _scores(codes)[:, None]) for codes in map(_codes, [*others.values(), *own.values()])
        ]
        mean, sd = priors.loss_prior(others, population.traits, extreme=groups is not None)
        empty = risk.RiskModel.given(np.zeros((0, len(mean))), mean, sd, family="gamma")
        return BinnedRisks(empty, tuple(columns), None, population.size)
    suspicion = population.auxiliary.get("confidence")
    doubt, likely = (None, np.ones(1)) if suspicion is None else _doubt(suspicion)
    columns = [] if doubt is None else [doubt]
    for values in others.values():
        codes = _codes(values)
        score = _scores(codes)
        columns.append(
            BinnedVariable(codes, (score - np.average(score, weights=_weights(codes, doubt, likely)))[:, None])
        )
    mean, sd = priors.failure_prior(others, population.traits, doubted=doubt is not None)
    few = groups is not None and int(groups.max()) < priors.GROUPS
    groups, classes = (groups, int(groups.max()) + 1) if groups is not None and few else (None, 0)
    empty = risk.RiskModel.given(np.zeros((0, len(mean))), mean, sd, classes=classes)
    return BinnedRisks(empty, tuple(columns), groups, population.size)


def _doubt(suspicion: FloatArray) -> tuple[BinnedVariable | None, FloatArray]:
    """The doubt and its square, none where it is the same for all; and how likely failures are in each bin."""
    low, high = DOUBTS
    if len(suspicion) <= BINS:
        codes, values = _own_bins(special.logit(np.clip(suspicion, 1e-6, 0.999)))
    else:
        codes, values = np.empty(len(suspicion), dtype=np.uint16), np.linspace(low, high, BINS)
        for start in range(0, len(codes), BLOCK):
            part = np.clip(suspicion[start : start + BLOCK], 1e-6, 0.999).astype(np.float32)
            odds = np.log(part / (1 - part))
            codes[start : start + BLOCK] = (odds - np.float32(low)) * np.float32((BINS - 1.01) / (high - low)) + 0.5
    counts = np.bincount(codes, minlength=len(values))
    sd = float(np.sqrt(np.average((values - np.average(values, weights=counts)) ** 2, weights=counts)))
    if sd < 1e-9:
        return None, np.ones(1)
    scaled = values / max(sd, 0.3)
    likely = np.asarray(special.expit(priors.LEVEL[0] + priors.DOUBT[0] * scaled))
    bend = (scaled - np.average(scaled, weights=counts)) ** 2
    return BinnedVariable(codes, np.column_stack([scaled, bend - np.average(bend, weights=likely * counts)])), likely


def _own_bins(values: FloatArray) -> tuple[Codes, FloatArray]:
    """A bin for each value, where they are few: nothing is rounded."""
    found, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.uint16), found


def _codes(values: npt.NDArray[Any]) -> Codes:
    """Bins whose width grows with the value: by the leading bits of a short float, which are in its order."""
    if len(values) <= BINS:
        return _own_bins(values)[0]
    narrow = np.ascontiguousarray(values, dtype=np.float32) + np.float32(0)  # no negative zero
    bits = narrow.view(np.int32)
    low, high = int(bits.min()), int(bits.max())
    shift = max((high - low).bit_length() - (BINS - 1).bit_length(), 0)
    return ((bits - low) >> shift).astype(np.uint16)


def _scores(codes: Codes) -> FloatArray:
    """One per bin: the rank that its items share, as a quantile of the normal distribution."""
    counts = np.bincount(codes, minlength=BINS)
    ranks = np.cumsum(counts) - counts / 2
    return np.asarray(special.ndtri(np.clip(ranks, 0.5, len(codes) - 0.5) / len(codes)))


def _weights(codes: Codes, doubt: BinnedVariable | None, likely: FloatArray) -> FloatArray:
    """One per bin: how likely failures are there, summed over its items."""
    if doubt is None:
        return np.bincount(codes, minlength=BINS).astype(np.float64)
    found = np.zeros(BINS)
    for start in range(0, len(codes), 16 * BLOCK):
        part = slice(start, start + 16 * BLOCK)
        found += np.bincount(codes[part], weights=likely[doubt.codes[part]], minlength=BINS)
    return found
