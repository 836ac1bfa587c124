"""Pixels that are stuck at black or white."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, check_choice, per_item

Amounts = Literal["cifar", "imagenet"]

_SHARES: dict[str, tuple[float, ...]] = {
    "cifar": (0.01, 0.02, 0.03, 0.05, 0.07),
    "imagenet": (0.03, 0.06, 0.09, 0.17, 0.27),
}


@dataclass(frozen=True)
class ImpulseNoise(ImagePerturbation):
    """Salt and pepper: a share of the values (each channel on its own) is black or white, equally often.

    scale
        Shares: ``cifar`` 1, 2, 3, 5, 7 %; ``imagenet`` (and MNIST-C) 3, 6, 9, 17, 27 %.

    amounts
        Shares of the pixels, one per level, instead of these.
    """

    name: ClassVar[str] = "impulse-noise"
    title: ClassVar[str] = "Stuck pixels"
    paper: ClassVar[str] = "Hendrycks and Dietterich, ICLR 2019; Mu and Gilmer, MNIST-C, 2019"
    random: ClassVar[bool] = True

    scale: Amounts = "cifar"
    amounts: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check_choice(self.name, "scale", self.scale, tuple(_SHARES))

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        chance = draws.shorts(pixels[0].size).reshape(pixels.shape) / np.float32(2**16)
        share = per_item(self.amounts or _SHARES[self.scale], severity)
        return np.asarray(np.where(chance < share / 2, 0, np.where(chance < share, 255, pixels)), dtype=np.float32)
