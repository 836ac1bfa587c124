"""How close the second class comes to the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from fieldcheck.accuracy.auxiliary.traces.of_probabilities import OfProbabilities
from fieldcheck.core.types import FloatArray


@dataclass(frozen=True)
class Margin(OfProbabilities):
    """One minus the distance between the two most likely classes (Scheffer, Decomain and Wrobel, IDA 2001)."""

    name: ClassVar[str] = "margin"
    title: ClassVar[str] = "Margin"
    paper: ClassVar[str] = "Scheffer, Decomain and Wrobel, IDA 2001"

    @staticmethod
    def of(probabilities: npt.NDArray[Any]) -> FloatArray:
        if probabilities.shape[1] < 2:
            return np.zeros(len(probabilities))
        top = np.partition(probabilities, -2, axis=1)[:, -2:].astype(np.float64)
        return np.clip(1 - (top[:, 1] - top[:, 0]), 0.0, 1.0)
