"""Frost on the window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, per_item
from fieldcheck.tomography.perturbations.image.fields import smooth_noise

_COVER = (0.3, 0.42, 0.54, 0.66, 0.78)
_BRIGHT = np.array([205.0, 222.0, 238.0], dtype=np.float32)


@dataclass(frozen=True)
class Frost(ImagePerturbation):
    """Ice covers up to 30, 42, 54, 66, 78 % of what is behind it: ridges of a random field, thicker at the border.

    The published ones are photographs of windows; these are drawn. Sums of floats: another machine may round a rare
    pixel the other way.
    """

    name: ClassVar[str] = "frost"
    title: ClassVar[str] = "Frost on the window"
    paper: ClassVar[str] = "after Hendrycks and Dietterich, ICLR 2019"
    random: ClassVar[bool] = True

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        _, height, width, channels = pixels.shape
        ridges = 1 - np.abs(2 * smooth_noise(draws, height, width, coarsest=3, octaves=4) - 1)
        cover = per_item(_COVER, severity) * (0.35 + 0.65 * ridges * _border(height, width))[..., None]
        colour = _BRIGHT if channels == 3 else _BRIGHT[1:2]
        return np.asarray(pixels + cover * (colour - pixels), dtype=np.float32)


def _border(height: int, width: int) -> Pixels:
    """1 at the border, two thirds in the centre."""
    y, x = np.abs(np.linspace(-1, 1, height))[:, None], np.abs(np.linspace(-1, 1, width))
    return np.asarray((2 + np.maximum(y, x)) / 3, dtype=np.float32)
