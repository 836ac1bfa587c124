"""Straight strokes drawn over images: how much of a pixel each of them covers."""

from __future__ import annotations

import numpy as np

from fieldcheck.core.types import FloatArray
from fieldcheck.tomography.perturbations.image.base import Pixels


def covered(starts: FloatArray, ends: FloatArray, height: int, width: int, *, thickness: float) -> Pixels:
    """Items x height x width x 1, 0 to 1: how far a pixel lies under the nearest of an item's strokes.

    starts, ends
        Items x strokes x 2: down and right, in pixels; a stroke with nan is not there.
    thickness
        In pixels; edges fade over one pixel.
    """
    nearest = np.full((len(starts), height, width), np.inf)
    for start, end in zip(np.moveaxis(starts, 1, 0), np.moveaxis(ends, 1, 0), strict=True):
        np.fmin(nearest, _distance(start, end, height, width), out=nearest)
    cover = np.clip(thickness / 2 + 0.5 - nearest, 0.0, 1.0)
    # In steps of 1/256, so that the last bits of a machine's roots do not show.
    return np.asarray(np.rint(cover * 256) / 256, dtype=np.float32)[..., None]


def _distance(start: FloatArray, end: FloatArray, height: int, width: int) -> FloatArray:
    """From every pixel to one stroke of each item."""
    (down, right), (along_y, along_x) = start.T[:, :, None, None], (end - start).T[:, :, None, None]
    y, x = np.arange(height)[:, None] - down, np.arange(width) - right
    square = np.maximum(along_y**2 + along_x**2, 1e-9)
    share = np.clip((y * along_y + x * along_x) / square, 0.0, 1.0)
    return np.asarray(np.hypot(y - share * along_y, x - share * along_x))


def drawn_over(pixels: Pixels, cover: Pixels, brightness: float) -> Pixels:
    """Images with strokes of one brightness on top."""
    return np.asarray(pixels + cover * (np.float32(brightness) - pixels))
