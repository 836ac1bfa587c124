"""What the variables that are a function of the probabilities share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy.typing as npt

from fieldcheck.accuracy.auxiliary.base import AsIs, Trace, Variable
from fieldcheck.accuracy.auxiliary.traces.parts import probabilities
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.types import FloatArray, Task


@dataclass(frozen=True)
class OfProbabilities(Variable):
    """One value per item from the probabilities of its classes; nothing is learnt."""

    tasks: ClassVar[frozenset[Task]] = frozenset({"classification"})
    needs: ClassVar[frozenset[str]] = frozenset({"probabilities"})
    needs_reference: ClassVar[frozenset[str]] = frozenset()
    from_probabilities: ClassVar[bool] = True

    @staticmethod
    @abstractmethod
    def of(probabilities: npt.NDArray[Any]) -> FloatArray:
        """One value per row."""

    @classmethod
    def of_pool(cls, pool: Pool) -> FloatArray | None:
        """The column of its name, else from the probabilities."""
        own = pool.numeric(cls.name)
        return cls.of(pool.probabilities) if own is None and pool.probabilities is not None else own

    def fit(self, reference: Trace | None, *, seed: int) -> Unfitted:
        return Unfitted(variable=self)


@dataclass(frozen=True, kw_only=True)
class Unfitted(AsIs):
    """The variable itself: nothing was learnt."""

    variable: OfProbabilities

    def values(self, trace: Trace) -> FloatArray:
        return self.variable.of(probabilities(trace, by=self.variable.name))
