"""Less or more contrast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, check_choice, per_item

Scale = Literal["cifar", "mnist", "deeptest"]


_FACTORS: dict[str, tuple[float, ...]] = {
    "cifar": (0.75, 0.5, 0.4, 0.3, 0.15),
    "mnist": (0.4, 0.3, 0.2, 0.1, 0.05),
    "deeptest": (1.2, 1.6, 2.1, 2.5, 3.0),
}


@dataclass(frozen=True)
class Contrast(ImagePerturbation):
    """Pixels drawn towards the mean of their channel, or multiplied.

    scale
        ``cifar`` (CIFAR-10-C: factors .75 to .15) and ``mnist`` (the MNIST-C library: .4 to .05) lower the contrast
        about each image's mean; ``deeptest`` multiplies every pixel by 1.2 to 3.0, so that bright parts burn out.

    amounts
        Factors, one per level, instead of these.
    """

    name: ClassVar[str] = "contrast"
    title: ClassVar[str] = "Less contrast (more with scale=deeptest)"
    paper: ClassVar[str] = "Hendrycks and Dietterich, ICLR 2019; Mu and Gilmer, MNIST-C, 2019; Tian et al., ICSE 2018"

    scale: Scale = "cifar"
    amounts: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check_choice(self.name, "scale", self.scale, tuple(_FACTORS))

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        factors = per_item(self.amounts or _FACTORS[self.scale], severity)
        if self.scale == "deeptest":
            return pixels * factors
        # summed in float64, where sums of bytes are exact: the mean does not depend on the machine
        means = pixels.mean(axis=(1, 2), dtype=np.float64, keepdims=True).astype(np.float32)
        return np.asarray((pixels - means) * factors + means)
