"""Straight strokes drawn over images: how much of a pixel each of them covers."""

from __future__ import annotations

import numpy as np

from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.perturbations.image.base import Pixels

_AT_ONCE = 2**18
"""Pixels that are looked at in one go: more would leave the processor's cache."""


def covered(starts: FloatArray, ends: FloatArray, height: int, width: int, *, thickness: float) -> Pixels:
    """Items x height x width x 1, 0 to 1: how far a pixel lies under the nearest of an item's strokes.

    Only the pixels around each stroke are looked at.

    starts, ends
        Items x strokes x 2: down and right, in pixels; a stroke with nan is not there.
    thickness
        In pixels; edges fade over one pixel.
    """
    items, strokes = starts.shape[:2]
    reach = thickness / 2 + 0.5
    there = np.flatnonzero(~np.isnan(starts + ends).any(axis=2))
    start, end = starts.reshape(-1, 2)[there], ends.reshape(-1, 2)[there]
    first = np.floor(np.minimum(start, end) - reach).astype(np.int64)
    sizes = (np.ceil(np.maximum(start, end) + reach).astype(np.int64) - first + 1).max(axis=0, initial=1)
    rows, columns = np.minimum(sizes, (height, width)).tolist()
    first = np.clip(first, 0, (height - rows, width - columns))
    cover = np.zeros(items * height * width)
    step = max(1, _AT_ONCE // (rows * columns))
    for at in (slice(begin, begin + step) for begin in range(0, len(there), step)):
        y, x = first[at, :1] + np.arange(rows), first[at, 1:] + np.arange(columns)
        places = (there[at] // strokes * height)[:, None] + y
        values = np.clip(reach - _distance(start[at], end[at], y, x), 0.0, 1.0)
        np.maximum.at(cover, ((places * width)[:, :, None] + x[:, None]).ravel(), values.ravel())
    # In steps of 1/256, so that the last bits of a machine's roots do not show.
    return np.asarray(np.rint(cover * 256) / 256, dtype=np.float32).reshape(items, height, width, 1)


def _distance(start: FloatArray, end: FloatArray, y: IntArray, x: IntArray) -> FloatArray:
    """From each stroke to the pixels in its rows and columns: strokes x rows x columns."""
    (down, right), (along_y, along_x) = start.T[:, :, None, None], (end - start).T[:, :, None, None]
    y, x = y[:, :, None] - down, x[:, None] - right
    square = np.maximum(along_y**2 + along_x**2, 1e-9)
    share = np.clip((y * along_y + x * along_x) / square, 0.0, 1.0)
    return np.asarray(np.hypot(y - share * along_y, x - share * along_x))


def drawn_over(pixels: Pixels, cover: Pixels, brightness: float) -> Pixels:
    """Images with strokes of one brightness on top."""
    return np.asarray(pixels + cover * (np.float32(brightness) - pixels))
