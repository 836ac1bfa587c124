"""Rao-Hartley-Cochran sampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.accuracy.designs.base import unreachable_warning
from fieldcheck.core.draws import GroupDraws
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.registry import check_between
from fieldcheck.core.rng import stream
from fieldcheck.core.sample import Sample
from fieldcheck.core.types import FloatArray
from fieldcheck.numerics import intervals
from fieldcheck.numerics.sampling import draws


@dataclass(frozen=True)
class Rhc:
    """Split the pool at random into as many groups as there are labels and draw one item from each, by size.

    Unequal probabilities without replacement, with an unbiased variance estimate. As with SUPS, an auxiliary variable
    unrelated to failures makes it worse than simple random sampling.

    floor
        Share of the probability spread evenly over all items; 0 gives the published technique.
    """

    name: ClassVar[str] = "rhc"
    title: ClassVar[str] = "Rao-Hartley-Cochran sampling (RHC-S)"
    paper: ClassVar[str] = "Rao, Hartley, Cochran 1962; Guerriero et al., DeepSample, ICSE 2024"
    needs: ClassVar[str] = "auxiliary"
    estimator: ClassVar[str] = "rhc"

    auxiliary: str = "confidence"
    floor: float = 0.1

    def __post_init__(self) -> None:
        check_between(self.name, low=0, high=1, floor=self.floor)

    def draw(self, frame: Frame, losses: FloatArray | None, *, budget: int, seed: int) -> Sample:
        sizes = frame.memo(
            ("pps", self.auxiliary, self.floor),
            lambda: draws.pps_sizes(frame.size_measure(self.auxiliary), self.floor),
        )
        rng = stream(seed, "rhc")
        shuffled = draws.permutation(rng, frame.size)
        ends = np.arange(1, budget + 1, dtype=np.int64) * frame.size // budget  # group sizes differ by at most one
        starts = np.concatenate([[0], ends[:-1]])
        running = np.concatenate([[0], np.cumsum(sizes.whole[shuffled])])
        low, high = running[starts], running[ends]
        position = (
            np.searchsorted(running, low + (draws.uniforms(rng, budget) * (high - low)).astype(np.int64), side="right")
            - 1
        )
        # A group without any size (possible only without a floor) has no item to offer: any of its members stands for
        # it.
        empty = high == low
        position = np.where(empty, starts, np.minimum(position, ends - 1))
        items = shuffled[position]
        return Sample(
            frame.size,
            items,
            self.estimator,
            GroupDraws(
                share=np.divide(sizes.whole[items], high - low, out=np.ones(budget), where=~empty),
                group=(high - low) / sizes.total,
                group_items=ends - starts,
                least=sizes.least_probability,
                out_of_reach=intervals.out_of_reach(sizes.probability, budget),
            ),
            warnings=unreachable_warning(sizes.unreachable, frame.size),
        )
