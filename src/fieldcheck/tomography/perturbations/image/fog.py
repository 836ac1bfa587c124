"""Fog."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, per_item

_THICKNESS = (0.2, 0.45, 0.8, 1.3, 2.0)


_OCTAVES = (2, 4, 8, 16)


_DECAY = 0.5


@dataclass(frozen=True)
class Fog(ImagePerturbation):
    """Mixed with bright clouds drawn per item: ``(image + t clouds) / (1 + t)``, t = .2, .45, .8, 1.3, 2.

    Clouds are four octaves of smooth noise, each twice as fine and half as strong as the one before, spread over the
    image and stretched from half bright to white. Sums of floats: another machine may round a rare pixel the
    other way, by 1 of 255.
    """

    name: ClassVar[str] = "fog"
    title: ClassVar[str] = "Fog"
    paper: ClassVar[str] = "after Hendrycks and Dietterich, ICLR 2019"
    random: ClassVar[bool] = True

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        thickness = per_item(_THICKNESS, severity)
        clouds = _clouds(draws, pixels.shape[1], pixels.shape[2])[..., None]
        return np.asarray((pixels + thickness * clouds) / (1 + thickness))


def _clouds(draws: ItemStreams, height: int, width: int) -> Pixels:
    """Items x height x width, from 128 to 255."""
    noise = np.sum([_octave(draws, cells, octave) for octave, cells in enumerate(_OCTAVES)], axis=0)
    low = noise.min(axis=(1, 2), keepdims=True)
    high = noise.max(axis=(1, 2), keepdims=True)
    stretched = 128 + 127 * (noise - low) / (high - low)
    finest = _OCTAVES[-1] + 1
    return np.asarray(_spread(finest, height) @ stretched @ _spread(finest, width).T, dtype=np.float32)


def _octave(draws: ItemStreams, cells: int, octave: int) -> Pixels:
    """One octave on the grid of the finest."""
    points = cells + 1
    noise = draws.uniforms(points**2, lane=octave).astype(np.float32).reshape(-1, points, points)
    spread = _spread(points, _OCTAVES[-1] + 1)
    return np.asarray(np.float32(_DECAY**octave) * (spread @ noise @ spread.T), dtype=np.float32)


@lru_cache(maxsize=64)
def _spread(points: int, size: int) -> Pixels:
    """Linear interpolation of ``points`` values to ``size`` places, as a matrix."""
    at = np.linspace(0, points - 1, size)
    left = np.minimum(at.astype(np.int64), points - 2)
    matrix = np.zeros((size, points), dtype=np.float32)
    matrix[np.arange(size), left] = 1 - (at - left)
    matrix[np.arange(size), left + 1] = at - left
    return matrix
