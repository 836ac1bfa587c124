"""Colours that fade or glow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, check_choice, per_item

Direction = Literal["less", "more"]


_FACTORS: dict[str, tuple[float, ...]] = {"less": (0.8, 0.6, 0.4, 0.2, 0.0), "more": (1.4, 1.8, 2.4, 3.2, 4.0)}


_LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)
"""How bright red, green and blue look (ITU-R BT.601)."""


@dataclass(frozen=True)
class Saturation(ImagePerturbation):
    """The distance of every colour from the grey of the same brightness, times a factor. Grey images stay as they are.

    direction
        ``less``: .8, .6, .4, .2, 0 (grey in the end; CURE-TSD calls it decolourisation); ``more``: 1.4, 1.8, 2.4,
        3.2, 4.

    amounts
        Factors, one per level, instead of these.
    """

    name: ClassVar[str] = "saturation"
    title: ClassVar[str] = "Fading (or glowing) colours"
    paper: ClassVar[str] = "after saturate in Hendrycks and Dietterich, ICLR 2019, which is not monotone"

    also: ClassVar[tuple[str, ...]] = ("decolourisation", "decolorization", "saturate")

    direction: Direction = "less"
    amounts: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check_choice(self.name, "direction", self.direction, tuple(_FACTORS))

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        if pixels.shape[3] == 1:
            return pixels
        red, green, blue = (pixels[..., channel, None] * _LUMA[channel] for channel in range(3))
        grey = red + green + blue
        return np.asarray(grey + per_item(self.amounts or _FACTORS[self.direction], severity) * (pixels - grey))
