"""Objects that come out smaller or larger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from fieldcheck.tomography.perturbations.image.affine import Affine, MovedImages
from fieldcheck.tomography.perturbations.image.base import check_choice

Direction = Literal["out", "in"]


_SMALLER = (0.9, 0.8, 0.7, 0.6, 0.5)


@dataclass(frozen=True)
class Zoom(MovedImages):
    """Smaller or larger about the centre.

    direction
        ``out`` shrinks to .9, .8, .7, .6, .5 of the size (MNIST-C calls it scale) and leaves a black frame; ``in``
        enlarges by the reciprocals and crops. Bilinear.

    amounts
        Factors of the size, over 1 for larger, one per level, instead of these.
    """

    name: ClassVar[str] = "zoom"
    title: ClassVar[str] = "Smaller (or larger) about the centre"
    paper: ClassVar[str] = "Mu and Gilmer, MNIST-C, 2019"

    direction: Direction = "out"
    amounts: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check_choice(self.name, "direction", self.direction, ("out", "in"))

    def affine(self, level: int, side: int) -> Affine:
        if self.amounts:
            return Affine((1 / self.amounts[level - 1], 0.0, 0.0, 1 / self.amounts[level - 1]))
        smaller = _SMALLER[level - 1]
        step = 1.0 / smaller if self.direction == "out" else smaller
        return Affine((step, 0.0, 0.0, step))
