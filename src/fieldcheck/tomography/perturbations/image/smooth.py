"""Gaussian smoothing as two matrix products."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from fieldcheck.numerics import special
from fieldcheck.tomography.perturbations.image.base import Pixels

_FIRST, _BETWEEN, _SECOND = 2.0**16, 2.0**4, 2.0**12
"""Bytes times 16-bit weights, rounded to sixteenths, times 12-bit weights: each sum is exact in float32."""


def gaussian(pixels: Pixels, deviation: float) -> Pixels:
    """Images smoothed with a Gaussian of ``deviation`` pixels, mirrored at the border."""
    _, height, width, _ = pixels.shape
    across = np.einsum("xw,nhwc->nhxc", _matrix(width, deviation, _FIRST), pixels, optimize=True)
    across = np.rint(across * np.float32(_BETWEEN)) / np.float32(_BETWEEN)
    down = np.einsum("yh,nhxc->nyxc", _matrix(height, deviation, _SECOND), across, optimize=True)
    return np.ascontiguousarray(down, dtype=np.float32)


@lru_cache(maxsize=64)
def _matrix(size: int, deviation: float, unit: float) -> npt.NDArray[np.float32]:
    """The smoothing along one axis: a row per output place; weights are multiples of ``1/unit`` and add up to 1."""
    reach = min(int(np.ceil(4 * deviation)), 2 * size)
    edges = (np.arange(-reach, reach + 2) - 0.5) / deviation
    whole = np.rint(np.diff(special.ndtr(edges)) * unit)
    whole[reach] += unit - whole.sum()
    matrix = np.zeros((size, size), dtype=np.float32)
    for offset, weight in zip(range(-reach, reach + 1), whole, strict=True):
        np.add.at(matrix, (np.arange(size), _mirrored(np.arange(size) + offset, size)), weight / unit)
    return matrix


def _mirrored(places: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.int64]:
    """Places beyond the border, mirrored back: -1 is 0, size is size - 1."""
    folded = np.mod(places, 2 * size)
    return np.asarray(np.minimum(folded, 2 * size - 1 - folded))
