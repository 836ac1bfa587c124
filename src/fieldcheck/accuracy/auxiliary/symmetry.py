"""Whether the model says the same about the mirrored item."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.accuracy.auxiliary.base import Trace, Variable
from fieldcheck.accuracy.auxiliary.traces.log_odds import LiftedBy, doubt
from fieldcheck.accuracy.auxiliary.traces.parts import of_prediction
from fieldcheck.core.types import FloatArray, Task

LOW, HIGH = math.log(1e-6 / (1 - 1e-6)), math.log(0.999 / 0.001)
"""Within what the risk model of adaptive waves can tell apart in a confidence."""


@dataclass(frozen=True)
class FittedSymmetry(LiftedBy):
    """Nothing was learnt."""

    def values(self, trace: Trace) -> FloatArray:
        both = of_prediction(trace, by=Symmetry.name) + of_prediction(trace, "mirrored", by=Symmetry.name)
        return doubt(0.5 * both, low=LOW, high=HIGH)


@dataclass(frozen=True)
class Symmetry(Variable):
    """``logit(1 - ½(p[ŷ] + p'[ŷ]))``, p' the probabilities of the item under a symmetry of the data.

    A confidence with a second look. Only a true symmetry helps, one that keeps the label, such as a flip of photos;
    other copies dilute it. After Ayhan and Berens, Test-time data augmentation for estimation of heteroscedastic
    aleatoric uncertainty, MIDL 2018. The values are clipped as a confidence between 1e-6 and .999 would be, and the
    column starts at 0.
    """

    name: ClassVar[str] = "symmetry"
    title: ClassVar[str] = "Doubt over the item and its mirror image"
    paper: ClassVar[str] = "fieldcheck; test-time augmentation: Ayhan and Berens, MIDL 2018"
    tasks: ClassVar[frozenset[Task]] = frozenset({"classification"})
    needs: ClassVar[frozenset[str]] = frozenset({"probabilities", "mirrored"})
    needs_reference: ClassVar[frozenset[str]] = frozenset()
    helpful: ClassVar[bool] = True

    def fit(self, reference: Trace | None, *, seed: int) -> FittedSymmetry:
        return FittedSymmetry(-LOW)
