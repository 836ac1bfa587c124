"""Images seen through frosted glass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, side
from fieldcheck.tomography.perturbations.image.displaced import whole_steps
from fieldcheck.tomography.perturbations.image.smooth import gaussian

_REACH = np.array([0.0, 1.0, 1.0, 1.5, 2.0, 2.5]) / 32
_SHARE = np.array([0.0, 0.35, 0.7, 0.85, 1.0, 1.0])
_SMOOTH = 0.4


@dataclass(frozen=True)
class GlassBlur(ImagePerturbation):
    """Pixels change places with near ones, then all is smoothed a little (.4 pixels).

    35, 70, 85, 100, 100 % of the pixels show one that is up to 1, 1, 1.5, 2, 2.5 pixels away on 32, in proportion on
    other sizes. The published loop over single pixels is replaced by one look for all of them.
    """

    name: ClassVar[str] = "glass-blur"
    title: ClassVar[str] = "Behind frosted glass"
    paper: ClassVar[str] = "after Hendrycks and Dietterich, ICLR 2019; Mu and Gilmer, MNIST-C, 2019"
    random: ClassVar[bool] = True

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        items, height, width, _ = pixels.shape
        reach = np.maximum(1, np.rint(_REACH[severity] * side(pixels))).astype(np.int64)[:, None, None]
        chance, down, right = (
            draws.uniforms(height * width, lane=lane).reshape(items, height, width) for lane in range(3)
        )
        moves = (np.where(chance < _SHARE[severity][:, None, None], _step(part, reach), 0) for part in (down, right))
        return gaussian(whole_steps(pixels, *moves), _SMOOTH)


def _step(chance: FloatArray, reach: IntArray) -> IntArray:
    return (chance * (2 * reach + 1)).astype(np.int64) - reach
