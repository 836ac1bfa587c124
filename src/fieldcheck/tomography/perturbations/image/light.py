"""More or less light on the sensor: stops, applied to linear light."""

from __future__ import annotations

from functools import cache

import numpy as np

from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.perturbations.image.base import Pixels


def expose(pixels: Pixels, severity: IntArray, stops: tuple[float, ...]) -> Pixels:
    """Images as a camera would have recorded them with more light: each of the ``stops`` of a severity doubles it.

    Pixels are sRGB values: they are turned into amounts of light, multiplied, cut off at white, and turned back. The
    256 values of bytes are looked up; values between two of them lie on the line between.
    """
    table = _table(stops)
    below = pixels.astype(np.int64)
    first = below + 257 * severity[:, None, None, None]
    start = table[first]
    return np.asarray(start + (pixels - below) * (table[first + 1] - start), dtype=np.float32)


@cache
def _table(stops: tuple[float, ...]) -> Pixels:
    """Exposed values of 0..256 by severity from 0 on, flat; 256 is as white as 255."""
    light = _to_light(np.minimum(np.arange(257), 255) / 255.0) * np.exp2(np.array([[0.0], *([stop] for stop in stops)]))
    return np.asarray(255.0 * _from_light(np.minimum(light, 1.0)), dtype=np.float32).ravel()


def _to_light(value: FloatArray) -> FloatArray:
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def _from_light(light: FloatArray) -> FloatArray:
    return np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)
