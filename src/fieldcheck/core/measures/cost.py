"""What each confusion costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.types import BoolArray, FloatArray


@dataclass(frozen=True)
class Cost:
    """The cost of saying one class where another is true.

    costs
        By true class and what was said; what is not named costs 1, what is right nothing.
    """

    name: ClassVar[str] = "cost"
    raw: ClassVar[bool] = False

    costs: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        negative = [pair for pair, cost in self.costs.items() if not 0 <= cost < float("inf")]
        if negative:
            raise FieldcheckError(f"a cost of {self.costs[negative[0]]} for {negative[0]}", rule="finite, 0 or more")

    scales = ("cost",)

    @property
    def range(self) -> tuple[float, float]:
        return 0.0, max((1.0, *self.costs.values()))

    def losses(self, outputs: Any, truths: Any) -> FloatArray:
        pairs = zip(truths, outputs, strict=True)
        return np.array([0.0 if true == said else self.costs.get((true, said), 1.0) for true, said in pairs])

    def failed(self, losses: FloatArray) -> BoolArray:
        return losses > 0
