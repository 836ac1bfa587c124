"""The mean loss of a population from labels, the chance with which every item was drawn, and a risk model."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from fieldcheck.numerics.exact import ExactSum, GatheredRows, Range, scan, summed
from fieldcheck.numerics.regression.believed import SettledWave, inside, missed
from fieldcheck.numerics.regression.population import Population
from fieldcheck.numerics.regression.risk import Belief, RiskModel, RiskRule
from fieldcheck.numerics.types import FloatArray, IntArray

FOLDS = 5


USELESS = 0.5
"""Chance before any label that signals are worth nothing: as likely as not, for the interval that rests on them."""


HEAVY = 0.75
"""Share of the variance. A failure that makes up less raises the lower bound; with one that makes up more it may fall:
the spread grows faster than the estimate."""


FEW = 1 << 16
"""Up to so many items, the smallest chances are known one by one; of more, how many lie in each of as many classes."""


_MANTISSA, _LOWEST = 12, -40
"""Classes of rates: so many leading bits of each, from ``2**_LOWEST`` on."""


class ItemChances(Protocol):
    """The chance of every item to be drawn, and labelled; it is sent to where the items are."""

    def look(self, rule: RiskRule, part: Population) -> tuple[FloatArray, tuple[ExactSum, ...]]:
        """One per item of a part, and sums for the audit form."""
        ...


@dataclass(frozen=True, eq=False)
class GivenChances:
    """As they were given: from a part to one per item."""

    chance: Callable[[Population], FloatArray]

    def look(self, rule: RiskRule, part: Population) -> tuple[FloatArray, tuple[ExactSum, ...]]:
        return self.chance(part), ()


@dataclass(frozen=True, eq=False)
class AnyWave:
    """By any of some waves.

    drawn
        By wave, the positions of the items that were drawn before it, in order.
    audited
        Waves of which the audit form asks for the sum of the losses expected then, of all items not drawn before.
    """

    waves: tuple[SettledWave, ...]
    drawn: tuple[IntArray, ...]
    audited: tuple[int, ...] = ()

    def look(self, rule: RiskRule, part: Population) -> tuple[FloatArray, tuple[ExactSum, ...]]:
        expected = {number: rule.expected(self.waves[number].belief, part) for number in self.audited}
        sums = (ExactSum.of(own[~inside(self.drawn[number], part)]) for number, own in expected.items())
        return 1 - missed(self.waves, rule, part, expected), tuple(sums)

    def chance(self, rule: RiskRule, part: Population) -> FloatArray:
        """One per item of a part."""
        return 1 - missed(self.waves, rule, part)


@dataclass(frozen=True, eq=False)
class Assisted:
    """The mean of the predicted losses, whose level is put right by what the labels say.

    belief
        After all labels: m is the loss that it predicts.
    value
        The mean of m after its intercept was shifted so that ``Σ_s (y - m)/π = 0``: the calibrated estimate (Wu and
        Sitter, JASA 2001), between 0 and 1 for losses that are. Within 3 % of the error of the difference estimate
        ``(1/N) [Σ m + Σ_s (y - m)/π]``, which can leave that range.
    seen, foreseen
        Variance of ``value`` as the labels show it (cross-fitted), and as the shifted model expects it.
    rate
        How densely labels were drawn where losses are expected: a Poisson number with this mean hits such an item.
    unseen
        The same where losses are expected that no label showed: its inverse is the mean of the inverse rates, since
        what counts is how much such an item would weigh.
    least
        ``sparsest_rates``, of all items or of as many even parts.
    lowest
        The smallest chance.
    useless
        Chance that the signals are worth nothing, by the labels.
    fitted
        As ``seen``, by the labels that the prediction was made from.
    foreseen_plain
        As ``foreseen``, before the shift and for a dispersion of 1.
    audit
        Sums that the chances were asked for.
    lighter
        What would have been found if the failure that weighs most had been a right answer; None where that one does
        not make up most of ``seen``.
    """

    belief: Belief
    value: float
    seen: float
    foreseen: float
    rate: float
    unseen: float
    least: FloatArray
    lowest: float
    useless: float
    fitted: float
    foreseen_plain: float
    audit: tuple[float, ...]
    lighter: Assisted | None


def assisted(
    model: RiskModel, items: IntArray, losses: FloatArray, *, chances: ItemChances, at: FloatArray
) -> Assisted:
    """From labels in random order.

    items, losses, at
        One per label; the last is its chance.
    """
    size = model.population.size
    fits = [_Fitted.to(model, items, losses, at)]
    while (lighter := fits[-1].lighter) is not None:
        fits.append(_Fitted.to(model, items, lighter, at))
    look = _Look(model.rule, tuple(one.reading for one in fits), chances, few=size <= FEW)
    sums, audit, rates, lowest = scan(model.population, _look, look)
    least = sparsest_rates(rates.columns[0]) if isinstance(rates, GatheredRows) else _sparsest(rates, size)
    found: list[Assisted] = []
    for fit, own in zip(reversed(fits), reversed(sums), strict=True):
        shifted, foreseen, expected, left, heavy, plain = map(float, own)
        one = Assisted(
            fit.reading.belief,
            _possible(shifted / size, fit.losses, size, family=model.family),
            float(fit.terms.sum()) / size**2,
            foreseen / size**2,
            hit_rate(1 - left / expected),
            left / heavy if heavy else math.inf,
            least,
            lowest.low,
            model.useless(items, fit.losses, fit.reading.belief.evidence, before=USELESS),
            float(((1 - at) / at**2 * (fit.losses - fit.expected) ** 2).sum()) / size**2,
            plain / size**2,
            tuple(map(float, audit)),
            found[-1] if found else None,
        )
        found.append(one)
    return found[-1]


@dataclass(frozen=True, eq=False)
class _Reading:
    """How some losses are read: what is believed after them, the shift that puts its level right, the dispersion."""

    belief: Belief
    shift: float
    dispersion: float


@dataclass(frozen=True, eq=False)
class _Fitted:
    """A risk model after some losses.

    expected
        Loss, one per label.
    terms
        What each label adds to the variance, by what the labels of other folds say of it.
    lighter
        The losses to compare with, if any.
    """

    reading: _Reading
    losses: FloatArray
    expected: FloatArray
    terms: FloatArray
    lighter: FloatArray | None

    @classmethod
    def to(cls, model: RiskModel, items: IntArray, losses: FloatArray, at: FloatArray) -> _Fitted:
        belief, *held_out = model.fits(items, losses, _parts(len(items)))
        own = model.rule.likely(belief, model.population.take(items))
        crossed = np.empty(len(items))
        for number, one in enumerate(held_out):
            crossed[number::FOLDS] = model.expected(one, items[number::FOLDS])
        dispersion = float(((losses - crossed) ** 2).sum() / max(float((crossed**2).sum()), 1e-300))
        terms = (1 - at) / at**2 * (losses - crossed) ** 2
        reading = _Reading(belief, calibrating_shift(model, own, losses, 1 / at), dispersion)
        lighter = _lighter(losses, terms) if model.family == "bernoulli" else None
        return cls(reading, losses, own, terms, lighter)


def _lighter(losses: FloatArray, terms: FloatArray) -> FloatArray | None:
    """The losses without the failure that makes up most of the variance, where there is one, and others beside it.

    terms
        What each label adds to the variance.
    """
    heaviest = int(np.argmax(terms))
    if terms[heaviest] <= HEAVY * terms.sum() or not 0 < losses[heaviest] < losses.sum():
        return None
    return np.where(np.arange(len(losses)) == heaviest, 0.0, losses)


@dataclass(frozen=True, eq=False)
class _Look:
    rule: RiskRule
    readings: tuple[_Reading, ...]
    chances: ItemChances
    few: bool


def _look(
    part: Population, look: _Look
) -> tuple[tuple[tuple[ExactSum, ...], ...], tuple[ExactSum, ...], GatheredRows | IntArray, Range]:
    """A step: all sums that the estimate and its intervals are made of, and how densely items were drawn."""
    rule = look.rule
    chance, audit = look.chances.look(rule, part)
    missed, rates = 1 - chance, hit_rates(chance)
    inverse = 1 / chance - 1
    sums = []
    for one in look.readings:
        expected = rule.likely(one.belief, part)
        shifted = rule.shifted(expected, one.shift)
        left = expected * missed
        columns = (
            shifted,
            rule.spread(shifted, dispersion=one.dispersion) * inverse,
            expected,
            left,
            left / rates,  # 0 where an item was drawn for sure
            rule.spread(expected) * inverse,
        )
        sums.append(summed(*columns))
    dense = GatheredRows((chance,)) if look.few else _classes(rates)
    return tuple(sums), audit, dense, Range.of(chance)


def calibrating_shift(model: RiskModel, expected: FloatArray, losses: FloatArray, weights: FloatArray) -> float:
    """Where the weighted predictions add up to the weighted losses; infinite when no finite shift does it.

    expected, losses, weights
        One per label.
    """
    wanted = float(weights @ losses)
    if wanted <= 0:
        return -math.inf
    if model.family == "gamma":
        return math.log(wanted / float(weights @ expected))
    if wanted >= float(weights.sum()):
        return math.inf
    low, high = -60.0, 60.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if weights @ model.shifted(expected, middle) > wanted else (middle, high)
    return (low + high) / 2


def hit_rate(chance: float) -> float:
    """Mean of a Poisson number that is above 0 with this chance."""
    return -math.log1p(-chance) if chance < 1 else math.inf


def unseen_rate(expected: FloatArray, chance: FloatArray) -> float:
    """How densely labels were drawn where losses are expected that none showed; ``Assisted`` has the words."""
    left = expected * (1 - chance)
    weight = left / hit_rates(chance)  # 0 where an item was drawn for sure
    return float(left.sum() / weight.sum()) if weight.any() else math.inf


def hit_rates(chance: FloatArray) -> FloatArray:
    """``hit_rate``, one per chance."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log1p(-chance))


