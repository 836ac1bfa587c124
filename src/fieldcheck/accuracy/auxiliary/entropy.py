"""How spread out the probabilities are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from fieldcheck.accuracy.auxiliary.base import AsIs, Trace, Variable
from fieldcheck.accuracy.auxiliary.traces.parts import probabilities
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.types import FloatArray, Task


def entropy(probabilities: npt.NDArray[Any]) -> FloatArray:
    """Shannon entropy in nats."""
    from scipy.special import entr

    total: FloatArray = entr(np.clip(probabilities, 0.0, 1.0)).sum(axis=1, dtype=np.float64)
    return np.maximum(total, 0.0)


@dataclass(frozen=True)
class FittedEntropy(AsIs):
    """Nothing was learnt."""

    def values(self, trace: Trace) -> FloatArray:
        return entropy(probabilities(trace, by=Entropy.name))


@dataclass(frozen=True)
class Entropy(Variable):
    """Shannon entropy of the probabilities, in nats (Shannon, A mathematical theory of communication, 1948)."""

    name: ClassVar[str] = "entropy"
    title: ClassVar[str] = "Entropy"
    paper: ClassVar[str] = "Shannon 1948"
    tasks: ClassVar[frozenset[Task]] = frozenset({"classification"})
    needs: ClassVar[frozenset[str]] = frozenset({"probabilities"})
    needs_reference: ClassVar[frozenset[str]] = frozenset()
    from_probabilities: ClassVar[bool] = True

    @classmethod
    def of_pool(cls, pool: Pool) -> FloatArray | None:
        own = pool.numeric(cls.name)
        return entropy(pool.probabilities) if own is None and pool.probabilities is not None else own

    def fit(self, reference: Trace | None, *, seed: int) -> FittedEntropy:
        return FittedEntropy()
