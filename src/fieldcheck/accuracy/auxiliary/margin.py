"""How close the second class comes to the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from fieldcheck.accuracy.auxiliary.base import AsIs, Trace, Variable
from fieldcheck.accuracy.auxiliary.traces.parts import probabilities
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.types import FloatArray, Task


def margin(probabilities: npt.NDArray[Any]) -> FloatArray:
    """One minus the distance between the two most likely classes."""
    if probabilities.shape[1] < 2:
        return np.zeros(len(probabilities))
    top = np.partition(probabilities, -2, axis=1)[:, -2:].astype(np.float64)
    return np.clip(1 - (top[:, 1] - top[:, 0]), 0.0, 1.0)


@dataclass(frozen=True)
class FittedMargin(AsIs):
    """Nothing was learnt."""

    def values(self, trace: Trace) -> FloatArray:
        return margin(probabilities(trace, by=Margin.name))


@dataclass(frozen=True)
class Margin(Variable):
    """One minus the distance between the two most likely classes (Scheffer, Decomain and Wrobel, IDA 2001)."""

    name: ClassVar[str] = "margin"
    title: ClassVar[str] = "Margin"
    paper: ClassVar[str] = "Scheffer, Decomain and Wrobel, IDA 2001"
    tasks: ClassVar[frozenset[Task]] = frozenset({"classification"})
    needs: ClassVar[frozenset[str]] = frozenset({"probabilities"})
    needs_reference: ClassVar[frozenset[str]] = frozenset()
    from_probabilities: ClassVar[bool] = True

    @classmethod
    def of_pool(cls, pool: Pool) -> FloatArray | None:
        own = pool.numeric(cls.name)
        return margin(pool.probabilities) if own is None and pool.probabilities is not None else own

    def fit(self, reference: Trace | None, *, seed: int) -> FittedMargin:
        return FittedMargin()
