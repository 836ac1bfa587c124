"""Simple random sampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.core.draws import EqualDraws
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.rng import stream
from fieldcheck.core.sample import Sample
from fieldcheck.core.types import FloatArray
from fieldcheck.numerics.sampling.draws import below, without_replacement


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

    replace: bool = False

    def draw(self, frame: Frame, losses: FloatArray | None, *, budget: int, seed: int) -> Sample:
        rng = stream(seed, "srs")
        items = below(rng, budget, frame.size) if self.replace else without_replacement(rng, budget, frame.size)
        return Sample(frame.size, items, self.estimator, EqualDraws(self.replace))
