"""Fitted variables without a natural zero."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fieldcheck.core.types import FloatArray


@dataclass(frozen=True)
class ShiftedToZero:
    """The part of a fitted variable that moves the values of the pool so that the smallest is 0."""

    notes: tuple[str, ...] = ()

    def finish(self, values: FloatArray) -> FloatArray:
        return np.asarray(values - values.min()) if len(values) else values
