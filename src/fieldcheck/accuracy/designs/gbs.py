"""Gradient-based sampling."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from fieldcheck.core.draws import StratifiedDraws
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.registry import check_between
from fieldcheck.core.rng import stream
from fieldcheck.core.sample import Sample
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.numerics.sampling import draws, partition


@dataclass(frozen=True)
class Gbs:
    """Label one item of every stratum, then always the stratum where one more label lowers the variance most.

    It learns from the labels where to look. For the same reason it is slightly biased, the more so the fewer the
    labels: a stratum whose first labels happen to agree is left alone with a wrong mean.

    k
        Number of strata, cut by k-means on the auxiliary variable.
    batch
        How many items are handed out before their labels are looked at.
    replace
        Draw with replacement inside a stratum, as in the paper.
    """

    name: ClassVar[str] = "gbs"
    title: ClassVar[str] = "Gradient-based sampling"
    paper: ClassVar[str] = "Guerriero et al., DeepSample, ICSE 2024, after Lv et al. 2014"
    needs: ClassVar[str] = "auxiliary"
    estimator: ClassVar[str] = "stratified"
    partitions: ClassVar[bool] = True
    caveat: ClassVar[str] = "Slightly biased: labels decide where it looks."

    auxiliary: str = "confidence"
    k: int = 10
    batch: int = 1
    replace: bool = False

    def __post_init__(self) -> None:
        check_between(self.name, low=1, high=1000, k=self.k)
        check_between(self.name, low=1, high=math.inf, batch=self.batch)

    def draw(self, frame: Frame, losses: FloatArray | None, *, budget: int, seed: int) -> Sample:
        k = min(self.k, budget)
        strata: partition.Partition = frame.memo(
            ("kmeans", self.auxiliary, k), lambda: partition.kmeans(frame.values(self.auxiliary), k)
        )
        queues = [
            _queue(group, budget, seed, stratum=p, replace=self.replace) for p, group in enumerate(strata.members)
        ]
        walk = _Walk(strata.sizes.tolist(), variance=_binary if frame.task == "classification" else _spread)
        items, stratum, complete = walk.run(
            queues, losses, budget=budget, batch=self.batch, seed=seed, replace=self.replace
        )
        return Sample(
            frame.size,
            np.array(items, dtype=np.int64),
            self.estimator,
            StratifiedDraws(np.array(stratum, dtype=np.int64), strata.sizes, self.replace, adaptive=True),
            complete=complete,
        )


def _queue(group: IntArray, budget: int, seed: int, *, stratum: int, replace: bool) -> list[int]:
    """Items of a stratum in the order in which they would be drawn, as many as the budget could ask for."""
    rng = stream(seed, "gbs", "stratum", stratum)
    count = budget if replace else min(budget, len(group))
    at = draws.below(rng, count, len(group)) if replace else draws.without_replacement(rng, count, len(group))
    queue: list[int] = group[at].tolist()
    return queue


@dataclass
class _Walk:
    """The state of one walk over the strata; it lives for one call of ``draw`` only."""

    sizes: list[int]
    variance: Callable[[int, float, float, float], float]
    labels: list[int] = field(default_factory=list)
    sums: list[float] = field(default_factory=list)
    squares: list[float] = field(default_factory=list)

    def run(
        self,
        queues: list[list[int]],
        losses: FloatArray | None,
        *,
        budget: int,
        batch: int,
        seed: int,
        replace: bool,
    ) -> tuple[list[int], list[int], bool]:
        strata = len(self.sizes)
        self.labels, self.sums, self.squares = [0] * strata, [0.0] * strata, [0.0] * strata
        coins = draws.uniforms(stream(seed, "gbs", "ties"), budget).tolist()
        items: list[int] = []
        chosen: list[int] = []
        drawn, seen = [0] * strata, 0
        room = [budget if replace else size for size in self.sizes]
        first = draws.permutation(stream(seed, "gbs", "first"), strata).tolist()
        while len(items) < budget:
            if not self._look(items, chosen, losses, start=seen):
                return items, chosen, False
            seen = len(items)
            steepness = self._steepness(drawn, room) if seen else []
            for _ in range(min(batch, budget - seen) if seen else strata):
                p = self._steepest(steepness, coins[len(items)]) if seen else first[len(items)]
                items.append(queues[p][drawn[p]])
                chosen.append(p)
                drawn[p] += 1
                if seen:
                    flatter = steepness[p] * ((drawn[p] - 1) ** 2 / drawn[p] ** 2)
                    steepness[p] = flatter if drawn[p] < room[p] else -math.inf
        return items, chosen, True

    def _look(self, items: list[int], chosen: list[int], losses: FloatArray | None, *, start: int) -> bool:
        """Take in the labels since ``start``; False when one is missing."""
        for item, p in zip(items[start:], chosen[start:], strict=True):
            loss = math.nan if losses is None else float(losses[item])
            if math.isnan(loss):
                return False
            if math.isinf(loss):  # nobody could label it
                continue
            self.labels[p] += 1
            self.sums[p] += loss
            self.squares[p] += loss * loss
        return True

    def _steepness(self, drawn: list[int], room: list[int]) -> list[float]:
        """How fast the variance of the estimate falls with one more label: ``N_p² v_p / n_p²``, one per stratum."""
        spread = self._pooled_spread()
        return [
            size * size * self.variance(labels, total, square, spread) / (n * n) if n < limit else -math.inf
            for size, n, labels, total, square, limit in zip(
                self.sizes, drawn, self.labels, self.sums, self.squares, room, strict=True
            )
        ]

    def _pooled_spread(self) -> float:
        n, total, square = sum(self.labels), sum(self.sums), sum(self.squares)
        return max(square - total * total / n, 0.0) / max(n - 1, 1) if n else 0.0

    @staticmethod
    def _steepest(steepness: list[float], coin: float) -> int:
        top = max(steepness)
        ties = [p for p, value in enumerate(steepness) if value == top]
        return ties[int(coin * len(ties))]


def _binary(n: int, total: float, square: float, spread: float) -> float:
    """θ(1-θ); while all labels of a stratum agree, θ is smoothed by one failure and one success."""
    rate = total / n if 0 < total < n else (total + 1) / (n + 2)
    return rate * (1 - rate)


def _spread(n: int, total: float, square: float, spread: float) -> float:
    """Variance of the losses of a stratum, with the variance over all strata standing in as one observation."""
    return (spread + max(square - total * total / n, 0.0)) / n if n else spread
