"""How spread out the probabilities are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.accuracy.auxiliary.base import AsIs, Trace
from fieldcheck.accuracy.auxiliary.traces.parts import probabilities
from fieldcheck.core.pool import formulas
from fieldcheck.core.types import FloatArray, Task


@dataclass(frozen=True)
class FittedEntropy(AsIs):
    """Nothing was learnt."""

    def values(self, trace: Trace) -> FloatArray:
        return formulas.entropy(probabilities(trace, by=Entropy.name))


@dataclass(frozen=True)
class Entropy:
    """Shannon entropy of the probabilities, in nats (Shannon, A mathematical theory of communication, 1948)."""

    name: ClassVar[str] = "entropy"
    title: ClassVar[str] = "Entropy"
    paper: ClassVar[str] = "Shannon 1948"
    tasks: ClassVar[frozenset[Task]] = frozenset({"classification"})
    needs: ClassVar[frozenset[str]] = frozenset({"probabilities"})
    needs_reference: ClassVar[frozenset[str]] = frozenset()

    def fit(self, reference: Trace | None, *, seed: int) -> FittedEntropy:
        return FittedEntropy()
