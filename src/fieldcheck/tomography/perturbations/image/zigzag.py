"""Zigzag lines across the image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, side
from fieldcheck.tomography.perturbations.image.strokes import covered, drawn_over

_TURNS = 8
_SWING = 0.1
_THICKNESS = 1 / 28


@dataclass(frozen=True)
class Zigzag(ImagePerturbation):
    """As many white zigzag lines as the severity, from the left border to the right, at random heights.

    Eight turns of 10 % of the height each way, a twenty-eighth of the shorter side thick. The lines of a severity are
    not those of the one below: each has its own random numbers.
    """

    name: ClassVar[str] = "zigzag"
    title: ClassVar[str] = "Zigzag lines"
    paper: ClassVar[str] = "after Mu and Gilmer, MNIST-C, 2019"
    random: ClassVar[bool] = True

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        _, height, width, _ = pixels.shape
        corners = _corners(draws.uniforms(2 * self.levels), severity, height, width)
        starts, ends = (part.reshape(len(pixels), -1, 2) for part in (corners[:, :, :-1], corners[:, :, 1:]))
        thickness = max(1.0, _THICKNESS * side(pixels))
        return drawn_over(pixels, covered(starts, ends, height, width, thickness=thickness), 255)


def _corners(chances: FloatArray, severity: IntArray, height: int, width: int) -> FloatArray:
    """Items x lines x corners x 2; nan where an item has fewer lines."""
    left, right = (chances[:, half::2, None] * (height - 1) for half in (0, 1))
    along = np.linspace(0, 1, _TURNS + 1)
    swing = _SWING * height * np.where(np.arange(_TURNS + 1) % 2, 1.0, -1.0)
    y = left + (right - left) * along + swing
    missing = np.arange(left.shape[1])[None, :, None] >= severity[:, None, None]
    return np.stack([np.where(missing, np.nan, y), np.broadcast_to(along * (width - 1), y.shape)], axis=-1)
