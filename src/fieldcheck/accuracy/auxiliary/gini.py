"""How likely two draws from the probabilities disagree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.accuracy.auxiliary.base import AsIs, Trace
from fieldcheck.accuracy.auxiliary.traces.parts import probabilities
from fieldcheck.core.pool import formulas
from fieldcheck.core.types import FloatArray, Task


@dataclass(frozen=True)
class FittedGini(AsIs):
    """Nothing was learnt."""

    def values(self, trace: Trace) -> FloatArray:
        return formulas.gini(probabilities(trace, by=Gini.name))


@dataclass(frozen=True)
class Gini:
    """``1 - Σ p²`` over the classes (DeepGini: Feng et al., ISSTA 2020)."""

    name: ClassVar[str] = "gini"
    title: ClassVar[str] = "Gini impurity"
    paper: ClassVar[str] = "Feng et al., DeepGini, ISSTA 2020"
    tasks: ClassVar[frozenset[Task]] = frozenset({"classification"})
    needs: ClassVar[frozenset[str]] = frozenset({"probabilities"})
    needs_reference: ClassVar[frozenset[str]] = frozenset()

    def fit(self, reference: Trace | None, *, seed: int) -> FittedGini:
        return FittedGini()
