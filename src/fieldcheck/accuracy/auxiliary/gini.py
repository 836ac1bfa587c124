"""How likely two draws from the probabilities disagree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from fieldcheck.accuracy.auxiliary.traces.of_probabilities import OfProbabilities
from fieldcheck.core.types import FloatArray


@dataclass(frozen=True)
class Gini(OfProbabilities):
    """``1 - Σ p²`` over the classes (DeepGini: Feng et al., ISSTA 2020)."""

    name: ClassVar[str] = "gini"
    title: ClassVar[str] = "Gini impurity"
    paper: ClassVar[str] = "Feng et al., DeepGini, ISSTA 2020"

    @staticmethod
    def of(probabilities: npt.NDArray[Any]) -> FloatArray:
        squares = np.einsum("ij,ij->i", probabilities, probabilities, dtype=np.float64)
        return np.asarray(np.clip(1 - squares, 0.0, 1.0))
