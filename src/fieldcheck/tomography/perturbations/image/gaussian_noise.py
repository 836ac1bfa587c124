"""Noise that does not depend on the pixel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Literal

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import IntArray
from fieldcheck.numerics import special
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, check_choice, per_item

Scale = Literal["cifar", "imagenet"]


_DEVIATIONS: dict[str, tuple[float, ...]] = {
    "cifar": (10.2, 15.3, 20.4, 22.95, 25.5),
    "imagenet": (20.4, 30.6, 45.9, 66.3, 96.9),
}


@dataclass(frozen=True)
class GaussianNoise(ImagePerturbation):
    """Normal noise on every pixel and channel.

    Normal numbers are the 65,536 quantiles at (i + ½)/65,536, so none is beyond 4.3 deviations: one look into a
    table a pixel, the same on every machine.

    scale
        Standard deviations: ``cifar`` .04, .06, .08, .09, .10; ``imagenet`` .08, .12, .18, .26, .38.

    amounts
        Standard deviations, of 255, one per level, instead of these.
    """

    name: ClassVar[str] = "gaussian-noise"
    title: ClassVar[str] = "Noise"
    paper: ClassVar[str] = "Hendrycks and Dietterich, ICLR 2019"
    random: ClassVar[bool] = True
    also: ClassVar[tuple[str, ...]] = ("noise",)

    scale: Scale = "cifar"
    amounts: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check_choice(self.name, "scale", self.scale, tuple(_DEVIATIONS))

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        normal = _quantiles()[draws.shorts(pixels[0].size)].reshape(pixels.shape)
        return pixels + per_item(self.amounts or _DEVIATIONS[self.scale], severity) * normal


@cache
def _quantiles() -> Pixels:
    """Normal quantiles in steps of 2**-14: a last bit that differs between machines is rounded away."""
    exact = special.ndtri((np.arange(2**16) + 0.5) / 2**16)
    return np.asarray(np.rint(exact * 2.0**14) / 2.0**14, dtype=np.float32)
