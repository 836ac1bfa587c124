"""An auxiliary variable."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.accuracy.auxiliary.base import AsIs, Variable


@dataclass(frozen=True)
class FittedOddness(AsIs):
    def values(self, trace):
        return np.sqrt(1 - _probabilities(trace).max(axis=1))


def _probabilities(trace):
    if trace.probabilities is None:
        from fieldcheck.core.errors import DesignError

        raise DesignError("oddness: no probabilities", rule="oddness looks at probabilities")
    return trace.probabilities


@dataclass(frozen=True)
class Oddness(Variable):
    """The root of what is missing to certainty."""

    name: ClassVar[str] = "oddness"
    title: ClassVar[str] = "Oddness"
    paper: ClassVar[str] = "a toy"
    tasks: ClassVar[frozenset] = frozenset({"classification"})
    needs: ClassVar[frozenset] = frozenset({"probabilities"})
    needs_reference: ClassVar[frozenset] = frozenset()

    @classmethod
    def of_pool(cls, pool):
        return pool.numeric(cls.name) if pool.confidence is None else np.sqrt(np.clip(1 - pool.confidence, 0, 1))

    def fit(self, reference, *, seed):
        return FittedOddness()
