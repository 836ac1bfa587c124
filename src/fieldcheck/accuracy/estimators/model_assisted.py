"""The model-assisted estimator: predict the whole pool, then correct the prediction by what the labels say."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from fieldcheck.accuracy.estimators.base import ItemFit, ItemRule, ItemValues, MeanLoss
from fieldcheck.accuracy.estimators.chances import WaveChances
from fieldcheck.core import words
from fieldcheck.core.draws import Draws, PoolChances, PooledDraws, WaveDraws
from fieldcheck.core.errors import SampleError
from fieldcheck.core.interval import Basis, Interval
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.sample import Labelled
from fieldcheck.core.types import FloatArray
from fieldcheck.numerics.intervals import protected
from fieldcheck.numerics.regression import assisted, believed, priors, risk

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
        fit = labelled.memo("fit", lambda: Fit.of(labelled))
        both = [fit.trusting(level), fit.protected(level)]
        if isinstance(labelled.sample.draws, WaveDraws) and labelled.sample.draws.objective == "protected":
            both.reverse()
        return MeanLoss(
            value=fit.value,
            variance=fit.variance,
            interval=both[0],
            beside=both[1],
            audit=fit.audit,
            make_items=lambda: fit.items,
        )

    def chances(self, labelled: Labelled) -> PoolChances:
        if isinstance(labelled.sample.draws, PooledDraws):
            return labelled.sample.draws.chance
        model = _model(labelled)
        return WaveChances(_frame(labelled), model.rule, _Past.of(labelled, model).unaudited)


@dataclass(frozen=True, eq=False)
class Fit:
    """What the labels say about every item.

    found
        The estimate and what it rests on.
    chances
        Probability of every item that any wave drew it (and that it was labelled).
    at
        The same of the labelled ones: one per draw.
    """

    labelled: Labelled
    model: risk.RiskModel
    found: assisted.Assisted
    chances: assisted.ItemChances
    at: FloatArray
    audit: float = math.nan

    @classmethod
    def of(cls, labelled: Labelled) -> Fit:
        frame, items, losses = _frame(labelled), labelled.sample.items, labelled.losses
        model = _model(labelled)
        if isinstance(labelled.sample.draws, PooledDraws):
            chance = labelled.sample.draws.chance
            known, at = assisted.GivenChances(chance.sent(frame)), chance.at(items)
            return cls(labelled, model, assisted.assisted(model, items, losses, chances=known, at=at), known, at)
        past = _Past.of(labelled, model)
        at = past.chances.chance(model.rule, frame.take(items))
        found = assisted.assisted(model, items, losses, chances=past.chances, at=at)
        audit = past.audit(labelled, model, found.audit)
        # Where all are known, both are the truth.
        audit = found.value if len(items) == frame.size else audit
        return cls(labelled, model, found, past.unaudited, at, audit)

    @property
    def value(self) -> float:
        """The calibrated estimate; of losses without a limit the audit form, where there is one.

        An item whose loss turns out large raises its own chance in later waves, which weighs it down: with losses
        without a limit that is a bias of a tenth to a fifth of the error of a random sample.
        """
        if self.model.family == "bernoulli" or math.isnan(self.audit):
            return self.found.value
        return max(self.audit, float(self.labelled.losses.sum()) / self.population)

    @property
    def population(self) -> int:
        return self.labelled.sample.population

    @cached_property
    def items(self) -> ItemFit:
        """What it says about every item."""
        rule = _Assisted(self.model.rule, self.found.belief, self._wider, self.chances)
        expected = self.model.expected(self.found.belief, self.labelled.sample.items)
        drawn = ItemValues(expected, rule.spread(expected), self.at)
        return ItemFit(_frame(self.labelled), rule, drawn, self._optimism)

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
        return self._evidence(self.found, self.value, float(self.labelled.losses.sum()))

    def _evidence(self, found: assisted.Assisted, value: float, failures: float) -> protected.MeanEvidence:
        return protected.MeanEvidence(
            value,
            found.seen,
            found.foreseen,
            least=found.least,
            typical=found.rate,
            unseen=found.unseen,
            useless=found.useless,
            failures=failures,
            labels=self.labels,
            population=self.population,
            lighter=self._evidence(found.lighter, found.lighter.value, failures - 1) if found.lighter else None,
        )

    @property
    def _wider(self) -> float:
        """By how much variances of losses are larger than the model has them."""
        if self.model.family == "bernoulli" or self.found.foreseen_plain <= 0:
            return 1.0
        # Losses without a limit have a dispersion that the fit took from the labels: it is in what it foresees.
        return self.foreseen / self.found.foreseen_plain

    @property
    def _optimism(self) -> float:
        """By how much the prediction fits the labels that it was made from better than others."""
        return max(1.0, self.seen / self.found.fitted) if self.found.fitted > 0 else 1.0

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
        draws, worth = self.labelled.sample.draws, self.found.lowest * self.population
        exposing = isinstance(draws, WaveDraws) and draws.objective == "expose" and self.model.family == "bernoulli"
        if not exposing or min(worth, self.labels) >= FEW or self.labels == self.population:
            return found
        why = (
            f"where items look safest, these labels are worth {words.counted(round(worth), 'label')} of a random sample"
        )
        return replace(found, trusted=False, note=f"{why}; objective=protected is made for it")

    def _interval(self, bounds: tuple[float, float], level: float, method: str, *, note: str, basis: Basis) -> Interval:
        if self.labels == self.population:
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


def _model(labelled: Labelled) -> risk.RiskModel:
    draws = labelled.sample.draws
    return priors.model_of(_frame(labelled), draws.facts if isinstance(draws, WaveDraws) else priors.UNKNOWN)


@dataclass(frozen=True, eq=False)
class _Assisted(ItemRule):
    """What a risk model says, and the chances of the waves.

    wider
        By how much variances of losses are larger than the model has them.
    """

    rule: risk.RiskRule
    belief: risk.Belief
    wider: float
    chances: assisted.ItemChances

    def of(self, part: Frame) -> ItemValues:
        expected = self.rule.expected(self.belief, part)
        return ItemValues(expected, self.spread(expected), self.chances.look(self.rule, part)[0])

    def spread(self, expected: FloatArray) -> FloatArray:
        return self.rule.spread(expected) * self.wider


@dataclass(frozen=True, eq=False)
class _Past:
    """The waves of a sample, looked back at.

    known
        By wave, what the audit form needs of it that was worked out before: the same for every label that comes after.
    """

    chances: assisted.AnyWave
    known: dict[bytes, float]
    keys: tuple[bytes, ...]

    @classmethod
    def of(cls, labelled: Labelled, model: risk.RiskModel) -> _Past:
        sample, draws = labelled.sample, labelled.sample.drawn_as(WaveDraws)
        waves, drawn, keys = [], [], []
        for number in range(int(draws.wave.max()) + 1):
            share = np.count_nonzero(draws.wave == number) / draws.sizes[number]
            belief, floor, scales = model.belief(draws.beliefs[number]), draws.floors[number], draws.scales[number]
            waves.append(believed.SettledWave.stored(belief, draws.objective, floor, scales, share))
            lost = draws.lost[draws.lost_wave < number]
            drawn.append(np.sort(np.concatenate([sample.items[draws.wave < number], lost])))
            keys.append(draws.beliefs[number].tobytes() + drawn[-1].tobytes())
        # An estimate after each label looks back at the last wave only: each look predicts the whole pool.
        known: dict[bytes, float] = _frame(labelled).memo("waves looked back at", dict)
        missing = tuple(number for number, key in enumerate(keys) if key not in known)
        return cls(assisted.AnyWave(tuple(waves), tuple(drawn), missing), known, tuple(keys))

    @property
    def unaudited(self) -> assisted.AnyWave:
        """The chances alone."""
        return replace(self.chances, audited=())

    def audit(self, labelled: Labelled, model: risk.RiskModel, sums: tuple[float, ...]) -> float:
        """The audit estimate: by each wave the sum of all losses, those known before and the prediction of the others,
        put right by its labels; weighted by how many these are."""
        self.known.update(zip((self.keys[number] for number in self.chances.audited), sums, strict=True))
        at, items, losses = labelled.sample.drawn_as(WaveDraws).wave, labelled.sample.items, labelled.losses
        frame, total = _frame(labelled), 0.0
        for number, wave in enumerate(self.chances.waves):
            now, before = at == number, losses[at < number]
            expected = model.expected(wave.belief, items[now])
            # Errors have any unit, and before the first label nothing is known about it: then nothing is predicted.
            used = labelled.task == "classification" or bool(len(before))
            correction = (losses[now] - expected * used) / wave.inclusion(model.rule, expected)
            rest = self.known[self.keys[number]] * used
            total += int(now.sum()) * (float(before.sum()) + rest + float(correction.sum()))
        return total / len(items) / frame.size
