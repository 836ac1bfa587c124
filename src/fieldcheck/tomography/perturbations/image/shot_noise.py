"""Noise of few photons."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import IntArray
from fieldcheck.numerics import special
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, check_choice

Scale = Literal["cifar", "imagenet"]


_PHOTONS: dict[str, tuple[int, ...]] = {"cifar": (500, 250, 100, 75, 50), "imagenet": (60, 25, 12, 5, 3)}


_BITS = 12


@dataclass(frozen=True)
class ShotNoise(ImagePerturbation):
    """Poisson noise: a white pixel is as many photons on average as the severity says, others in proportion.

    Counts are drawn by inversion from the exact distribution of each of 256 brightnesses, at 4,096 equally likely
    quantiles: one look into a table a pixel. Float images are taken to the nearest of 256 brightnesses first.

    scale
        Photons: ``cifar`` 500, 250, 100, 75, 50; ``imagenet`` (and MNIST-C) 60, 25, 12, 5, 3.
    """

    name: ClassVar[str] = "shot-noise"
    title: ClassVar[str] = "Noise of few photons"
    paper: ClassVar[str] = "Hendrycks and Dietterich, ICLR 2019; Mu and Gilmer, MNIST-C, 2019"
    random: ClassVar[bool] = True

    scale: Scale = "cifar"

    def __post_init__(self) -> None:
        check_choice(self.name, "scale", self.scale, tuple(_PHOTONS))

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        which = np.rint(pixels).astype(np.int64) << _BITS
        which += (draws.shorts(pixels[0].size) >> (16 - _BITS)).reshape(pixels.shape)
        photons = _PHOTONS[self.scale]
        out = np.empty_like(pixels)
        for level in np.unique(severity):
            rows = severity == level
            out[rows] = _table(photons[level - 1])[which[rows]]
        return out


@lru_cache(maxsize=16)
def _table(photons: int) -> Pixels:
    """Brightness by 256 brightnesses x 4,096 quantiles, flat: photons counted over photons of white."""
    quantiles = (np.arange(2**_BITS) + 0.5) / 2**_BITS
    counts = np.arange(3 * photons + 20)
    table = [np.searchsorted(special.pdtr(counts, photons * value / 255), quantiles) for value in range(256)]
    return np.asarray(np.minimum(np.concatenate(table), photons) * (255.0 / photons), dtype=np.float32)
