"""How wide the interval of a design will be, before labels are paid for: what a design that can be forecast says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

from fieldcheck.accuracy.designs.base import Design
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.types import FloatArray, Task
from fieldcheck.numerics.intervals import wilson


@dataclass(frozen=True, eq=False)
class Scenario:
    """What is expected of every item: mean and variance of its loss, one per item each."""

    expected: FloatArray
    spread: FloatArray
    task: Task

    def half_width(self, variance: float, labels: int, *, level: float) -> float:
        """Of an interval with this variance; in units of the mean for losses without a limit."""
        mean, z = float(self.expected.mean()), wilson.critical(labels, level)
        if self.task == "regression":
            low, high = wilson.log_bounds(mean, variance, z=z)
            return (high - low) / (2 * mean)
        low, high = wilson.effective_wilson(mean, variance, labels, z=z)
        return (high - low) / 2 if variance > 0 else 0.0


@runtime_checkable
class Forecastable(Design, Protocol):
    """A design whose half-width can be forecast.

    margins
        What the half-width is multiplied with where things go well, as expected, and badly; measured on published
        pools (``benchmarks/slices_and_plan.py``).
    own_risk
        Whether its half-width depends on how well its own auxiliary variables tell items apart.
    """

    margins: ClassVar[tuple[float, float, float]]
    own_risk: ClassVar[bool]

    def half_width(self, frame: Frame, scenario: Scenario, *, labels: int, level: float) -> float: ...
