"""Something in front of the object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, side

_SHARES = np.array([0.0, 0.15, 0.25, 0.35, 0.45, 0.55])


_GREY = np.float32(128)


@dataclass(frozen=True)
class Occlusion(ImagePerturbation):
    """A grey square over a place drawn per item, wholly inside the image.

    Its side is 15, 25, 35, 45, 55 % of the shorter side, rounded to pixels, and at least as many pixels as the level.
    """

    name: ClassVar[str] = "occlusion"
    title: ClassVar[str] = "A grey square in front"
    paper: ClassVar[str] = "DeVries and Taylor, Cutout, 2017"
    random: ClassVar[bool] = True

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        height, width = pixels.shape[1:3]
        length = np.maximum(severity, np.rint(_SHARES[severity] * side(pixels)).astype(np.int64))
        down, right = draws.uniforms(2).T
        rows = _within((down * (height - length + 1)).astype(np.int64), length, height)
        columns = _within((right * (width - length + 1)).astype(np.int64), length, width)
        return np.where((rows[:, :, None] & columns[:, None, :])[..., None], _GREY, pixels)


def _within(start: IntArray, length: IntArray, size: int) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """One row per item: which of ``size`` places are covered."""
    places = np.arange(size)
    return (places >= start[:, None]) & (places < (start + length)[:, None])
