"""The model-assisted estimate of a mean, from labels and the chance with which every item was drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fieldcheck.numerics.regression.risk import RiskModel

FloatArray = npt.NDArray[np.float64]


IntArray = npt.NDArray[np.int64]


FOLDS = 5


@dataclass(frozen=True, eq=False)
class Assisted:
    """``(1/N) [Σ m + Σ_s (y - m)/π]`` (Särndal, Swensson and Wretman 1992).

    expected
        One per item: m, the predicted loss after all labels.
    seen, foreseen
        Variance of ``value`` as the labels show it (cross-fitted), and as the model expects it.
    """

    expected: FloatArray
    value: float
    seen: float
    foreseen: float


def assisted(model: RiskModel, items: IntArray, losses: FloatArray, *, chance: FloatArray) -> Assisted:
    """From labels in random order.

    items, losses
        One per label.
    chance
        One per item of the population.
    """
    size = len(chance)
    expected = model.expected(model.linear(model.fit(items, losses)))
    at = chance[items]
    value = float(expected.sum() + ((losses - expected[items]) / at).sum()) / size
    held_out = _cross_fitted(model, items, losses)
    seen = float(((1 - at) / at**2 * (losses - held_out) ** 2).sum()) / size**2
    dispersion = float(((losses - held_out) ** 2).sum() / max(float((held_out**2).sum()), 1e-300))
    spread = model.spread(expected, dispersion=dispersion)
    return Assisted(expected, value, seen, float((spread * (1 / chance - 1)).sum()) / size**2)


def _cross_fitted(model: RiskModel, items: IntArray, losses: FloatArray) -> FloatArray:
    """Prediction for each label from a fit without its fold; labels of a wave are in random order, so are the folds."""
    fold = np.arange(len(items)) % FOLDS
    held_out = np.empty(len(items))
    for number in range(min(FOLDS, len(items))):
        there = fold == number
        belief = model.fit(items[~there], losses[~there])
        held_out[there] = model.expected(model.linear(belief, items[there]))
    return held_out
