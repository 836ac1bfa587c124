"""How unsure the model is of its prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.accuracy.auxiliary.base import AsIs, Trace, Variable
from fieldcheck.accuracy.auxiliary.traces.parts import probabilities
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.pool.trait import Trait
from fieldcheck.core.types import FloatArray, Task


@dataclass(frozen=True)
class FittedConfidence(AsIs):
    """Nothing was learnt."""

    def values(self, trace: Trace) -> FloatArray:
        return np.asarray(1 - probabilities(trace, by=Confidence.name).max(axis=1))


@dataclass(frozen=True)
class Confidence(Variable):
    """``1 - max p``: what is missing to certainty (Li et al., ESEC/FSE 2019).

    Models are often sure and wrong, most of all on data unlike those they were trained on: thousands of items may
    have exactly 0.
    """

    name: ClassVar[str] = "confidence"
    title: ClassVar[str] = "Lack of confidence"
    paper: ClassVar[str] = "Li et al., Boosting operational DNN testing efficiency, ESEC/FSE 2019"
    tasks: ClassVar[frozenset[Task]] = frozenset({"classification"})
    needs: ClassVar[frozenset[str]] = frozenset({"probabilities"})
    needs_reference: ClassVar[frozenset[str]] = frozenset()
    helpful: ClassVar[bool] = True
    trait: ClassVar[Trait] = Trait(threshold=0.3)

    @classmethod
    def of_pool(cls, pool: Pool) -> FloatArray | None:
        return pool.numeric(cls.name) if pool.confidence is None else np.clip(1 - pool.confidence, 0.0, 1.0)

    def fit(self, reference: Trace | None, *, seed: int) -> FittedConfidence:
        return FittedConfidence()
