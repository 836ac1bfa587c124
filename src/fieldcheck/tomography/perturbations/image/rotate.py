"""Turned images."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import IntArray
from fieldcheck.tomography.perturbations.image.affine import Affine
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, by_group, check_choice, signs

Scale = Literal["mild", "mnist"]


_ANGLES: dict[str, float] = {"mild": math.pi / 30, "mnist": 0.2}


@dataclass(frozen=True)
class Rotate(ImagePerturbation):
    """Turned about the centre, clockwise or not (drawn per item); bilinear, black corners.

    scale
        ``mild``: 6, 12, 18, 24, 30 degrees; ``mnist``: the angles of MNIST-C, .2 to 1.0 radians (11 to 57 degrees).
    """

    name: ClassVar[str] = "rotate"
    title: ClassVar[str] = "Turned about the centre"
    paper: ClassVar[str] = "Mu and Gilmer, MNIST-C, 2019"
    random: ClassVar[bool] = True

    scale: Scale = "mild"

    def __post_init__(self) -> None:
        check_choice(self.name, "scale", self.scale, tuple(_ANGLES))

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        return by_group(pixels, severity * signs(draws), lambda some, level: self._turn(level)(some))

    def _turn(self, level: int) -> Affine:
        angle = _ANGLES[self.scale] * level
        return Affine((math.cos(angle), -math.sin(angle), math.sin(angle), math.cos(angle)))
