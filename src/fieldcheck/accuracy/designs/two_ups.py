"""Two-stage unequal-probability sampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.accuracy.designs.base import unreachable_warning
from fieldcheck.core.draws import WeightedDraws
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.registry import check_between
from fieldcheck.core.rng import stream
from fieldcheck.core.sample import Sample
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.numerics import intervals
from fieldcheck.numerics.sampling import draws, partition


@dataclass(frozen=True)
class TwoUps:
    """Draw a stratum in proportion to its total size, then an item in it at random.

    Smoother than SUPS, because all items of a stratum share one probability; the auxiliary variable only has to rank
    strata.

    floor
        Share of the probability spread evenly over all items; 0 gives the published technique.
    k
        Number of strata, cut by k-means on the auxiliary variable.
    """

    name: ClassVar[str] = "2ups"
    title: ClassVar[str] = "Two-stage unequal-probability sampling (2-UPS)"
    paper: ClassVar[str] = "Guerriero et al., DeepSample, ICSE 2024"
    needs: ClassVar[str] = "auxiliary"
    estimator: ClassVar[str] = "hansen_hurwitz"
    partitions: ClassVar[bool] = True

    auxiliary: str = "confidence"
    floor: float = 0.1
    k: int = 10

    def __post_init__(self) -> None:
        check_between(self.name, low=0, high=1, floor=self.floor)
        check_between(self.name, low=1, high=1000, k=self.k)

    def draw(self, frame: Frame, losses: FloatArray | None, *, budget: int, seed: int) -> Sample:
        strata: partition.Partition = frame.memo(
            ("kmeans", self.auxiliary, self.k), lambda: partition.kmeans(frame.values(self.auxiliary), self.k)
        )
        weight = frame.memo(("2ups", self.auxiliary, self.k, self.floor), lambda: self._weights(frame, strata))
        rng = stream(seed, "2ups")
        stratum = draws.pps_with_replacement(rng, budget, np.cumsum(weight))
        items = np.empty(budget, dtype=np.int64)
        for p in np.unique(stratum).tolist():
            where = np.flatnonzero(stratum == p)
            items[where] = strata.members[p][_rounds(rng, len(where), len(strata.members[p]))]
        probability = weight / int(weight.sum()) / strata.sizes
        return Sample(
            frame.size,
            items,
            self.estimator,
            WeightedDraws(
                probability[stratum],
                float(probability.min()),
                intervals.out_of_reach(np.repeat(probability, strata.sizes), budget),
            ),
            warnings=unreachable_warning(int(strata.sizes[weight == 0].sum()), frame.size),
        )

    def _weights(self, frame: Frame, strata: partition.Partition) -> IntArray:
        """Whole-number size of each stratum: the sum of those of its items."""
        whole = draws.pps_sizes(frame.size_measure(self.auxiliary), self.floor).whole
        return np.array([whole[group].sum() for group in strata.members], dtype=np.int64)


def _rounds(rng: np.random.Generator, count: int, size: int) -> IntArray:
    """Draws without replacement; a stratum that runs empty starts over."""
    full, rest = divmod(count, size)
    rounds = [draws.without_replacement(rng, size, size) for _ in range(full)]
    return np.concatenate([*rounds, draws.without_replacement(rng, rest, size)])
