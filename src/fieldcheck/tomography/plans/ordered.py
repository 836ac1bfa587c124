"""Whole tests, low orders first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.core.space import Space
from fieldcheck.tomography.plans.base import PAPER, Adds, Rows, all_tests, shuffled, whole_tests


@dataclass(frozen=True)
class Ordered:
    """Whole tests on all inputs, low orders first, in random order within an order; as many as the budget pays for."""

    name: ClassVar[str] = "ordered"
    title: ClassVar[str] = "Whole tests, low orders first"
    paper: ClassVar[str] = PAPER
    adds: ClassVar[Adds] = "tests"
    usual: ClassVar[int | None] = None

    def rows(self, space: Space, inputs: int, *, budget: int | None, seed: int) -> Rows:
        tests = shuffled(all_tests(space), seed)
        return whole_tests(tests[np.argsort(space.orders(tests), kind="stable")], inputs, budget)
