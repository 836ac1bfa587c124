"""Images with fewer pixels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, by_group

_SHARES = (0.85, 0.7, 0.56, 0.44, 0.34)
_FIRST, _BETWEEN, _SECOND = 2.0**16, 2.0**4, 2.0**12
"""As in ``smooth``: every sum is exact in float32."""


@dataclass(frozen=True)
class Pixelate(ImagePerturbation):
    """Shrunk by averaging to .85, .7, .56, .44, .34 of the size, and enlarged again by repeating pixels.

    Published from .95 on (32 pixels hardly change there), or from .6 to .25 for large images.

    amounts
        Shares of the size, one per level, instead of these.
    """

    name: ClassVar[str] = "pixelate"
    title: ClassVar[str] = "Fewer, larger pixels"
    paper: ClassVar[str] = "after Hendrycks and Dietterich, ICLR 2019"

    amounts: tuple[float, ...] = ()

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        return by_group(pixels, severity, lambda some, level: _coarse(some, (self.amounts or _SHARES)[level - 1]))


def _coarse(pixels: Pixels, share: float) -> Pixels:
    _, height, width, _ = pixels.shape
    across = np.einsum("xw,nhwc->nhxc", _matrix(width, share, _FIRST), pixels, optimize=True)
    across = np.rint(across * np.float32(_BETWEEN)) / np.float32(_BETWEEN)
    down = np.einsum("yh,nhxc->nyxc", _matrix(height, share, _SECOND), across, optimize=True)
    return np.ascontiguousarray(down, dtype=np.float32)


@lru_cache(maxsize=64)
def _matrix(size: int, share: float, unit: float) -> Pixels:
    """Averages over the parts of a line that share one large pixel; a row per place, weights in whole units."""
    count = max(2, min(size - 1, round(size * share)))
    edges = np.arange(count + 1) * size / count
    places = np.arange(size)
    overlap = np.minimum(edges[1:, None], places + 1) - np.maximum(edges[:-1, None], places)
    whole = np.rint(np.clip(overlap, 0, None) * (count / size) * unit)
    whole[np.arange(count), whole.argmax(axis=1)] += unit - whole.sum(axis=1)
    return np.asarray(whole[(places * count) // size] / unit, dtype=np.float32)
