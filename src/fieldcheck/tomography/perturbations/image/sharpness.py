"""Over-sharpened images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, per_item, side
from fieldcheck.tomography.perturbations.image.smooth import gaussian

_AMOUNTS = (0.5, 1.0, 2.0, 3.5, 5.0)


@dataclass(frozen=True)
class Sharpness(ImagePerturbation):
    """Over-sharpened, as cameras and phones do: .5, 1, 2, 3.5, 5 times the difference from a smoothed copy is added.

    The copy is smoothed by 2.5 % of the shorter side, at least .6 pixels (unsharp masking).

    amounts
        How much of what smoothing takes away is added, one per level, instead of these.
    """

    name: ClassVar[str] = "sharpness"
    title: ClassVar[str] = "Over-sharpened"
    paper: ClassVar[str] = "unsharp masking; Gonzalez and Woods, Digital Image Processing"

    amounts: tuple[float, ...] = ()

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        smooth = gaussian(pixels, max(0.6, 0.025 * side(pixels)))
        return pixels + per_item(self.amounts or _AMOUNTS, severity) * (pixels - smooth)
