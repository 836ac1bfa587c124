"""Brighter images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, check_choice, per_item

Scale = Literal["mnist", "cifar", "deeptest"]


_ADDED: dict[str, tuple[float, ...]] = {
    "mnist": (25.5, 51, 76.5, 102, 127.5),
    "cifar": (12.75, 25.5, 38.25, 51, 76.5),
    "deeptest": (20, 40, 60, 80, 100),
}


@dataclass(frozen=True)
class Brightness(ImagePerturbation):
    """Brighter by a constant.

    scale
        ``mnist`` (MNIST-C: .1 to .5) and ``cifar`` (CIFAR-10-C: .05 to .3) raise the value of hue, saturation and
        value, so that colours stay; ``deeptest`` adds 20 to 100 of 255 to every channel, so that colours fade.
        On grey images all three add.

    amounts
        Added, of 255, one per level, instead of these.
    """

    name: ClassVar[str] = "brightness"
    title: ClassVar[str] = "Brighter"
    paper: ClassVar[str] = "Mu and Gilmer, MNIST-C, 2019; Hendrycks and Dietterich, ICLR 2019; Tian et al., ICSE 2018"

    scale: Scale = "mnist"
    amounts: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check_choice(self.name, "scale", self.scale, tuple(_ADDED))

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        added = per_item(self.amounts or _ADDED[self.scale], severity)
        if self.scale == "deeptest" or pixels.shape[3] == 1:
            return pixels + added
        return _raise_value(pixels, added)


def _raise_value(pixels: Pixels, added: Pixels) -> Pixels:
    """Scale the three channels so that the largest grows by ``added``, at most to 255; black becomes grey."""
    red, green, blue = (pixels[..., channel, None] for channel in range(3))
    value = np.maximum(np.maximum(red, green), blue)
    raised = np.minimum(value + added, np.float32(255))
    scaled = pixels * (raised / np.maximum(value, np.float32(1e-3)))
    return np.asarray(scaled + np.where(value == 0, raised, np.float32(0)), dtype=np.float32)
