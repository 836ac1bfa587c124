"""Mahalanobis-distance-based surprise adequacy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from fieldcheck.accuracy.auxiliary.base import AsIs, Trace, Variable
from fieldcheck.accuracy.auxiliary.traces.by_class import ByClass, split
from fieldcheck.accuracy.auxiliary.traces.parts import reference_of
from fieldcheck.accuracy.auxiliary.traces.spread import check_scope, shape_notes
from fieldcheck.core.types import FloatArray, Task
from fieldcheck.numerics.distance import density


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedMdsa(AsIs):
    """An ellipsoid per class, or one for all."""

    shapes: ByClass

    def values(self, trace: Trace) -> FloatArray:
        return self.shapes.values(trace, by=Mdsa.name)


@dataclass(frozen=True)
class Mdsa(Variable):
    """Mahalanobis distance of the activation trace from the reference's mean of the predicted class.

    With the covariance of that class; neurons with a small variance, and neurons that others determine, are left out
    class by class and reported (Kim, Ju, Feldt and Yoo, Reducing DNN labelling cost using surprise adequacy, ESEC/FSE
    2020). Values of different batches agree to about 1e-12.

    scope
        ``class``: one mean and covariance per predicted class; regression has one for all. ``global``: one for all.
    flat
        Neurons with a smaller variance are left out.
    """

    name: ClassVar[str] = "mdsa"
    title: ClassVar[str] = "Mahalanobis surprise"
    paper: ClassVar[str] = "Kim, Ju, Feldt and Yoo, ESEC/FSE 2020"
    tasks: ClassVar[frozenset[Task]] = frozenset({"classification", "regression"})
    needs: ClassVar[frozenset[str]] = frozenset({"activations"})
    needs_reference: ClassVar[frozenset[str]] = frozenset({"activations"})

    scope: Literal["class", "global"] = "class"
    flat: float = density.FLAT

    def __post_init__(self) -> None:
        check_scope(self.name, self.scope, flat=self.flat)

    def fit(self, reference: Trace | None, *, seed: int) -> FittedMdsa:
        reference = reference_of(reference, by=self.name)
        whole = self.scope == "global" or reference.task == "regression"
        parts = split(reference, whole=whole, by=self.name)
        shapes = {code: density.Ellipsoid.of(part, flat=self.flat) for code, part in parts.items()}
        judges = {code: shape.distance for code, shape in shapes.items() if shape.dimension}
        return FittedMdsa(
            notes=shape_notes(self.name, shapes, reference, whole=whole),
            shapes=ByClass(judges, whole, parts[min(parts)].shape[1]),
        )
