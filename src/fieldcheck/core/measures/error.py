"""How far values are from the true ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.types import BoolArray, FloatArray, Loss


@dataclass(frozen=True)
class Error:
    """Squared or absolute error.

    largest
        An absolute error above it is a failure.
    """

    name: ClassVar[str] = "error"
    raw: ClassVar[bool] = False

    kind: Loss = "squared"
    largest: float = math.inf

    def __post_init__(self) -> None:
        if self.kind not in ("squared", "absolute"):
            raise FieldcheckError(f"no loss '{self.kind}'", rule="squared or absolute")

    range = (0.0, math.inf)

    @property
    def scales(self) -> tuple[str, ...]:
        return ("1-mse", "mse", "rmse") if self.kind == "squared" else ("mae", "1-mae")

    def losses(self, outputs: Any, truths: Any) -> FloatArray:
        off = np.abs(np.asarray(truths, dtype=np.float64) - np.asarray(outputs, dtype=np.float64))
        return off**2 if self.kind == "squared" else off

    def offsets(self, losses: FloatArray) -> FloatArray:
        """The absolute errors behind losses: the root of a square is exact."""
        return np.sqrt(losses) if self.kind == "squared" else losses

    def failed(self, losses: FloatArray) -> BoolArray:
        return np.asarray(self.offsets(losses) > self.largest)
