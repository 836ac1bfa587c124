"""The model-assisted estimator: predict the whole pool, then correct the prediction by what the labels say."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from fieldcheck.accuracy.estimators.base import MeanLoss
from fieldcheck.core import words
from fieldcheck.core.draws import Draws, PooledDraws, WaveDraws
from fieldcheck.core.errors import SampleError
from fieldcheck.core.interval import Basis, Interval
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.sample import ItemFit, Labelled, Sample
from fieldcheck.core.types import BoolArray, FloatArray, IntArray
from fieldcheck.numerics.intervals import protected
from fieldcheck.numerics.regression import assisted, risk
from fieldcheck.numerics.sampling.wave import PastWave, WaveRule, replay

PROTECTED, TRUSTING = "protected", "if the risk model is right"
"""Names of the two intervals."""


FEW = 10
"""Where items look safest, labels must be worth so many of a random sample before they protect from anything."""


class ModelAssisted:
    """The mean of m: the predicted loss after all labels, shifted so that ``Σ_s (y - m)/π = 0``; π the chance that any
    wave drew the item.

    It is always a possible value; no failure found gives none. The *protected* interval held in tests where confident
    items fail, too; it is not a theorem. The narrower one holds if the risk model is about right where few labels were
    taken. Each objective has first the one that it is made for.

    The audit form, ``Σ_t (n_t/n)(1/N) [Σ_{labelled before} y + Σ_{rest} m_t + Σ_{s_t} (y - m_t)/π_t]``, is exactly
    unbiased, at a slightly larger error, if the number of labels was fixed beforehand and every drawn item has one.
    """

    name: ClassVar[str] = "model_assisted"
    accepts: ClassVar[tuple[type[Draws], ...]] = (WaveDraws, PooledDraws)

    def estimate(self, labelled: Labelled, *, level: float) -> MeanLoss:
        fit = Fit.of(labelled)
        both = [fit.trusting(level), fit.protected(level)]
        if isinstance(labelled.sample.draws, WaveDraws) and labelled.sample.draws.objective == "protected":
            both.reverse()
        return MeanLoss(
            value=fit.value,
            variance=fit.variance,
            interval=both[0],
            beside=both[1],
            audit=fit.audit,
            items=ItemFit(fit.expected, fit.spread(), fit.chance, fit.optimism()),
        )


@dataclass(frozen=True, eq=False)
class Fit:
    """What the labels say about every item.

    found
        The estimate and what it rests on.
    chance
        One per item: probability that any wave drew it (and that it was labelled).
    """

    labelled: Labelled
    model: risk.RiskModel
    found: assisted.Assisted
    chance: FloatArray
    audit: float = math.nan

    @classmethod
    def of(cls, labelled: Labelled) -> Fit:
        frame = _frame(labelled)
        model = risk.model_of(frame)
        items, losses = labelled.sample.items, labelled.losses
        if isinstance(labelled.sample.draws, PooledDraws):
            chance, audit = labelled.sample.draws.chance, math.nan
        else:
            chance, audit = _waves(labelled, model)
        found = assisted.assisted(model, items, losses, chance=chance)
        if len(items) == frame.size and not math.isnan(audit):
            audit = found.value  # all are known: both are the truth
        return cls(labelled, model, found, chance, audit)

    @property
    def value(self) -> float:
        """The calibrated estimate; of losses without a limit the audit form, where there is one.

        An item whose loss turns out large raises its own chance in later waves, which weighs it down: with losses
        without a limit that is a bias of a tenth to a fifth of the error of a random sample.
        """
        if self.model.family == "bernoulli" or math.isnan(self.audit):
            return self.found.value
        return max(self.audit, float(self.labelled.losses.sum()) / len(self.chance))

    @property
    def expected(self) -> FloatArray:
        """One per item: predicted loss after all labels."""
        return self.found.expected

    @property
    def seen(self) -> float:
        return self.found.seen

    @property
    def foreseen(self) -> float:
        return self.found.foreseen

    @property
    def variance(self) -> float:
        return max(self.seen, self.foreseen)

    @property
    def labels(self) -> int:
        return len(self.labelled.sample)

    @property
    def evidence(self) -> protected.MeanEvidence:
        """What the bounds are made of."""
        return protected.MeanEvidence(
            self.value,
            self.seen,
            self.foreseen,
            least=assisted.sparsest_rates(self.chance),
            typical=self.found.rate,
            unseen=self.found.unseen,
            failures=float(self.labelled.losses.sum()),
            labels=self.labels,
            population=len(self.chance),
            useless=self.found.useless,
        )

    def spread(self) -> FloatArray:
        """One per item: the variance of its loss, as the model foresees it."""
        spread = self.model.spread(self.expected)
        total = float((spread * (1 / self.chance - 1)).sum())
        if self.model.family == "bernoulli" or total <= 0:
            return spread
        # Losses without a limit have a dispersion that the fit took from the labels: it is in what it foresees.
        return spread * (self.foreseen * len(spread) ** 2 / total)

    def optimism(self) -> float:
        """By how much the prediction fits the labels that it was made from better than others."""
        items, losses = self.labelled.sample.items, self.labelled.losses
        at = self.chance[items]
        fitted = float(((1 - at) / at**2 * (losses - self.expected[items]) ** 2).sum()) / len(self.expected) ** 2
        return max(1.0, self.seen / fitted) if fitted > 0 else 1.0

    def trusting(self, level: float) -> Interval:
        """The narrower interval."""
        note = "holds if the risk model is about right where few labels were taken"
        bounds = protected.trusting_loss if self.labelled.task == "regression" else protected.trusting
        return self._interval(bounds(self.evidence, level=level), level, TRUSTING, note=note, basis="model")

    def protected(self, level: float) -> Interval:
        """The interval that is made to hold where confident items fail, too."""
        note = "also held in tests where items that look safe fail"
        bounds = protected.protected_loss if self.labelled.task == "regression" else protected.protected
        found = self._interval(bounds(self.evidence, level=level), level, PROTECTED, note=note, basis="protected")
        draws, worth = self.labelled.sample.draws, float(self.chance.min()) * len(self.chance)
        exposing = isinstance(draws, WaveDraws) and draws.objective == "expose" and self.model.family == "bernoulli"
        if not exposing or min(worth, self.labels) >= FEW or self.labels == len(self.chance):
            return found
        why = (
            f"where items look safest, these labels are worth {words.counted(round(worth), 'label')} of a random sample"
        )
        return replace(found, trusted=False, note=f"{why}; objective=protected is made for it")

    def _interval(self, bounds: tuple[float, float], level: float, method: str, *, note: str, basis: Basis) -> Interval:
        if self.labels == len(self.chance):
            return Interval(self.value, self.value, level, "exact", "every item is labelled", basis=basis)
        return Interval(*bounds, level, "asymptotic", method, note=note, basis=basis)


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


@dataclass(frozen=True, eq=False)
class _Before:
    """The waves before one, looked back at: the same for every label that comes after them.

    waves, digest
        How many they are, and a fingerprint of what they were and found.
    missed, drawn
        One per item: the chance that none of them drew it, and whether one did.
    known, total
        Sum of their losses, and of what each says that the sum of all losses is, by its labels.
    """

    waves: int
    digest: bytes
    missed: FloatArray
    drawn: BoolArray
    known: float = 0.0
    total: float = 0.0

    def and_then(self, wave: Wave, lost: IntArray, digest: bytes) -> _Before:
        drawn = self.drawn.copy()
        drawn[wave.items] = drawn[lost] = True
        known, total = self.known + float(wave.losses.sum()), self.total + len(wave.items) * wave.total()
        return _Before(self.waves + 1, digest, self.missed * (1 - wave.inclusion), drawn, known, total)


def _waves(labelled: Labelled, model: risk.RiskModel) -> tuple[FloatArray, float]:
    """The chance that any wave drew each item, and the audit estimate."""
    sample, draws = labelled.sample, labelled.sample.drawn_as(WaveDraws)
    # An estimate after each label looks back at the last wave only: each look predicts the whole pool.
    last: dict[str, _Before] = _frame(labelled).memo("waves looked back at last", dict)
    before = last.get("")
    if before is None or before.digest != _digest(labelled, draws, before.waves):
        before = _Before(0, b"", np.ones(sample.population), np.zeros(sample.population, bool))
    end = int(draws.wave.max()) + 1
    while before.waves < end:
        number = before.waves
        wave = _wave(labelled, _past(sample, draws, model, number), before)
        lost = draws.lost[draws.lost_wave == number]
        before = before.and_then(wave, lost, _digest(labelled, draws, number + 1))
        if before.waves < end:
            last[""] = before
    return 1 - before.missed, before.total / len(sample) / sample.population


def _digest(labelled: Labelled, draws: WaveDraws, waves: int) -> bytes:
    """Of all that the first waves depend on."""
    inside = draws.wave < waves
    lost = draws.lost_wave < waves
    arrays = (labelled.sample.items[inside], labelled.losses[inside], draws.lost[lost], *draws.beliefs[:waves])
    plain = (waves, draws.sizes[:waves], draws.floors[:waves], draws.objective, draws.certain, labelled.task)
    found = hashlib.sha256(repr(plain).encode())
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.digest() if waves else b""


def _wave(labelled: Labelled, wave: PastWave, before: _Before) -> Wave:
    """A wave again, from the coefficients that it was drawn with."""
    at = labelled.sample.drawn_as(WaveDraws).wave
    ((_, inclusion, _),) = replay([wave], before.drawn)
    # Errors have any unit, and before the first label nothing is known about it: then nothing is predicted.
    blind = labelled.task == "regression" and not np.any(at < before.waves)
    expected, losses = wave.prospect.expected * (not blind), labelled.losses[at == before.waves]
    return Wave(wave.labelled, losses, before.drawn, before.known, expected, inclusion)


def _past(sample: Sample, draws: WaveDraws, model: risk.RiskModel, number: int) -> PastWave:
    return PastWave(
        WaveRule(draws.objective, draws.floors[number], draws.certain),
        model.prospect(model.belief(draws.beliefs[number])),
        draws.sizes[number],
        sample.items[draws.wave == number],
        draws.lost[draws.lost_wave == number],
    )
