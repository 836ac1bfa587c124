"""Images that are stretched like rubber."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, side
from fieldcheck.tomography.perturbations.image.displaced import between
from fieldcheck.tomography.perturbations.image.fields import smooth_noise

_REACH = np.array([0.0, 0.025, 0.04, 0.055, 0.075, 0.095])
_CELLS = 4


@dataclass(frozen=True)
class Elastic(ImagePerturbation):
    """Every place is moved by a smooth random field of its item, by up to 2.5, 4, 5.5, 7.5, 9.5 % of the shorter side.

    Bilinear; pixels beyond the border are those at the border. Interpolated fields are sums of floats: another
    machine may round a rare pixel the other way.
    """

    name: ClassVar[str] = "elastic"
    title: ClassVar[str] = "Stretched like rubber"
    paper: ClassVar[str] = "after Simard et al., ICDAR 2003; Hendrycks and Dietterich, ICLR 2019"
    random: ClassVar[bool] = True
    still: ClassVar[bool] = False
    also: ClassVar[tuple[str, ...]] = ("elastic-transform",)

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        _, height, width, _ = pixels.shape
        reach = (_REACH[severity] * side(pixels))[:, None, None]
        moves = (
            reach * (2 * smooth_noise(draws, height, width, coarsest=_CELLS, octaves=1, lane=lane).astype(float) - 1)
            for lane in range(2)
        )
        return between(pixels, *moves)
