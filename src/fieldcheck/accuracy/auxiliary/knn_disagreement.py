"""Whether items that look alike have the label that was predicted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.accuracy.auxiliary.base import AsIs, Trace, Variable
from fieldcheck.accuracy.auxiliary.traces.parts import codes, features, needed, reference_of
from fieldcheck.core.pool.trait import Trait
from fieldcheck.core.registry import check_between
from fieldcheck.core.types import FloatArray, IntArray, Task
from fieldcheck.numerics.distance.neighbours import Neighbours


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedKnnDisagreement(AsIs):
    """Features of the reference, ready to be searched, with their labels."""

    neighbours: Neighbours
    labels: IntArray
    k: int

    def values(self, trace: Trace) -> FloatArray:
        said = codes(trace, by=KnnDisagreement.name)
        seen = features(trace, by=KnnDisagreement.name, columns=self.neighbours.columns)
        found, _ = self.neighbours.nearest(seen, self.k)
        return np.asarray((self.labels[found] != said[:, None]).mean(axis=1))


@dataclass(frozen=True)
class KnnDisagreement(Variable):
    """Share of the k nearest reference items, in the inputs or in external features, whose label is not ŷ.

    It knows nothing of the model: where the two err together, it is silent. Good where distances between inputs mean
    something, as between small grey images. After Papernot and McDaniel, Deep k-nearest neighbors, 2018, who look at
    the model's own layers.

    k
        How many neighbours; all where the reference has fewer.
    """

    name: ClassVar[str] = "knn_disagreement"
    title: ClassVar[str] = "Disagreement of the nearest neighbours"
    paper: ClassVar[str] = "fieldcheck; after Papernot and McDaniel, 2018"
    tasks: ClassVar[frozenset[Task]] = frozenset({"classification"})
    needs: ClassVar[frozenset[str]] = frozenset({"features"})
    needs_reference: ClassVar[frozenset[str]] = frozenset({"features", "labels"})
    helpful: ClassVar[bool] = True
    trait: ClassVar[Trait] = Trait(slope=(0.3, 0.57))

    k: int = 10

    def __post_init__(self) -> None:
        check_between(self.name, low=1, high=1_000, k=self.k)

    def fit(self, reference: Trace | None, *, seed: int) -> FittedKnnDisagreement:
        reference = reference_of(reference, by=self.name)
        labels = np.asarray(needed(reference, "labels", by=self.name)).astype(np.int64)
        k = min(self.k, len(labels))
        notes = (f"knn_disagreement: the reference has {k:,} items: k is {k}",) if k < self.k else ()
        return FittedKnnDisagreement(
            notes=notes, neighbours=Neighbours.of(features(reference, by=self.name)), labels=labels, k=k
        )
