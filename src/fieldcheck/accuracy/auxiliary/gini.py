"""How likely two draws from the probabilities disagree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from fieldcheck.accuracy.auxiliary.base import AsIs, Trace, Variable
from fieldcheck.accuracy.auxiliary.traces.parts import probabilities
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.types import FloatArray, Task


def gini(probabilities: npt.NDArray[Any]) -> FloatArray:
    """Gini impurity, ``1 - Σ p²`` (DeepGini: Feng et al., ISSTA'20)."""
    squares = np.einsum("ij,ij->i", probabilities, probabilities, dtype=np.float64)
    return np.asarray(np.clip(1 - squares, 0.0, 1.0))


@dataclass(frozen=True)
class FittedGini(AsIs):
    """Nothing was learnt."""

    def values(self, trace: Trace) -> FloatArray:
        return gini(probabilities(trace, by=Gini.name))


@dataclass(frozen=True)
class Gini(Variable):
    """``1 - Σ p²`` over the classes (DeepGini: Feng et al., ISSTA 2020)."""

    name: ClassVar[str] = "gini"
    title: ClassVar[str] = "Gini impurity"
    paper: ClassVar[str] = "Feng et al., DeepGini, ISSTA 2020"
    tasks: ClassVar[frozenset[Task]] = frozenset({"classification"})
    needs: ClassVar[frozenset[str]] = frozenset({"probabilities"})
    needs_reference: ClassVar[frozenset[str]] = frozenset()
    from_probabilities: ClassVar[bool] = True

    @classmethod
    def of_pool(cls, pool: Pool) -> FloatArray | None:
        own = pool.numeric(cls.name)
        return gini(pool.probabilities) if own is None and pool.probabilities is not None else own

    def fit(self, reference: Trace | None, *, seed: int) -> FittedGini:
        return FittedGini()
