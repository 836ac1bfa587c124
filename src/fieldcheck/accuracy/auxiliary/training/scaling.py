"""Inputs as rows of numbers of a like size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.accuracy.auxiliary.traces.parts import SingleArray, numbers
from fieldcheck.core.errors import InputsError
from fieldcheck.core.types import FloatArray


@dataclass(frozen=True, eq=False)
class Scaling:
    """Mean 0 and standard deviation 1 on the reference: of each column of rows, of all pixels of images together.

    shape
        Of one item.
    """

    shape: tuple[int, ...]
    mean: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, inputs: npt.NDArray[Any]) -> Scaling:
        """From the inputs of the reference; constant columns keep their size."""
        axis = 0 if inputs.ndim == 2 else None
        mean = np.asarray(inputs.mean(axis=axis, dtype=np.float64))
        spread = np.asarray(inputs.std(axis=axis, dtype=np.float64))
        return cls(inputs.shape[1:], mean, np.where(spread > 0, spread, 1.0))

    def rows(self, inputs: Any, *, by: str) -> SingleArray:
        """One row per item."""
        array = numbers(inputs, by=by)
        if array.shape[1:] != self.shape:
            raise InputsError(
                f"{by}: items of shape {array.shape[1:]}, the reference has {self.shape}",
                rule="the pool and the reference are prepared alike",
            )
        rows = ((array - self.mean) / self.scale).reshape(len(array), math.prod(self.shape)).astype(np.float32)
        if not np.isfinite(rows).all():
            raise InputsError(f"{by}: inputs that are not finite", rule="inputs are finite numbers")
        return rows
