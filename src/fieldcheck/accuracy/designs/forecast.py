"""How wide the interval of a design will be, before labels are paid for: what a design that can be forecast says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

from fieldcheck.accuracy.designs.base import Design
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.types import FloatArray, Task
from fieldcheck.numerics.intervals import moments, wilson


@dataclass(frozen=True, eq=False)
class Scenario:
    """A world that may be: how often each item fails in it, and how lucky a campaign is.

    expected, spread
        Mean and variance of the loss, one per item of the frame each.
    population
        Items of the pool; the frame may hold a part of them, spread evenly over all risks.
    luck
        Between 0 and 1: share of campaigns in which fewer failures are found.
    """

    expected: FloatArray
    spread: FloatArray
    task: Task
    population: int
    luck: float = 0.5

    @property
    def rate(self) -> float:
        """Mean loss."""
        return float(self.expected.mean())

    @property
    def share(self) -> float:
        """Of the pool that the frame holds."""
        return len(self.expected) / self.population

    def found(self, failures: float) -> float:
        """Whole failures that such luck finds where so many are expected."""
        return float(round(moments.gamma_quantile(failures, failures * (1 - self.rate), q=self.luck)))

    def half_width(self, variance: float, labels: int, *, level: float) -> float:
        """Of losses without a limit: an interval with this variance, in units of the mean."""
        low, high = wilson.log_bounds(self.rate, variance, z=wilson.critical(labels, level))
        return (high - low) / (2 * self.rate)


@runtime_checkable
class Forecastable(Design, Protocol):
    """A design whose half-width can be forecast.

    margins
        What the best, the middle and the worst half-width of all scenarios are multiplied with; chosen on pools of our
        own (``benchmarks/plan_study.py``).
    own_risk
        Whether its half-width depends on how well its own auxiliary variables tell items apart.
    """

    margins: ClassVar[tuple[float, float, float]]
    own_risk: ClassVar[bool]

    def half_width(self, frame: Frame, scenario: Scenario, *, labels: int, level: float) -> float: ...
