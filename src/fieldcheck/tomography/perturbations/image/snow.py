"""Snow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, per_item, side
from fieldcheck.tomography.perturbations.image.strokes import covered

_FLAKES = np.array([0, 14, 26, 40, 58, 80])
_VEIL = (0.1, 0.17, 0.24, 0.31, 0.4)
_SHORTEST, _LONGEST = 0.01, 0.07


@dataclass(frozen=True)
class Snow(ImagePerturbation):
    """14, 26, 40, 58, 80 white flakes, blurred a little by their fall, and a bright veil of 10, 17, 24, 31, 40 %.

    All flakes of an image fall the same way. The published ones are photographs of noise; these are drawn.
    """

    name: ClassVar[str] = "snow"
    title: ClassVar[str] = "Snow"
    paper: ClassVar[str] = "after Hendrycks and Dietterich, ICLR 2019; Temel et al., CURE-TSR, 2017"
    random: ClassVar[bool] = True

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        _, height, width, _ = pixels.shape
        starts, ends = _flakes(draws, severity, height, width, shorter=side(pixels))
        cover = covered(starts, ends, height, width, thickness=max(0.9, side(pixels) / 28))
        veiled = pixels + per_item(_VEIL, severity) * (np.float32(235) - pixels)
        return np.asarray(veiled + cover * (np.float32(250) - veiled))


def _flakes(
    draws: ItemStreams, severity: IntArray, height: int, width: int, *, shorter: int
) -> tuple[FloatArray, FloatArray]:
    """Starts and ends, items x flakes x 2; nan where an item has fewer."""
    most = int(_FLAKES[severity].max())
    y, x, size = np.moveaxis(draws.uniforms(3 * most).reshape(len(draws), most, 3), 2, 0)
    angle = (draws.uniforms(1, lane=1) - 0.5) * np.pi / 2
    there = np.where(np.arange(most) < _FLAKES[severity][:, None], 1.0, np.nan)
    starts = np.stack([there * y * height, x * width], axis=2)
    steps = shorter * (_SHORTEST + (_LONGEST - _SHORTEST) * size**2)
    return starts, starts + np.stack([np.cos(angle) * steps, np.sin(angle) * steps], axis=2)
