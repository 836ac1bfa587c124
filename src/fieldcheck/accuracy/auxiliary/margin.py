"""How close the second class comes to the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.accuracy.auxiliary.base import AsIs, Trace
from fieldcheck.accuracy.auxiliary.traces.parts import probabilities
from fieldcheck.core.pool import formulas
from fieldcheck.core.types import FloatArray, Task


@dataclass(frozen=True)
class FittedMargin(AsIs):
    """Nothing was learnt."""

    def values(self, trace: Trace) -> FloatArray:
        return formulas.margin(probabilities(trace, by=Margin.name))


@dataclass(frozen=True)
class Margin:
    """One minus the distance between the two most likely classes (Scheffer, Decomain and Wrobel, IDA 2001)."""

    name: ClassVar[str] = "margin"
    title: ClassVar[str] = "Margin"
    paper: ClassVar[str] = "Scheffer, Decomain and Wrobel, IDA 2001"
    tasks: ClassVar[frozenset[Task]] = frozenset({"classification"})
    needs: ClassVar[frozenset[str]] = frozenset({"probabilities"})
    needs_reference: ClassVar[frozenset[str]] = frozenset()

    def fit(self, reference: Trace | None, *, seed: int) -> FittedMargin:
        return FittedMargin()
