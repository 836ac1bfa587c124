"""All tests of orders up to two: the paper's choice."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.space import Space
from fieldcheck.core.types import IntArray
from fieldcheck.tomography.plans.base import PAPER, Adds, Rows, count_of_order, low_orders, same_inputs, space_filling


@dataclass(frozen=True)
class Pairs:
    """All tests of orders 0, 1 and 2, on the same inputs.

    share
        Of the tests of orders 3 and 4, this share is added, far from each other.
    """

    name: ClassVar[str] = "pairs"
    title: ClassVar[str] = "All tests of orders up to two"
    paper: ClassVar[str] = PAPER
    adds: ClassVar[Adds] = "inputs"
    usual: ClassVar[int | None] = None

    share: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise SpaceError(f"pairs: share={self.share}", rule="a share is between 0 and 1")

    def rows(self, space: Space, inputs: int, *, budget: int | None, seed: int) -> Rows:
        low = low_orders(space, 2)
        tests = np.concatenate([low, *(self._further(space, order, seed) for order in (3, 4))])
        return same_inputs(tests, inputs, budget, seed)

    def _further(self, space: Space, order: int, seed: int) -> IntArray:
        total = count_of_order(space, order)
        return space_filling(space, order, math.ceil(self.share * total), seed=seed)
