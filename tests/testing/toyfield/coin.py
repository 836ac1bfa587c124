"""A design."""

from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.accuracy.designs import Srs


@dataclass(frozen=True)
class Coin(Srs):
    """Toss a coin for every item."""

    name: ClassVar[str] = "coin"
    title: ClassVar[str] = "Coin toss"
    paper: ClassVar[str] = "a toy"
    estimator: ClassVar[str] = "plain"

    def draw(self, frame, losses, *, budget, seed):
        return super().draw(frame, losses, budget=budget, seed=seed + 7)
