"""The shadow of something near."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, per_item

_LEFT = (0.7, 0.55, 0.4, 0.28, 0.16)
_SOFT = 0.08
_DIRECTIONS = 64


@dataclass(frozen=True)
class Shadow(ImagePerturbation):
    """Half of the image or so lies in the shade: 70, 55, 40, 28, 16 % of the light is left there.

    The edge of the shade has a random direction and passes near the centre; it fades over 8 % of the size.
    """

    name: ClassVar[str] = "shadow"
    title: ClassVar[str] = "Partly in the shade"
    paper: ClassVar[str] = "after Temel et al., CURE-TSR, 2017"
    random: ClassVar[bool] = True

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        _, height, width, _ = pixels.shape
        angle = draws.below(_DIRECTIONS)[:, 0] * (2 * np.pi / _DIRECTIONS)
        offset = (draws.uniforms(1, lane=1)[:, 0] - 0.5) * 0.3
        y, x = np.linspace(-0.5, 0.5, height)[:, None], np.linspace(-0.5, 0.5, width)
        beyond = np.sin(angle)[:, None, None] * y + np.cos(angle)[:, None, None] * x - offset[:, None, None]
        shade = np.rint(np.clip(beyond / _SOFT + 0.5, 0.0, 1.0) * 256) / 256
        return np.asarray(pixels * (1 - shade.astype(np.float32)[..., None] * (1 - per_item(_LEFT, severity))))
