"""The model-assisted estimator: predict the whole pool, then correct the prediction by what the labels say."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from fieldcheck.accuracy.estimators.base import MeanLoss
from fieldcheck.core.draws import Draws, PooledDraws, WaveDraws
from fieldcheck.core.errors import SampleError
from fieldcheck.core.interval import Interval
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.sample import ItemFit, Labelled, Sample
from fieldcheck.core.types import BoolArray, FloatArray, IntArray, Task
from fieldcheck.numerics.intervals.moments import allowance, beta_quantile
from fieldcheck.numerics.intervals.wilson import critical, effective_wilson, log_bounds
from fieldcheck.numerics.regression.assisted import assisted
from fieldcheck.numerics.regression.risk import RiskModel, frame_model
from fieldcheck.numerics.sampling.wave import PastWave, WaveRule, replay

MARGIN = 1.04
"""Intervals are wider by this: the variance is itself estimated, and every subject is to be covered, not their mean."""


SAFE = 0.02
"""Items with a lower expected failure rate look safe; the guarded interval does not take that on trust."""


class ModelAssisted:
    """``(1/N) [Σ m + Σ_s (y - m)/π]``: m the prediction after all labels, π the chance that any wave drew the item.

    The interval takes the larger of two variances: what the labels show (cross-fitted, so that the model is judged on
    labels it has not seen) and what the model expects. It assumes that the risk model is about right where nobody
    looked. The guarded interval does not: it allows the items that look safe to fail as often as their few labels
    permit.

    The audit form, ``Σ_t (n_t/n)(1/N) [Σ_{labelled before} y + Σ_{rest} m_t + Σ_{s_t} (y - m_t)/π_t]``, is exactly
    unbiased, at a slightly larger error, if the number of labels was fixed beforehand and every drawn item has one.
    """

    name: ClassVar[str] = "model_assisted"
    accepts: ClassVar[tuple[type[Draws], ...]] = (WaveDraws, PooledDraws)

    def estimate(self, labelled: Labelled, *, level: float) -> MeanLoss:
        fit = Fit.of(labelled)
        return MeanLoss(
            value=fit.value,
            variance=fit.variance,
            interval=fit.interval(level),
            guarded=fit.guarded(level),
            guarded_variance=fit.guarded_variance(),
            audit=fit.audit,
            items=ItemFit(fit.expected, fit.spread(), fit.chance, fit.optimism()),
        )


@dataclass(frozen=True, eq=False)
class Fit:
    """What the labels say about every item.

    expected
        One per item: predicted loss after all labels.
    chance
        One per item: probability that any wave drew it (and that it was labelled).
    seen, foreseen
        Variance of the estimate as the labels show it, and as the model expects it.
    """

    labelled: Labelled
    model: RiskModel
    expected: FloatArray
    chance: FloatArray
    value: float
    seen: float
    foreseen: float
    audit: float = math.nan

    @classmethod
    def of(cls, labelled: Labelled) -> Fit:
        frame = _frame(labelled)
        model: RiskModel = frame.memo(
            "risk", lambda: frame_model(frame.auxiliary, frame.predictions, frame.size, frame.task)
        )
        items, losses = labelled.sample.items, labelled.losses
        if isinstance(labelled.sample.draws, PooledDraws):
            chance, audit = labelled.sample.draws.chance, math.nan
        else:
            chance, audit = _waves(labelled, model)
        found = assisted(model, items, losses, chance=chance)
        if len(items) == frame.size and not math.isnan(audit):
            audit = found.value  # all are known: both are the truth
        return cls(labelled, model, found.expected, chance, found.value, found.seen, found.foreseen, audit)

    @property
    def variance(self) -> float:
        return max(self.seen, self.foreseen)

    @property
    def labels(self) -> int:
        return len(self.labelled.sample)

    def spread(self) -> FloatArray:
        """One per item: the variance of its loss, as the model foresees it."""
        spread = self.model.spread(self.expected)
        total = float((spread * (1 / self.chance - 1)).sum())
        # Losses without a limit have a dispersion that the fit took from the labels: it is in what it foresees.
        return spread * (self.foreseen * len(spread) ** 2 / total) if total > 0 else spread

    def optimism(self) -> float:
        """By how much the prediction fits the labels that it was made from better than others."""
        items, losses = self.labelled.sample.items, self.labelled.losses
        at = self.chance[items]
        fitted = float(((1 - at) / at**2 * (losses - self.expected[items]) ** 2).sum()) / len(self.expected) ** 2
        return max(1.0, self.seen / fitted) if fitted > 0 else 1.0

    def guarded_variance(self) -> float:
        """The variance if items that look safe fail as often as their labels permit."""
        safe = self._safe()
        looked = safe[self.labelled.sample.items]
        worst = _safe_spread(self.labelled.losses[looked], self.labelled.losses, self.labelled.task)
        hidden = worst * float((1 / self.chance[safe] - 1).sum()) / len(self.expected) ** 2
        return max(self.variance, self.seen + hidden)

    def _safe(self) -> BoolArray:
        limit = SAFE if self.labelled.task == "classification" else float(np.median(self.expected))
        return self.expected < limit

    def interval(self, level: float) -> Interval:
        note = "assumes that the risk model is about right where few labels were taken"
        methods = {"classification": "Wilson, effective sample size", "regression": "log-normal"}
        return self._bounds(self.variance, level, method=methods[self.labelled.task], note=note)

    def guarded(self, level: float) -> Interval:
        note = "also holds where items that look safe fail more often than the risk model believes"
        methods = {"classification": "guarded Wilson", "regression": "guarded log-normal"}
        bounds = self._bounds(self.guarded_variance(), level, method=methods[self.labelled.task], note=note)
        return replace(bounds, high=max(bounds.high, self._unseen(level)), basis="protected")

    def _unseen(self, level: float) -> float:
        """Upper bound that allows for a failure which nobody saw, where one would weigh most (Fay and Feuer 1997)."""
        if self.labelled.task == "regression" or self.labels == len(self.expected):
            return self.value
        weights = 1 / (len(self.expected) * self.chance[self.labelled.sample.items])
        more, variance = allowance(weights)
        return beta_quantile(self.value + more, self.variance + variance, q=0.5 + level / 2)

    def _bounds(self, variance: float, level: float, *, method: str, note: str) -> Interval:
        z, losses = MARGIN * critical(self.labels, level), self.labelled.losses
        if self.labelled.task == "classification":
            low, high = effective_wilson(self.value, variance, self.labels, z=z)
        else:
            low, high = log_bounds(self.value, variance, z=z)
        # Labels that all agree do not rule out that the whole pool does.
        low = low if losses.any() else 0.0
        high = 1.0 if self.labelled.task == "classification" and losses.all() else high
        if self.labels == len(self.expected):
            return Interval(self.value, self.value, level, "exact", "every item is labelled")
        return Interval(low, high, level, "asymptotic", method, note=note)


def _frame(labelled: Labelled) -> Frame:
    if labelled.sample.frame is None:
        raise SampleError(
            "this estimate needs the pool that the sample was drawn from",
            rule="waves predicts the loss of every item of the pool",
            hint="give the pool beside the labels",
        )
    return labelled.sample.frame


@dataclass(frozen=True, eq=False)
class Wave:
    """One wave, looked back at.

    items, losses
        What was labelled of it.
    drawn
        One per item: True where an earlier wave drew it.
    known
        Sum of the losses that were known before it.
    expected
        One per item: predicted loss before it.
    inclusion
        One per item: chance that this wave drew it (and that it was labelled).
    """

    items: IntArray
    losses: FloatArray
    drawn: BoolArray
    known: float
    expected: FloatArray
    inclusion: FloatArray

    def total(self) -> float:
        """The sum of all losses: those known before, and the prediction of the others, put right by this wave."""
        correction = (self.losses - self.expected[self.items]) / self.inclusion[self.items]
        return self.known + float(self.expected[~self.drawn].sum()) + float(correction.sum())


def _waves(labelled: Labelled, model: RiskModel) -> tuple[FloatArray, float]:
    """The chance that any wave drew each item, and the audit estimate."""
    size, labels = labelled.sample.population, len(labelled.sample)
    missed, audit = np.ones(size), 0.0
    for wave in _replay(labelled, model):
        missed *= 1 - wave.inclusion
        audit += len(wave.items) / labels * wave.total() / size
    return 1 - missed, audit


def _replay(labelled: Labelled, model: RiskModel) -> Iterator[Wave]:
    """The waves again, from the coefficients that each was drawn with."""
    draws, known = labelled.sample.drawn_as(WaveDraws), 0.0
    past = (_past(labelled.sample, draws, model, number) for number in range(int(draws.wave.max()) + 1))
    rule, nothing = WaveRule(draws.objective, draws.floor, draws.certain), np.zeros(labelled.sample.population, bool)
    for number, (wave, inclusion, drawn) in enumerate(replay(rule, past, nothing)):
        losses = labelled.losses[draws.wave == number]
        # Errors have any unit, and before the first label nothing is known about it: then nothing is predicted.
        blind = labelled.task == "regression" and not np.any(draws.wave < number)
        yield Wave(wave.labelled, losses, drawn, known, wave.prospect.expected * (not blind), inclusion)
        known += float(losses.sum())


def _past(sample: Sample, draws: WaveDraws, model: RiskModel, number: int) -> PastWave:
    return PastWave(
        model.prospect(model.belief(draws.beliefs[number])),
        draws.sizes[number],
        sample.items[draws.wave == number],
        draws.lost[draws.lost_wave == number],
    )


def _safe_spread(safe: FloatArray, losses: FloatArray, task: Task) -> float:
    """Variance of the loss among items that look safe, with half a failure (or one ordinary loss) that was not seen."""
    if task == "classification":
        rate = (float(safe.sum()) + 0.5) / (len(safe) + 1)
        return rate * (1 - rate)
    return (float((safe**2).sum()) + float((losses**2).mean())) / (len(safe) + 1)
