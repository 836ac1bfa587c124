"""What labels say about the signals themselves: useless, reversed, leaking, badly calibrated, constant.

Each question is a contest of two models of the labels, by their marginal likelihoods: the usual risk model, which
believes in the signals, against one that does not. If the first is right, the ratio ever reaches 40 in favour of the
other with a chance of at most 1/40, however often one looks (it is a nonnegative martingale). Which items were drawn
does not matter, as long as it was decided by signals and earlier labels. For useless signals 5 is enough: with eight
failures there is rarely more to see where they are useless, and where they are not the ratio stayed under 1/5 in every
campaign that was tried (``benchmarks/signals_judged.py``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from fieldcheck.numerics import special
from fieldcheck.numerics.exact import ExactSum, Range, scan, summed
from fieldcheck.numerics.regression.features import Features
from fieldcheck.numerics.regression.population import Population
from fieldcheck.numerics.regression.priors import model_of
from fieldcheck.numerics.regression.risk import RiskModel
from fieldcheck.numerics.types import FloatArray, IntArray

LIMIT, LIMIT_USELESS = math.log(40), math.log(5)


ABOUT = math.log(10)
"""By how much an explanation may be less likely and still be about as good: nobody knows where the threshold lies."""


ENOUGH, ENOUGH_TO_LEAK = 8, 5
"""Failures (and right answers) from which on signals are judged."""


ERROR = 0.01
"""How often a signal that gives away the outcome may still be off."""


_FEW = 100
"""A variable with fewer values may stand for a class."""


@dataclass(frozen=True)
class Judgement:
    """What is wrong with the signals, as far as the labels tell.

    useless
        They do not tell failures from right answers.
    reversed
        Failures are where they say that all is safe.
    leaking
        Names of those that (nearly) give away the outcome, as if they had been computed from it.
    calibration
        The model fails more often than 1 - confidence says ("over-confident"), less often, or neither is sure.
    constant
        Names of those that are the same for all items.
    """

    useless: bool = False
    reversed: bool = False
    leaking: tuple[str, ...] = ()
    calibration: Literal["over-confident", "under-confident"] | None = None
    constant: tuple[str, ...] = ()


def judged(population: Population, items: IntArray, failed: FloatArray) -> Judgement:
    """From the labels so far.

    items, failed
        One per label: its position, and 1 where it is a failure.
    """
    ranges = population.memo("ranges", lambda: scan(population, _ranges, None))
    constant = tuple(name for name, one in zip(population.auxiliary, ranges, strict=True) if one.low == one.high)
    known = [name for name in population.auxiliary if name not in constant]
    least = int(min(failed.sum(), (1 - failed).sum()))
    if not known or least < ENOUGH_TO_LEAK:
        return Judgement(constant=constant)
    model = _classless(population)
    usual = model.evidence(items, failed)
    part = population.take(items)

    def leaks(name: str) -> bool:
        """Better than the risk model explains it; or about as well, where the risk model without this signal cannot.

        The latter is seen with five failures, but not asked of the confidence: a good one tells as much.
        """
        evidence = leak_evidence(part.auxiliary[name], failed, part.predictions)
        if name == "confidence" or evidence < usual - ABOUT:
            return evidence - usual >= LIMIT + math.log(len(known))
        without = _classless(population.only([other for other in known if other != name]))
        return evidence - without.evidence(items, failed) >= LIMIT + math.log(len(known))

    leaking = tuple(filter(leaks, known))
    if least < ENOUGH:
        return Judgement(leaking=leaking, constant=constant)
    level = model.blind()
    flat, turned = (one.evidence(items, failed) for one in (level, _turned(model, level)))
    against = turned - max(usual, flat) >= LIMIT
    return Judgement(
        useless=not against and flat - usual >= LIMIT_USELESS,
        reversed=against,
        leaking=leaking,
        calibration=_calibration(part.auxiliary["confidence"], failed) if "confidence" in known else None,
        constant=constant,
    )


def _classless(population: Population) -> RiskModel:
    """The usual risk model, without effects of classes."""
    model = model_of(population)
    return replace(model, rule=replace(model.rule, groups=0))


def _ranges(part: Population, _: None) -> tuple[Range, ...]:
    return tuple(map(Range.of, part.auxiliary.values()))


@dataclass(frozen=True, eq=False)
class _Centred:
    """Features, each counted from its mean."""

    features: Features
    means: tuple[float, ...]

    @property
    def key(self) -> str:
        return f"{self.features.key} from {self.means}"

    def columns(self, part: Population) -> list[FloatArray]:
        return [column - mean for column, mean in zip(self.features.columns(part), self.means, strict=True)]


def _column_sums(part: Population, features: Features) -> tuple[ExactSum, ...]:
    return summed(*features.columns(part))


def _turned(model: RiskModel, level: RiskModel) -> RiskModel:
    """All slopes the other way round; ``level`` is the same without signals."""
    items, features = model.population, model.rule.features
    sums = items.memo(("sums", features), lambda: scan(items, _column_sums, features))
    means = tuple(float(one) / items.size for one in sums)
    return replace(
        model,
        rule=replace(model.rule, features=items.memo(("centred", features), lambda: _Centred(features, means))),
        mean=np.concatenate([level.mean, -model.mean[1:]]),
        sd=np.concatenate([level.sd, model.sd[1:]]),
    )


def _calibration(doubt: FloatArray, failed: FloatArray) -> Literal["over-confident", "under-confident"] | None:
    """Whether 1 - confidence, one per label, can be the chance to fail: against any straight line of log odds."""
    at = np.clip(doubt, 1e-6, 0.999)
    features = np.column_stack([np.ones(len(at)), special.logit(at)])
    line = RiskModel.given(features, np.array([0.0, 1.0]), np.array([1.5, 0.5]))
    stated = float((failed * np.log(at) + (1 - failed) * np.log1p(-at)).sum())
    if line.evidence(np.arange(len(at)), failed) - stated < LIMIT:
        return None
    return "over-confident" if failed.sum() > at.sum() else "under-confident"


def leak_evidence(values: FloatArray, failed: FloatArray, classes: IntArray | None) -> float:
    """Logarithm of the chance of the labels if the variable gives them away, by a threshold or value by value.

    values, failed, classes
        One per label.
    """
    found = [_threshold_evidence(values, failed)]
    if len(np.unique(values)) <= min(_FEW, len(values) // 2):
        found.append(_value_evidence(values, failed, classes))
    return float(special.logsumexp(found)) - math.log(len(found))


def _threshold_evidence(values: FloatArray, failed: FloatArray) -> float:
    """Failures are those above a threshold, but for a few; all places of the threshold are equally likely."""
    order = np.argsort(values, kind="stable")
    ordered, y = values[order], failed[order]
    wrong_below = np.concatenate([[0.0], np.cumsum(y)])
    off = wrong_below + np.concatenate([np.cumsum((1 - y)[::-1])[::-1], [0.0]])
    places = np.concatenate([[True], ordered[1:] > ordered[:-1], [True]])
    logs = off * math.log(ERROR) + (len(y) - off) * math.log1p(-ERROR)
    return float(special.logsumexp(logs[places])) - math.log(len(y) + 1)


def _value_evidence(values: FloatArray, failed: FloatArray, classes: IntArray | None) -> float:
    """Labels of one value (and predicted class) agree, but for a few: the first of each decides about the others."""
    kind = np.unique(values, return_inverse=True)[1]
    kind = kind if classes is None else kind * (int(classes.max()) + 1) + classes
    kind = np.unique(kind, return_inverse=True)[1]
    count, wrong = np.bincount(kind), np.bincount(kind, weights=failed)
    rate, firm = (failed.sum() + 1) / (len(failed) + 2), 4 * ERROR
    a, b = firm * rate, firm * (1 - rate)
    return float((special.betaln(a + wrong, b + count - wrong) - special.betaln(a, b)).sum())
