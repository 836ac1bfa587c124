"""Images out of focus: every point becomes a disk."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, by_group, side

_RADII = (0.02, 0.03, 0.042, 0.058, 0.08)

_UNIT = 2.0**16


@dataclass(frozen=True)
class DefocusBlur(ImagePerturbation):
    """The mean over a disk with a radius of 2, 3, 4.2, 5.8, 8 % of the shorter side (.6 to 2.6 pixels on 32).

    Never under .55 pixels, where it would change nothing. Pixels beyond the border are those at the border. The
    published radii are between those of two sizes of image: these are ours. CURE-TSD calls it lens blur.
    """

    name: ClassVar[str] = "defocus-blur"
    title: ClassVar[str] = "Out of focus, as through a lens"
    paper: ClassVar[str] = "after Hendrycks and Dietterich, ICLR 2019; Temel et al., CURE-TSR, 2017"
    also: ClassVar[tuple[str, ...]] = ("lens-blur",)

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        return by_group(pixels, severity, lambda some, level: _blurred(some, _radius(level, side(some))))


def _radius(level: int, shorter: int) -> float:
    return max(_RADII[level - 1] * shorter, 0.45 + 0.1 * level)


def _blurred(pixels: Pixels, radius: float) -> Pixels:
    weights = _disk(radius)
    reach = len(weights) // 2
    _, height, width, _ = pixels.shape
    padded = np.pad(pixels, ((0, 0), (reach, reach), (reach, reach), (0, 0)), mode="edge")
    out = np.zeros_like(pixels)
    for (down, right), weight in np.ndenumerate(weights):
        if weight:
            out += weight * padded[:, down : down + height, right : right + width]
    return out


@lru_cache(maxsize=64)
def _disk(radius: float) -> Pixels:
    """Weights in steps of 2**-16 that add up to 1: the share of each pixel that lies within the radius."""
    reach = int(np.ceil(radius))
    fine = (np.arange((2 * reach + 1) * 16) + 0.5) / 16 - reach - 0.5
    inside = (fine[:, None] ** 2 + fine**2 <= radius**2).reshape(2 * reach + 1, 16, 2 * reach + 1, 16)
    shares = inside.sum(axis=(1, 3)).astype(np.float64)
    whole = np.rint(shares / shares.sum() * _UNIT)
    whole[reach, reach] += _UNIT - whole.sum()
    return np.asarray(whole / _UNIT, dtype=np.float32)
