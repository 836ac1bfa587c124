"""Likelihood-based surprise adequacy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from fieldcheck.accuracy.auxiliary.base import Trace, Variable
from fieldcheck.accuracy.auxiliary.traces.by_class import ByClass, split
from fieldcheck.accuracy.auxiliary.traces.parts import reference_of
from fieldcheck.accuracy.auxiliary.traces.spread import ShiftedToZero, check_scope, shape_notes
from fieldcheck.core.pool.trait import Trait
from fieldcheck.core.types import FloatArray, Task
from fieldcheck.numerics.distance import density


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedLsa(ShiftedToZero):
    """A density per class, or one for all."""

    densities: ByClass

    def values(self, trace: Trace) -> FloatArray:
        return self.densities.values(trace, by=Lsa.name)


@dataclass(frozen=True)
class Lsa(Variable):
    """``-log f(trace)``: f a Gaussian kernel density of the reference's activation traces of the predicted class.

    Scott's bandwidth on the full covariance; neurons with a small variance, and neurons that others determine, are
    left out class by class and reported. Exact in double precision, and finite however far an item lies (Kim, Feldt
    and Yoo, Guiding deep learning system testing using surprise adequacy, ICSE 2019). Values of different batches
    agree to about 1e-12. The column of the pool is shifted so that the smallest is 0.

    scope
        ``class``: one density per predicted class; regression has one for all. ``global``: one for all.
    flat
        Neurons with a smaller variance are left out.
    """

    name: ClassVar[str] = "lsa"
    title: ClassVar[str] = "Likelihood-based surprise"
    paper: ClassVar[str] = "Kim, Feldt and Yoo, ICSE 2019"
    tasks: ClassVar[frozenset[Task]] = frozenset({"classification", "regression"})
    needs: ClassVar[frozenset[str]] = frozenset({"activations"})
    needs_reference: ClassVar[frozenset[str]] = frozenset({"activations"})
    helpful: ClassVar[bool] = True
    trait: ClassVar[Trait] = Trait(surprise=True, slope=(0.45, 0.6), error_slope=0.25, echo=True, threshold="mean+sd")

    scope: Literal["class", "global"] = "class"
    flat: float = density.FLAT

    def __post_init__(self) -> None:
        check_scope(self.name, self.scope, flat=self.flat)

    def fit(self, reference: Trace | None, *, seed: int) -> FittedLsa:
        reference = reference_of(reference, by=self.name)
        whole = self.scope == "global" or reference.task == "regression"
        parts = split(reference, whole=whole, by=self.name)
        fitted = {code: density.Density.of(part, flat=self.flat) for code, part in parts.items()}
        shapes = {code: one.shape for code, one in fitted.items()}
        judges = {code: one.surprise for code, one in fitted.items() if one.shape.dimension}
        return FittedLsa(
            notes=_bandwidths(fitted) + shape_notes(self.name, shapes, reference, whole=whole),
            densities=ByClass(judges, whole, parts[min(parts)].shape[1]),
        )


def _bandwidths(densities: dict[int, density.Density]) -> tuple[str, ...]:
    widths = np.array([one.bandwidth for one in densities.values() if one.shape.dimension])
    if not len(widths):
        return ()
    low, high = f"{widths.min():.3f}", f"{widths.max():.3f}"
    return (f"lsa: Scott's bandwidth {low}" + (f" to {high} by class" if high != low else ""),)
