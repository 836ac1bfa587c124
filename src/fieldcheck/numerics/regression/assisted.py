"""The mean loss of a population from labels, the chance with which every item was drawn, and a risk model."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fieldcheck.numerics.regression.risk import RiskModel

FloatArray = npt.NDArray[np.float64]


IntArray = npt.NDArray[np.int64]


FOLDS = 5


USELESS = 0.5
"""Chance before any label that signals are worth nothing: as likely as not, for the interval that rests on them."""


@dataclass(frozen=True, eq=False)
class Assisted:
    """The mean of the predicted losses, whose level is put right by what the labels say.

    expected
        One per item: m, the predicted loss after all labels.
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
    useless
        Chance that the signals are worth nothing, by the labels.
    """

    expected: FloatArray
    value: float
    seen: float
    foreseen: float
    rate: float
    unseen: float
    useless: float


def assisted(model: RiskModel, items: IntArray, losses: FloatArray, *, chance: FloatArray) -> Assisted:
    """From labels in random order.

    items, losses
        One per label.
    chance
        One per item of the population.
    """
    size, at = len(chance), chance[items]
    belief, *held_out = model.fits(items, losses, _parts(len(items)))
    expected = model.expected(belief)
    shifted = model.shifted(expected, calibrating_shift(model, expected[items], losses, 1 / at))
    crossed = np.empty(len(items))
    for number, one in enumerate(held_out):
        crossed[number::FOLDS] = model.expected(one, items[number::FOLDS])
    seen = float(((1 - at) / at**2 * (losses - crossed) ** 2).sum()) / size**2
    dispersion = float(((losses - crossed) ** 2).sum() / max(float((crossed**2).sum()), 1e-300))
    spread = model.spread(shifted, dispersion=dispersion)
    return Assisted(
        expected,
        _possible(float(shifted.mean()), losses, size, family=model.family),
        seen,
        float((spread * (1 / chance - 1)).sum()) / size**2,
        hit_rate(float(np.average(chance, weights=expected))),
        unseen_rate(expected, chance),
        model.useless(items, losses, belief.evidence, before=USELESS),
    )


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
    weight = left / _rates(chance)  # 0 where an item was drawn for sure
    return float(left.sum() / weight.sum()) if weight.any() else math.inf


def _rates(chance: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log1p(-chance))


def sparsest_rates(chance: FloatArray) -> FloatArray:
    """Mean hit rate over the one, two, three, ... items with the smallest chances."""
    rates = np.sort(_rates(chance))
    return np.asarray(np.cumsum(rates) / np.arange(1, len(rates) + 1))


def _parts(labels: int) -> npt.NDArray[np.bool_]:
    """All labels, then all but each fold; labels of a wave are in random order, so are the folds."""
    fold = np.arange(labels) % FOLDS
    return np.concatenate([np.ones((1, labels), dtype=bool), fold != np.arange(min(FOLDS, labels))[:, None]])


def _possible(value: float, losses: FloatArray, size: int, *, family: str) -> float:
    """Labelled items need no inference: they bound a failure rate from both sides."""
    known = float(losses.sum()) / size
    top = known + 1 - len(losses) / size if family == "bernoulli" else math.inf
    return min(max(value, known), top)
