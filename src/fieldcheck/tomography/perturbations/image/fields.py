"""Random fields that perturbations share: smooth noise over an image, one field per item."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.tomography.perturbations.image.base import Pixels

_DECAY = 0.5
"""Each octave is twice as fine as the one before and half as strong."""


def smooth_noise(draws: ItemStreams, height: int, width: int, *, coarsest: int, octaves: int, lane: int = 0) -> Pixels:
    """Items x height x width, from 0 to 1 (both are reached): octaves of linear interpolation between random points.

    coarsest
        Cells along a side in the first octave.
    lane
        The first lane of random numbers; each octave takes one.
    """
    finest = coarsest * 2 ** (octaves - 1) + 1
    cells = [coarsest * 2**octave for octave in range(octaves)]
    parts = [_octave(draws, count, octave, finest=finest, lane=lane + octave) for octave, count in enumerate(cells)]
    noise = np.sum(parts, axis=0)
    low, high = (edge(noise, axis=(1, 2), keepdims=True) for edge in (np.min, np.max))
    stretched = ((noise - low) / (high - low)).astype(np.float32)
    return np.asarray(_spread(finest, height) @ stretched @ _spread(finest, width).T, dtype=np.float32)


def _octave(draws: ItemStreams, cells: int, octave: int, *, finest: int, lane: int) -> Pixels:
    """One octave on the grid of the finest."""
    points = cells + 1
    noise = draws.uniforms(points**2, lane=lane).astype(np.float32).reshape(-1, points, points)
    spread = _spread(points, finest)
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
