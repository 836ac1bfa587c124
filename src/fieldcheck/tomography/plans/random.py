"""Whole tests, in random order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.core.space import Space
from fieldcheck.tomography.plans.base import PAPER, Adds, Rows, all_tests, shuffled, whole_tests


@dataclass(frozen=True)
class Random:
    """Whole tests on all inputs, in random order; as many as the budget pays for."""

    name: ClassVar[str] = "random"
    title: ClassVar[str] = "Whole tests, in random order"
    paper: ClassVar[str] = PAPER
    adds: ClassVar[Adds] = "tests"
    usual: ClassVar[int | None] = None

    def rows(self, space: Space, inputs: int, *, budget: int | None, seed: int) -> Rows:
        return whole_tests(shuffled(all_tests(space), seed), inputs, budget)
