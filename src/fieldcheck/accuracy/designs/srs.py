"""Simple random sampling."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace as changed
from itertools import pairwise
from typing import ClassVar

import numpy as np

from fieldcheck.accuracy.designs.forecast import Scenario
from fieldcheck.core.draws import EqualDraws
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.rng import stream
from fieldcheck.core.sample import Sample
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.numerics import intervals
from fieldcheck.numerics.sampling import draws


@dataclass(frozen=True)
class Srs:
    """Draw items with equal chance: the honest baseline, with an exact interval, that needs nothing but the pool.

    replace
        Draw with replacement, as the papers do. Without it the same number of labels tells a little more.
    earlier
        Budgets that were extended, joined by ``+``: what was drawn for them stays.
    """

    name: ClassVar[str] = "srs"
    title: ClassVar[str] = "Simple random sampling"
    paper: ClassVar[str] = "textbook; baseline of all three papers"
    needs: ClassVar[str] = "nothing"
    estimator: ClassVar[str] = "mean"

    endless: ClassVar[bool] = False
    margins: ClassVar[tuple[float, float, float]] = (1.0, 1.0, 1.0)
    own_risk: ClassVar[bool] = False

    replace: bool = False
    earlier: tuple[int, ...] = ()

    def open_ended(self, *, careful: bool) -> Srs | None:
        """Any first part of it is a simple random sample, unless items are drawn twice."""
        return None if self.replace else self

    def extended(self, earlier: tuple[int, ...]) -> Srs:
        """Further items at random, from those that are left."""
        return changed(self, earlier=earlier)

    def ends(self, most: int) -> list[int]:
        """It is drawn at once: another budget gives other items."""
        return [most]

    def half_width(self, frame: Frame, scenario: Scenario, *, labels: int, level: float) -> float:
        """The exact interval at the number of failures that is found."""
        size = scenario.population
        if scenario.task == "regression":
            total = float(scenario.spread.mean() + scenario.expected.var())
            return scenario.half_width(total * (1 / labels - 1 / size), labels, level=level)
        failures = min(int(scenario.found(labels * scenario.rate)), labels)
        low, high = intervals.hypergeometric(failures, labels, size, level=level)
        return (high - low) / 2

    def draw(self, frame: Frame, losses: FloatArray | None, *, budget: int, seed: int) -> Sample:
        budgets = [*(one for one in self.earlier if one < budget), budget]
        items = np.zeros(0, dtype=np.int64)
        for number, (before, now) in enumerate(pairwise([0, *budgets])):
            rng = stream(seed, "srs", *([number] if number else []))
            items = np.concatenate([items, self._further(rng, items, now - before, frame.size)])
        return Sample(frame.size, items, self.estimator, EqualDraws(self.replace))

    def _further(self, rng: np.random.Generator, drawn: IntArray, count: int, size: int) -> IntArray:
        if self.replace:
            return draws.below(rng, count, size)
        if not len(drawn):
            return draws.without_replacement(rng, count, size)
        # The k-th of those that are left, without a list of them: as many earlier ones are skipped as were drawn.
        before = np.sort(drawn) - np.arange(len(drawn))
        chosen = draws.without_replacement(rng, count, size - len(drawn))
        return np.asarray(chosen + np.searchsorted(before, chosen, side="right"))
