"""Pixels taken from elsewhere in the same image, a place of its own for every pixel of every item."""

from __future__ import annotations

import numpy as np

from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.perturbations.image.base import Pixels

_STEPS = 256
"""Places are rounded to 1/256 pixel: weights are multiples of 2**-16 and sums with bytes exact."""


def whole_steps(pixels: Pixels, down: IntArray, right: IntArray) -> Pixels:
    """Each pixel shows the one so many places down and right of it; beyond the border, the one at the border."""
    items, height, width, _ = pixels.shape
    rows = np.clip(np.arange(height)[:, None] + down, 0, height - 1)
    columns = np.clip(np.arange(width) + right, 0, width - 1)
    return np.asarray(pixels[np.arange(items)[:, None, None], rows, columns])


def between(pixels: Pixels, down: FloatArray, right: FloatArray) -> Pixels:
    """The same by parts of a pixel: a weighted mean of the four around the place."""
    low, y = np.modf(np.floor(down * _STEPS) / _STEPS + 2**12)
    across, x = np.modf(np.floor(right * _STEPS) / _STEPS + 2**12)
    y, x = y.astype(np.int64) - 2**12, x.astype(np.int64) - 2**12
    low, across = (part.astype(np.float32)[..., None] for part in (low, across))
    top = (1 - across) * whole_steps(pixels, y, x) + across * whole_steps(pixels, y, x + 1)
    bottom = (1 - across) * whole_steps(pixels, y + 1, x) + across * whole_steps(pixels, y + 1, x + 1)
    return np.asarray((1 - low) * top + low * bottom)
