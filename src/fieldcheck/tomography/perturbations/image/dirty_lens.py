"""Dirt on the lens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, per_item
from fieldcheck.tomography.perturbations.image.fields import smooth_noise
from fieldcheck.tomography.perturbations.image.spatter import highest

_SHARES = np.array([0.0, 0.2, 0.35, 0.5, 0.6, 0.7])
_DENSITY = (0.45, 0.55, 0.65, 0.75, 0.85)
_COLOUR = 60.0


@dataclass(frozen=True)
class DirtyLens(ImagePerturbation):
    """Dark smears over 20, 35, 50, 60, 70 % of the image that hide 45, 55, 65, 75, 85 % of what is behind them.

    Smears are where a smooth random field of the item is highest. CURE-TSD lays photographs of dirt over its frames;
    these are drawn. Sums of floats: another machine may round a rare pixel the other way.
    """

    name: ClassVar[str] = "dirty-lens"
    title: ClassVar[str] = "Dirt on the lens"
    paper: ClassVar[str] = "after Temel et al., CURE-TSR, 2017"
    random: ClassVar[bool] = True

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        field = smooth_noise(draws, *pixels.shape[1:3], coarsest=3, octaves=3)
        cover = highest(field, _SHARES[severity])[..., None] * per_item(_DENSITY, severity)
        return np.asarray(pixels + cover * (np.float32(_COLOUR) - pixels))
