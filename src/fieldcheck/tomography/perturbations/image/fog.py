"""Fog."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, per_item
from fieldcheck.tomography.perturbations.image.fields import smooth_noise

_THICKNESS = (0.2, 0.45, 0.8, 1.3, 2.0)


_COARSEST, _OCTAVES = 2, 4


@dataclass(frozen=True)
class Fog(ImagePerturbation):
    """Mixed with bright clouds drawn per item: ``(image + t clouds) / (1 + t)``, t = .2, .45, .8, 1.3, 2.

    Clouds are four octaves of smooth noise, each twice as fine and half as strong as the one before, spread over the
    image and stretched from half bright to white. Sums of floats: another machine may round a rare pixel the
    other way, by 1 of 255.

    amounts
        Thickness, one per level, instead of these.
    """

    name: ClassVar[str] = "fog"
    title: ClassVar[str] = "Fog"
    paper: ClassVar[str] = "after Hendrycks and Dietterich, ICLR 2019"
    random: ClassVar[bool] = True

    amounts: tuple[float, ...] = ()

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        thickness = per_item(self.amounts or _THICKNESS, severity)
        clouds = _clouds(draws, pixels.shape[1], pixels.shape[2])[..., None]
        return np.asarray((pixels + thickness * clouds) / (1 + thickness))


def _clouds(draws: ItemStreams, height: int, width: int) -> Pixels:
    """Items x height x width, from 128 to 255."""
    return 128 + 127 * smooth_noise(draws, height, width, coarsest=_COARSEST, octaves=_OCTAVES)
