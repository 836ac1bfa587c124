"""Simple random sampling."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.accuracy.designs.forecast import Scenario
from fieldcheck.core.draws import EqualDraws
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.rng import stream
from fieldcheck.core.sample import Sample
from fieldcheck.core.types import FloatArray
from fieldcheck.numerics import intervals
from fieldcheck.numerics.sampling import draws


@dataclass(frozen=True)
class Srs:
    """Draw items with equal chance: the honest baseline, with an exact interval, that needs nothing but the pool.

    replace
        Draw with replacement, as the papers do. Without it the same number of labels tells a little more.
    """

    name: ClassVar[str] = "srs"
    title: ClassVar[str] = "Simple random sampling"
    paper: ClassVar[str] = "textbook; baseline of all three papers"
    needs: ClassVar[str] = "nothing"
    estimator: ClassVar[str] = "mean"

    endless: ClassVar[bool] = False
    margins: ClassVar[tuple[float, float, float]] = (0.85, 1.0, 1.1)
    own_risk: ClassVar[bool] = False

    replace: bool = False

    def open_ended(self, *, careful: bool) -> Srs | None:
        """Any first part of it is a simple random sample, unless items are drawn twice."""
        return None if self.replace else self

    def ends(self, most: int) -> list[int]:
        """It is drawn at once: another budget gives other items."""
        return [most]

    def half_width(self, frame: Frame, scenario: Scenario, *, labels: int, level: float) -> float:
        """The exact interval at the expected number of failures; between two whole numbers, between theirs."""
        size = len(scenario.expected)
        if scenario.task == "regression":
            total = float(scenario.spread.mean() + scenario.expected.var())
            return scenario.half_width(total * (1 / labels - 1 / size), labels, level=level)
        failures = labels * float(scenario.expected.mean())
        whole = math.floor(failures)
        bounds = [intervals.hypergeometric(min(at, labels), labels, size, level=level) for at in (whole, whole + 1)]
        first, second = (high - low for low, high in bounds)
        return (first + (failures - whole) * (second - first)) / 2

    def draw(self, frame: Frame, losses: FloatArray | None, *, budget: int, seed: int) -> Sample:
        rng = stream(seed, "srs")
        items = (
            draws.below(rng, budget, frame.size) if self.replace else draws.without_replacement(rng, budget, frame.size)
        )
        return Sample(frame.size, items, self.estimator, EqualDraws(self.replace))
