"""Distance-based surprise adequacy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from fieldcheck.accuracy.auxiliary.base import AsIs, Trace, Variable
from fieldcheck.accuracy.auxiliary.traces.by_class import missing_classes, orphans_note
from fieldcheck.accuracy.auxiliary.traces.parts import SingleArray, activations, codes, reference_of
from fieldcheck.core.pool.trait import Trait
from fieldcheck.core.types import FloatArray, IntArray, Task
from fieldcheck.numerics.distance.neighbours import Neighbours
from fieldcheck.numerics.distance.packing import coincide

TOUCHING = 1e-3
"""Where traces of two classes coincide, both distances grow by this share of the largest distance from the centre."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedDsa(AsIs):
    """Traces of the reference, ready to be searched.

    known
        Per trace of the reference, its distance to the nearest of another class; nan where nobody asked yet. It only
        saves time: values do not depend on what was asked before.
    """

    neighbours: Neighbours
    classes: IntArray
    from_item: bool
    known: FloatArray = field(repr=False)

    def values(self, trace: Trace) -> FloatArray:
        traces = activations(trace, by=Dsa.name, columns=self.neighbours.columns)
        nearest, inner = self._nearest(traces, codes(trace, by=Dsa.name))
        if self.from_item:
            outer = self.neighbours.nearest_other(traces, self.classes[nearest])[1][:, 0]
        else:
            outer = self._gap(nearest)
        return self._ratio(inner, outer)

    def _nearest(self, traces: SingleArray, said: IntArray) -> tuple[IntArray, FloatArray]:
        """The nearest reference trace of the same class, or of any where the class has none; and how far it is."""
        index, distance = self.neighbours.nearest(traces, within=said)
        nearest, inner = index[:, 0], distance[:, 0]
        lost = np.flatnonzero(nearest < 0)
        if len(lost):
            found, away = self.neighbours.nearest(traces[lost])
            nearest[lost], inner[lost] = found[:, 0], away[:, 0]
        return nearest, inner

    def _gap(self, nearest: IntArray) -> FloatArray:
        """From each of these reference traces to the nearest one of another class."""
        new = np.unique(nearest[np.isnan(self.known[nearest])])
        if len(new):
            points = self.neighbours.packing.points[new]
            self.known[new] = self.neighbours.nearest_other(points, self.classes[new])[1][:, 0]
        return self.known[nearest]

    def _ratio(self, inner: FloatArray, outer: FloatArray) -> FloatArray:
        radius = self.neighbours.packing.scale
        outer = np.where(np.isinf(outer), radius, outer)
        lift = np.where(outer > 0, 0.0, TOUCHING * radius)
        return np.asarray((inner + lift) / (outer + lift))


@dataclass(frozen=True)
class Dsa(Variable):
    """``dist_a / dist_b`` over activation traces: how far the item is from its class, beside how near others are.

    dist_a: from the item to the nearest reference trace of the same predicted class. dist_b: from that trace to the
    nearest of any other class. Distances are Euclidean and exact (double precision); of equally near traces the first
    counts (Kim, Feldt and Yoo, Guiding deep learning system testing using surprise adequacy, ICSE 2019).

    Where dist_b is 0 both get a thousandth of the largest distance from the centre of the reference. With one class
    only, dist_b is that largest distance. A class that the reference lacks is taken to be that of the nearest trace.

    from_item
        Measure dist_b from the item (Guerriero et al., DeepSample, ICSE 2024).
    """

    name: ClassVar[str] = "dsa"
    title: ClassVar[str] = "Distance-based surprise"
    paper: ClassVar[str] = "Kim, Feldt and Yoo, ICSE 2019"
    tasks: ClassVar[frozenset[Task]] = frozenset({"classification"})
    needs: ClassVar[frozenset[str]] = frozenset({"activations"})
    needs_reference: ClassVar[frozenset[str]] = frozenset({"activations"})
    helpful: ClassVar[bool] = True
    trait: ClassVar[Trait] = Trait(surprise=True, slope=(0.75, 0.6), echo=True)

    from_item: bool = False

    def fit(self, reference: Trace | None, *, seed: int) -> FittedDsa:
        reference = reference_of(reference, by=self.name)
        traces, classes = activations(reference, by=self.name), codes(reference, by=self.name)
        return FittedDsa(
            notes=_notes(reference, traces, classes),
            neighbours=Neighbours.of(traces, classes),
            classes=classes,
            from_item=self.from_item,
            known=np.full(len(traces), np.nan),
        )


def _notes(reference: Trace, traces: SingleArray, classes: IntArray) -> tuple[str, ...]:
    notes = orphans_note(Dsa.name, missing_classes(reference), why="the reference lacks")
    if len(np.unique(classes)) == 1:
        notes += ("dsa: the reference has one class: distances are in units of its largest distance from the centre",)
    if coincide(traces, classes):
        notes += (
            "dsa: reference traces of different classes coincide: where dist_b is 0, both distances get "
            f"{TOUCHING:g} of the largest distance from the centre",
        )
    return notes
