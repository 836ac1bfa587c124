"""Too much light on the sensor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels
from fieldcheck.tomography.perturbations.image.light import expose

_STOPS = (0.5, 1.0, 1.5, 2.0, 2.5)


@dataclass(frozen=True)
class Exposure(ImagePerturbation):
    """.5, 1, 1.5, 2, 2.5 stops more light (each doubles it): bright parts burn out.

    CURE-TSD publishes videos, not amounts: these are ours.

    amounts
        Stops, one per level, instead of these.
    """

    name: ClassVar[str] = "exposure"
    title: ClassVar[str] = "Too much light"
    paper: ClassVar[str] = "after Temel et al., CURE-TSR, 2017"

    amounts: tuple[float, ...] = ()

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        return expose(pixels, severity, self.amounts or _STOPS)
