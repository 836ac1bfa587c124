"""Whether a value is near enough to the true one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.types import BoolArray, FloatArray


@dataclass(frozen=True)
class Tolerance:
    """Loss 1 where a value is more than ``largest`` from the true one, or no number."""

    name: ClassVar[str] = "tolerance"
    raw: ClassVar[bool] = False

    largest: float = 0.0

    def __post_init__(self) -> None:
        if not self.largest >= 0:
            raise SpaceError(f"a tolerance of {self.largest}", rule="0 or more")

    scales = ("accuracy",)
    range = (0.0, 1.0)

    def losses(self, outputs: Any, truths: Any) -> FloatArray:
        said = np.asarray(outputs, dtype=np.float64).reshape(-1)
        near = np.abs(said - np.asarray(truths, dtype=np.float64)) <= self.largest
        return np.asarray(~near, dtype=np.float64)

    def failed(self, losses: FloatArray) -> BoolArray:
        return losses > 0.5
