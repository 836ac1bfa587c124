"""Linear maps of images, as sparse matrices that act on a whole batch at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import numpy as np

from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.perturbations.image.base import Pixels

_SMALL, _MEDIUM = 64 * 64, 256 * 256
"""Of images up to these sizes 256 and 32 operators are kept; those of larger ones would fill the memory. Making one
takes a fraction of the time that a network takes to look at such an image."""


@cache
def kept(make: Callable[..., Any], pixels: int) -> Callable[..., Any]:
    """``make`` with a memory of operators for images of so many pixels."""
    if pixels > _MEDIUM:
        return make
    return lru_cache(maxsize=256 if pixels <= _SMALL else 32)(make)


def sparse_operator(outputs: IntArray, inputs: IntArray, weights: FloatArray, *, size: int) -> Any:
    """The matrix with ``weights`` at (output pixel, input pixel); ``size`` pixels on either side."""
    from scipy.sparse import csr_array

    return csr_array((weights.astype(np.float32), (outputs, inputs)), shape=(size, size))


def apply_operator(operator: Any, pixels: Pixels) -> Pixels:
    """One sparse product for all items and channels."""
    items, height, width, channels = pixels.shape
    columns = np.ascontiguousarray(pixels.transpose(1, 2, 0, 3)).reshape(height * width, items * channels)
    moved = (operator @ columns).reshape(height, width, items, channels)
    return np.ascontiguousarray(moved.transpose(2, 0, 1, 3))
