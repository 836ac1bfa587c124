"""Probabilities of being right as log odds of being wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fieldcheck.core.types import FloatArray


def doubt(right: FloatArray, *, low: float, high: float) -> FloatArray:
    """``logit(1 - right)``, clipped to [low, high]; ``right`` is a probability per item, from 0 to 1."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.clip(np.log1p(-right) - np.log(right), low, high))


@dataclass(frozen=True)
class LiftedBy:
    """The part of a fitted variable that adds what makes its smallest possible value 0, whatever the pool."""

    lift: float
    notes: tuple[str, ...] = ()

    def finish(self, values: FloatArray) -> FloatArray:
        return values + self.lift
