"""Turned images."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from fieldcheck.tomography.perturbations.image.affine import Affine, MovedImages
from fieldcheck.tomography.perturbations.image.base import check_choice

Scale = Literal["mild", "mnist"]


_ANGLES: dict[str, float] = {"mild": math.pi / 30, "mnist": 0.2}


@dataclass(frozen=True)
class Rotate(MovedImages):
    """Turned about the centre, clockwise or not (drawn per item); bilinear, black corners.

    scale
        ``mild``: 6, 12, 18, 24, 30 degrees; ``mnist``: the angles of MNIST-C, .2 to 1.0 radians (11 to 57 degrees).

    amounts
        Degrees, one per level, instead of these.
    """

    name: ClassVar[str] = "rotate"
    title: ClassVar[str] = "Turned about the centre"
    paper: ClassVar[str] = "Mu and Gilmer, MNIST-C, 2019"
    random: ClassVar[bool] = True

    scale: Scale = "mild"
    amounts: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check_choice(self.name, "scale", self.scale, tuple(_ANGLES))

    def affine(self, level: int, side: int) -> Affine:
        angle = math.radians(self.one_of(level)) if self.amounts else _ANGLES[self.scale] * level
        return Affine((math.cos(angle), -math.sin(angle), math.sin(angle), math.cos(angle)))
