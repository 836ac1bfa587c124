"""Images out of focus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, by_group, side
from fieldcheck.tomography.perturbations.image.smooth import gaussian

_SHARES = (0.0125, 0.02, 0.03, 0.045, 0.065)


@dataclass(frozen=True)
class GaussianBlur(ImagePerturbation):
    """Smoothed with a Gaussian of 1.25, 2, 3, 4.5, 6.5 % of the shorter side (.4 to 2.1 pixels on 32).

    On images under about 24 pixels it is a little wider, from .3 pixels on: a narrower one would change nothing.
    CURE-TSD publishes videos, not widths: these are ours.

    amounts
        Deviations, as shares of the shorter side, one per level, instead of these.
    """

    name: ClassVar[str] = "gaussian-blur"
    title: ClassVar[str] = "Out of focus"
    paper: ClassVar[str] = "after Temel et al., CURE-TSR, 2017"

    amounts: tuple[float, ...] = ()

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        return by_group(pixels, severity, lambda some, level: gaussian(some, self._deviation(level, side(some))))

    def _deviation(self, level: int, shorter: int) -> float:
        if self.amounts:
            return max(self.amounts[level - 1] * shorter, 0.25)
        return max(_SHARES[level - 1] * shorter, 0.25 + 0.05 * level)
