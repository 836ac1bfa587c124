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

    endless: ClassVar[bool] = False

    replace: bool = False

    def open_ended(self, *, careful: bool) -> Srs | None:
        """Any first part of it is a simple random sample, unless items are drawn twice."""
        return None if self.replace else self

    def ends(self, most: int) -> list[int]:
        """It is drawn at once: another budget gives other items."""
        return [most]

    def draw(self, frame: Frame, losses: FloatArray | None, *, budget: int, seed: int) -> Sample:
        rng = stream(seed, "srs")
        items = below(rng, budget, frame.size) if self.replace else without_replacement(rng, budget, frame.size)
        return Sample(frame.size, items, self.estimator, EqualDraws(self.replace))
