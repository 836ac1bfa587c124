"""What a second model thinks of the prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.accuracy.auxiliary.base import Trace, Variable
from fieldcheck.accuracy.auxiliary.traces.log_odds import LiftedBy, doubt
from fieldcheck.accuracy.auxiliary.traces.parts import of_prediction
from fieldcheck.core.pool.trait import Trait
from fieldcheck.core.types import FloatArray, Task

LOW, HIGH = -7.0, 5.0


@dataclass(frozen=True)
class FittedMember(LiftedBy):
    """Nothing was learnt here: the second model was, elsewhere."""

    def values(self, trace: Trace) -> FloatArray:
        return doubt(of_prediction(trace, "member", by=Member.name), low=LOW, high=HIGH)


@dataclass(frozen=True)
class Member(Variable):
    """``logit(1 - p[ŷ])`` within [-7, 5]: an independent model is asked about the prediction ŷ of the one under test.

    The strongest single signal where the second model was trained for the drift that is expected (augmentations,
    another architecture, other data). Useless when its error is over 1.4 times that of the model under test, and two
    models may fail together. It must not have been trained on items of the pool. After Lakshminarayanan et al.,
    Simple and scalable predictive uncertainty estimation using deep ensembles, NeurIPS 2017. The column is 7 more,
    so that it starts at 0.
    """

    name: ClassVar[str] = "member"
    title: ClassVar[str] = "Doubt of a second model"
    paper: ClassVar[str] = "fieldcheck; ensembles: Lakshminarayanan et al., NeurIPS 2017"
    tasks: ClassVar[frozenset[Task]] = frozenset({"classification"})
    needs: ClassVar[frozenset[str]] = frozenset({"member"})
    needs_reference: ClassVar[frozenset[str]] = frozenset()
    helpful: ClassVar[bool] = True
    trait: ClassVar[Trait] = Trait(slope=(0.25, 0.57))

    def fit(self, reference: Trace | None, *, seed: int) -> FittedMember:
        return FittedMember(-LOW)
