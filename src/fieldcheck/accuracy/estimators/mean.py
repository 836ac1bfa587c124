"""The plain mean of a simple random sample."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from fieldcheck.accuracy.estimators.base import ItemFit, ItemRule, ItemValues, MeanLoss
from fieldcheck.accuracy.estimators.chances import EqualChance
from fieldcheck.core.draws import Draws, EqualDraws
from fieldcheck.core.interval import Interval
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.sample import Labelled
from fieldcheck.numerics import intervals


class Mean:
    """Mean loss, variance ``s²/n`` with replacement and ``(1 - n/N) s²/n`` without.

    Classification has an exact interval: hypergeometric without replacement, Clopper-Pearson with it. Wilson's covers
    .918 instead of .95 for a model that is 99 % accurate at 50 labels.
    """

    name: ClassVar[str] = "mean"
    accepts: ClassVar[tuple[type[Draws], ...]] = (EqualDraws,)

    def estimate(self, labelled: Labelled, *, level: float) -> MeanLoss:
        population = labelled.sample.population
        if labelled.sample.drawn_as(EqualDraws).replacement:
            return mean_loss(labelled, level=level, population=None)
        found = mean_loss(labelled, level=level, population=population)
        alike = _Alike(found.value, float(labelled.losses.var()), len(labelled.sample) / population)
        drawn = alike.values(len(labelled.sample))
        return replace(found, make_items=lambda: ItemFit(Frame(population, labelled.task), alike, drawn))

    def chances(self, labelled: Labelled) -> EqualChance:
        return EqualChance(len(labelled.sample) / labelled.sample.population)


@dataclass(frozen=True)
class _Alike(ItemRule):
    """The same of all items."""

    expected: float
    spread: float
    chance: float

    def of(self, part: Frame) -> ItemValues:
        return self.values(part.size)

    def values(self, size: int) -> ItemValues:
        return ItemValues(*(np.full(size, one) for one in (self.expected, self.spread, self.chance)))


def mean_loss(labelled: Labelled, *, level: float, population: int | None) -> MeanLoss:
    """The estimate from a simple random sample; ``population`` None means with replacement."""
    losses, n = labelled.losses, len(labelled.sample)
    left = 1.0 if population is None else 1.0 - n / population
    variance = left * float(losses.var(ddof=1)) / n if n > 1 else float("nan")
    if labelled.task == "regression":
        low, high = intervals.srs_mean(losses, population, level=level)
        bounds = Interval(low, high, level, "asymptotic", "gamma, one unseen loss", basis="random")
    elif population is None:
        low, high = intervals.clopper_pearson(int(losses.sum()), n, level=level)
        bounds = Interval(low, high, level, "exact", "Clopper-Pearson", basis="random")
    else:
        low, high = intervals.hypergeometric(int(losses.sum()), n, population, level=level)
        bounds = Interval(low, high, level, "exact", "hypergeometric", basis="random")
    return MeanLoss(float(losses.mean()), variance, bounds)