def sparsest_rates(chance: FloatArray) -> FloatArray:
    """Mean hit rate over the one, two, three, ... items with the smallest chances."""
    rates = np.sort(hit_rates(chance))
    return np.asarray(np.cumsum(rates) / np.arange(1, len(rates) + 1))


def _classes(rates: FloatArray) -> IntArray:
    """How many rates lie in each class: those with the same leading bits."""
    shift, first = 52 - _MANTISSA, (1023 + _LOWEST) << _MANTISSA
    at = (np.clip(rates, 2.0**_LOWEST, 2.0**10).view(np.int64) >> shift) - first
    return np.bincount(at, minlength=((10 - _LOWEST) << _MANTISSA) + 1)


def _sparsest(counts: IntArray, size: int) -> FloatArray:
    """``sparsest_rates`` over ``FEW`` even parts, by the middle of each class."""
    bits = (np.arange(len(counts)) + ((1023 + _LOWEST) << _MANTISSA) << (52 - _MANTISSA)) + (1 << (51 - _MANTISSA))
    rates, ends = bits.view(np.float64), np.cumsum(counts)
    sums = np.cumsum(counts * rates)
    wanted = (np.arange(1, FEW + 1) * size) // FEW
    at = np.searchsorted(ends, wanted)
    return np.asarray((sums[at] - (ends[at] - wanted) * rates[at]) / wanted)


def _parts(labels: int) -> npt.NDArray[np.bool_]:
    """All labels, then all but each fold; labels of a wave are in random order, so are the folds."""
    fold = np.arange(labels) % FOLDS
    return np.concatenate([np.ones((1, labels), dtype=bool), fold != np.arange(min(FOLDS, labels))[:, None]])


def _possible(value: float, losses: FloatArray, size: int, *, family: str) -> float:
    """Labelled items need no inference: they bound a failure rate from both sides."""
    failing = float(losses.sum())
    # One division, so that failures without end are a rate of exactly 1: the intervals know it by that.
    top = (failing + size - len(losses)) / size if family == "bernoulli" else math.inf
    return min(max(value, failing / size), top)
