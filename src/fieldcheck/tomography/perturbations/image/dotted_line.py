"""Dotted lines across the image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, side
from fieldcheck.tomography.perturbations.image.strokes import covered, drawn_over

_DOTS = 9
_THICKNESS = 1 / 18


@dataclass(frozen=True)
class DottedLine(ImagePerturbation):
    """As many dotted white lines as the severity, from the left border to the right, at random heights.

    Nine dots each, a dash as long as the gap after it, an eighteenth of the shorter side thick. The lines of a
    severity are not those of the one below: each has its own random numbers.
    """

    name: ClassVar[str] = "dotted-line"
    title: ClassVar[str] = "Dotted lines"
    paper: ClassVar[str] = "after Mu and Gilmer, MNIST-C, 2019"
    random: ClassVar[bool] = True

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        _, height, width, _ = pixels.shape
        starts, ends = _dashes(draws.uniforms(2 * self.levels), severity, height, width)
        thickness = max(1.0, _THICKNESS * side(pixels))
        return drawn_over(pixels, covered(starts, ends, height, width, thickness=thickness), 255)


def _dashes(chances: FloatArray, severity: IntArray, height: int, width: int) -> tuple[FloatArray, FloatArray]:
    """Starts and ends of all dashes, items x dashes x 2; nan where an item has fewer lines."""
    left, right = (chances[:, half::2, None] * (height - 1) for half in (0, 1))
    lines = left.shape[1]
    along = (np.arange(2 * _DOTS + 1) / (2 * _DOTS))[None, None, :]
    y, x = left + (right - left) * along, np.broadcast_to(along * (width - 1), (len(left), lines, 2 * _DOTS + 1))
    missing = np.arange(lines)[None, :, None] >= severity[:, None, None]
    places = np.stack([np.where(missing, np.nan, y), x], axis=-1)
    starts, ends = places[:, :, :-1:2], places[:, :, 1::2]
    return starts.reshape(len(left), -1, 2), ends.reshape(len(left), -1, 2)
