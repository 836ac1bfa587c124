"""Every test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.core.space import Space
from fieldcheck.tomography.plans.base import PAPER, Adds, Rows, all_tests, same_inputs


@dataclass(frozen=True)
class Full:
    """Every test, on the same inputs."""

    name: ClassVar[str] = "full"
    title: ClassVar[str] = "Every test"
    paper: ClassVar[str] = PAPER
    adds: ClassVar[Adds] = "inputs"
    usual: ClassVar[int | None] = None

    def rows(self, space: Space, inputs: int, *, budget: int | None, seed: int) -> Rows:
        return same_inputs(all_tests(space), inputs, budget, seed)
