"""Images moved aside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from fieldcheck.tomography.perturbations.image.affine import Affine, MovedImages
from fieldcheck.tomography.perturbations.image.base import check_choice

Unit = Literal["scaled", "published"]


_STEP = 20


_REFERENCE = 512
"""Shorter side of the road images that the published steps of 20 pixels are meant for."""


@dataclass(frozen=True)
class Translate(MovedImages):
    """Moved to the right and down by the same distance; what comes in from outside is black.

    pixels
        ``scaled``: 20, 40, 60, 80, 100 for a shorter side of 512 pixels, in proportion for others (28 pixels: 1.1 to
        5.5), bilinear between pixels; ``published``: exactly so many pixels, whatever the size of the image.

    amounts
        Pixels, one per level, instead of these.
    """

    name: ClassVar[str] = "translate"
    title: ClassVar[str] = "Moved to the right and down"
    paper: ClassVar[str] = "Tian et al., DeepTest, ICSE 2018"

    pixels: Unit = "scaled"
    amounts: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check_choice(self.name, "pixels", self.pixels, ("scaled", "published"))

    def affine(self, level: int, side: int) -> Affine:
        step = _STEP * (side / _REFERENCE if self.pixels == "scaled" else 1.0)
        far = self.one_of(level) if self.amounts else step * level
        return Affine(shift=(-far, -far))
