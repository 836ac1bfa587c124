"""Less light on the sensor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels
from fieldcheck.tomography.perturbations.image.light import expose

_STOPS = (-0.8, -1.6, -2.4, -3.2, -4.0)


@dataclass(frozen=True)
class Darken(ImagePerturbation):
    """.8, 1.6, 2.4, 3.2, 4 stops less light (each halves it): night, shade, tunnels.

    CURE-TSD publishes videos, not amounts: these are ours.

    amounts
        Stops, below 0, one per level, instead of these.
    """

    name: ClassVar[str] = "darken"
    title: ClassVar[str] = "Less light"
    paper: ClassVar[str] = "after Temel et al., CURE-TSR, 2017"

    amounts: tuple[float, ...] = ()

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        return expose(pixels, severity, self.amounts or _STOPS)
