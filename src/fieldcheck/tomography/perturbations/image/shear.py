"""Slanted images."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.tomography.perturbations.image.affine import Affine, MovedImages

_ANGLE = 0.2


@dataclass(frozen=True)
class Shear(MovedImages):
    """Slanted to the left or to the right (drawn per item) by .2, .4, .6, .8, 1.0 radians about the centre; bilinear.

    As in MNIST-C an output pixel (y, x) comes from (y cos a, x ± y sin a): slanted images also grow in height.

    amounts
        Radians, one per level, instead of these.
    """

    name: ClassVar[str] = "shear"
    title: ClassVar[str] = "Slanted"
    paper: ClassVar[str] = "Mu and Gilmer, MNIST-C, 2019"
    random: ClassVar[bool] = True

    amounts: tuple[float, ...] = ()

    def affine(self, level: int, side: int) -> Affine:
        angle = self.one_of(level) if self.amounts else _ANGLE * level
        return Affine((math.cos(angle), 0.0, -math.sin(angle), 1.0))
