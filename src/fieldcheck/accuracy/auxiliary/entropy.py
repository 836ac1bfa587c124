"""How spread out the probabilities are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from fieldcheck.accuracy.auxiliary.traces.of_probabilities import OfProbabilities
from fieldcheck.core.types import FloatArray


@dataclass(frozen=True)
class Entropy(OfProbabilities):
    """Shannon entropy of the probabilities, in nats (Shannon, A mathematical theory of communication, 1948)."""

    name: ClassVar[str] = "entropy"
    title: ClassVar[str] = "Entropy"
    paper: ClassVar[str] = "Shannon 1948"

    @staticmethod
    def of(probabilities: npt.NDArray[Any]) -> FloatArray:
        from scipy.special import entr

        total: FloatArray = entr(np.clip(probabilities, 0.0, 1.0)).sum(axis=1, dtype=np.float64)
        return np.maximum(total, 0.0)
