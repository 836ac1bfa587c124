"""Simple unequal-probability sampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.accuracy.designs.base import unreachable_warning
from fieldcheck.core.draws import WeightedDraws
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.registry import check_between
from fieldcheck.core.rng import stream
from fieldcheck.core.sample import Sample
from fieldcheck.core.types import FloatArray
from fieldcheck.numerics import intervals
from fieldcheck.numerics.sampling import draws


@dataclass(frozen=True)
class Sups:
    """Draw items with probability proportional to how suspicious they look.

    Good when the auxiliary variable grows with the chance of failing: failing items are drawn often and the variance
    of the Hansen-Hurwitz estimate falls. Where the two are unrelated it does worse than simple random sampling.

    floor
        Share of the probability spread evenly over all items, in [0, 1]. It keeps every item reachable, so that the
        estimate is unbiased, and bounds the weights by ``1 / floor``. 0 gives the published technique.
    """

    name: ClassVar[str] = "sups"
    title: ClassVar[str] = "Simple unequal-probability sampling"
    paper: ClassVar[str] = "Guerriero et al., DeepSample, ICSE 2024"
    needs: ClassVar[str] = "auxiliary"
    estimator: ClassVar[str] = "hansen_hurwitz"
    replace: ClassVar[bool] = True

    auxiliary: str = "confidence"
    floor: float = 0.1

    def __post_init__(self) -> None:
        check_between(self.name, low=0, high=1, floor=self.floor)

    def draw(self, frame: Frame, losses: FloatArray | None, *, budget: int, seed: int) -> Sample:
        sizes = frame.memo(
            ("pps", self.auxiliary, self.floor),
            lambda: draws.pps_sizes(frame.size_measure(self.auxiliary), self.floor),
        )
        items = draws.pps_with_replacement(stream(seed, "sups"), budget, sizes.cumulative)
        return Sample(
            frame.size,
            items,
            self.estimator,
            WeightedDraws(
                sizes.probability[items], sizes.least_probability, intervals.out_of_reach(sizes.probability, budget)
            ),
            warnings=unreachable_warning(sizes.unreachable, frame.size),
        )
