"""Slanted images."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import IntArray
from fieldcheck.tomography.perturbations.image.affine import Affine
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, by_group, signs

_ANGLE = 0.2


@dataclass(frozen=True)
class Shear(ImagePerturbation):
    """Slanted to the left or to the right (drawn per item) by .2, .4, .6, .8, 1.0 radians about the centre; bilinear.

    As in MNIST-C an output pixel (y, x) comes from (y cos a, x ± y sin a): slanted images also grow in height.
    """

    name: ClassVar[str] = "shear"
    title: ClassVar[str] = "Slanted"
    paper: ClassVar[str] = "Mu and Gilmer, MNIST-C, 2019"
    random: ClassVar[bool] = True

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        return by_group(pixels, severity * signs(draws), lambda some, level: _slant(level)(some))


def _slant(level: int) -> Affine:
    angle = _ANGLE * level
    return Affine((math.cos(angle), 0.0, -math.sin(angle), 1.0))
