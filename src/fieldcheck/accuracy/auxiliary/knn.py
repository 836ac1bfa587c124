"""How far away the nearest things that the model knows are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.accuracy.auxiliary.base import AsIs, Trace, Variable
from fieldcheck.accuracy.auxiliary.traces.parts import activations, reference_of
from fieldcheck.core.registry import check_between
from fieldcheck.core.types import FloatArray, Task
from fieldcheck.numerics.distance.neighbours import Neighbours


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedKnn(AsIs):
    """Traces of the reference, ready to be searched."""

    neighbours: Neighbours
    k: int

    def values(self, trace: Trace) -> FloatArray:
        traces = activations(trace, by=Knn.name, columns=self.neighbours.columns)
        return self.neighbours.nearest(traces, self.k)[1][:, -1].copy()


@dataclass(frozen=True)
class Knn(Variable):
    """Euclidean distance of the activation trace to the k-th nearest trace of the reference, of any class.

    Exact in double precision (Sun et al., Out-of-distribution detection with deep nearest neighbors, ICML 2022; there
    with activations scaled to length 1).

    k
        Which neighbour; the last one where the reference has fewer.
    """

    name: ClassVar[str] = "knn"
    title: ClassVar[str] = "Distance to the k-th nearest neighbour"
    paper: ClassVar[str] = "Sun et al., ICML 2022"
    tasks: ClassVar[frozenset[Task]] = frozenset({"classification", "regression"})
    needs: ClassVar[frozenset[str]] = frozenset({"activations"})
    needs_reference: ClassVar[frozenset[str]] = frozenset({"activations"})

    k: int = 10

    def __post_init__(self) -> None:
        check_between(self.name, low=1, high=1_000, k=self.k)

    def fit(self, reference: Trace | None, *, seed: int) -> FittedKnn:
        reference = reference_of(reference, by=self.name)
        traces = activations(reference, by=self.name)
        k = min(self.k, len(traces))
        notes = (f"knn: the reference has {k:,} items: k is {k}",) if k < self.k else ()
        return FittedKnn(notes=notes, neighbours=Neighbours.of(traces), k=k)
