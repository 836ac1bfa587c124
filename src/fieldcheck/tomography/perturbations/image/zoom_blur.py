"""Images taken while the camera moves towards the object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import IntArray
from fieldcheck.tomography.perturbations.image.affine import Affine
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, by_group

_LARGEST = (1.08, 1.14, 1.2, 1.28, 1.38)
_LOOKS = 8


@dataclass(frozen=True)
class ZoomBlur(ImagePerturbation):
    """The mean of eight images, enlarged about the centre by 1 up to 1.08, 1.14, 1.2, 1.28, 1.38.

    amounts
        Largest factors, one per level, instead of these.
    """

    name: ClassVar[str] = "zoom-blur"
    title: ClassVar[str] = "Blurred towards the centre"
    paper: ClassVar[str] = "after Hendrycks and Dietterich, ICLR 2019"

    amounts: tuple[float, ...] = ()

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        return by_group(pixels, severity, lambda some, level: _mean(some, (self.amounts or _LARGEST)[level - 1]))


def _mean(pixels: Pixels, largest: float) -> Pixels:
    steps = [1 / factor for factor in np.linspace(1, largest, _LOOKS)]
    total = np.zeros_like(pixels)
    for step in steps:
        # Whole sixteenths, so that the sum of eight is exact in any order.
        total += np.rint(Affine((step, 0.0, 0.0, step))(pixels) * np.float32(16))
    return total / np.float32(16 * _LOOKS)
