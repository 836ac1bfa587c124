"""Objects that come much nearer, as on the road."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.tomography.perturbations.image.affine import Affine, MovedImages

_FACTORS = (1.5, 2.6, 3.7, 4.8, 6.0)


@dataclass(frozen=True)
class Scale(MovedImages):
    """Enlarged about the centre by 1.5, 2.6, 3.7, 4.8, 6.0 and cropped; bilinear.

    amounts
        Factors, one per level, instead of these.
    """

    name: ClassVar[str] = "scale"
    title: ClassVar[str] = "Enlarged about the centre"
    paper: ClassVar[str] = "Tian et al., DeepTest, ICSE 2018"

    amounts: tuple[float, ...] = ()

    def affine(self, level: int, side: int) -> Affine:
        step = 1.0 / (self.amounts or _FACTORS)[level - 1]
        return Affine((step, 0.0, 0.0, step))
