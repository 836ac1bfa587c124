"""Stratified simple random sampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.accuracy.designs.forecast import Scenario
from fieldcheck.core.draws import StratifiedDraws
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.registry import check_between
from fieldcheck.core.rng import stream
from fieldcheck.core.sample import Sample
from fieldcheck.core.types import FloatArray
from fieldcheck.numerics import intervals
from fieldcheck.numerics.sampling import partition
from fieldcheck.numerics.sampling.allocation import allocate
from fieldcheck.numerics.sampling.stratified import stratified_draw


@dataclass(frozen=True)
class Ssrs:
    """Cut the pool into strata of similar auxiliary values; label more where a stratum is large and uneven.

    Good whenever the auxiliary variable says something about failures, and hardly worse than simple random sampling
    where it does not: the robust choice among the published techniques. Every stratum gets at least one label, two
    where the budget allows.

    k
        Number of strata (the paper tried 6, 8, 10, 12). Fewer when there are fewer labels or fewer different values.
    """

    name: ClassVar[str] = "ssrs"
    title: ClassVar[str] = "Stratified simple random sampling"
    paper: ClassVar[str] = "Guerriero et al., DeepSample, ICSE 2024"
    needs: ClassVar[str] = "auxiliary"
    estimator: ClassVar[str] = "stratified"
    margins: ClassVar[tuple[float, float, float]] = (0.9, 1.0, 1.2)
    own_risk: ClassVar[bool] = False
    partitions: ClassVar[bool] = True

    auxiliary: str = "confidence"
    k: int = 10

    def __post_init__(self) -> None:
        check_between(self.name, low=1, high=1000, k=self.k)

    def half_width(self, frame: Frame, scenario: Scenario, *, labels: int, level: float) -> float:
        """The interval at the failures that are found in each stratum, with the labels that it gets."""
        strata, expected = self._strata(frame, labels), scenario.expected
        sizes = np.round(strata.sizes / scenario.share).astype(np.int64)
        counts = allocate(min(labels, int(sizes.sum())), sizes, self._wanted(frame, labels))
        if scenario.task == "regression":
            within = np.array([scenario.spread[group].mean() + expected[group].var() for group in strata.members])
            variance = float(((sizes / sizes.sum()) ** 2 * (1 / counts - 1 / sizes)) @ within)
            return scenario.half_width(variance, labels, level=level)
        found = np.array([expected[group].mean() for group in strata.members]) * counts
        lucky = np.minimum(found * scenario.found(float(found.sum())) / float(found.sum()), counts)
        low, high = intervals.stratified_binary(sizes, counts, lucky, level=level)
        return (high - low) / 2

    def _wanted(self, frame: Frame, budget: int) -> FloatArray:
        k, strata = min(self.k, budget), self._strata(frame, budget)
        return frame.memo(("neyman", self.auxiliary, k), lambda: _neyman(frame.values(self.auxiliary), strata))

    def _strata(self, frame: Frame, budget: int) -> partition.Partition:
        k = min(self.k, budget)
        return frame.memo(("kmeans", self.auxiliary, k), lambda: partition.kmeans(frame.values(self.auxiliary), k))

    def draw(self, frame: Frame, losses: FloatArray | None, *, budget: int, seed: int) -> Sample:
        k = min(self.k, budget)
        strata = self._strata(frame, budget)
        wanted = self._wanted(frame, budget)
        counts = frame.memo(("ssrs", self.auxiliary, k, budget), lambda: allocate(budget, strata.sizes, wanted))
        items, stratum = stratified_draw(strata, counts, stream(seed, "ssrs"))
        return Sample(
            frame.size,
            items,
            self.estimator,
            StratifiedDraws(stratum, strata.sizes),
        )


def _neyman(values: FloatArray, strata: partition.Partition) -> FloatArray:
    """Size times standard deviation of the auxiliary variable, one per stratum."""
    spread = [len(group) * float(np.std(values[group])) for group in strata.members]
    top = max(spread)
    return np.round(np.array(spread) / top, 12) if top > 0 else np.zeros(len(spread))
