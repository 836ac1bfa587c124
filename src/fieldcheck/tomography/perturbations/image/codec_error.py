"""Damaged video."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, side

_HIT = np.array([0.0, 0.1, 0.2, 0.35, 0.5, 0.7])


_REACH = np.array([0.0, 0.06, 0.10, 0.15, 0.20, 0.25])


@dataclass(frozen=True)
class CodecError(ImagePerturbation):
    """Blocks that show another part of the image, as when a decoder goes on with lost or wrong motion vectors.

    The image has 8 blocks along its shorter side. 10, 20, 35, 50, 70 % of the blocks (drawn per item) are displaced, by
    up to 6, 10, 15, 20, 25 % of the shorter side each way. CURE-TSD publishes videos, not amounts: these are ours.
    """

    name: ClassVar[str] = "codec-error"
    title: ClassVar[str] = "Displaced blocks of damaged video"
    paper: ClassVar[str] = "after Temel et al., CURE-TSR, 2017"
    random: ClassVar[bool] = True

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        items, height, width, _ = pixels.shape
        block = max(1, round(side(pixels) / 8))
        grid = np.arange(height) // block, np.arange(width) // block
        moves = _moves(severity, draws, (grid[0][-1] + 1, grid[1][-1] + 1), side(pixels))
        down, right = (part[np.ix_(np.arange(items), *grid)] for part in moves)
        rows = np.clip(np.arange(height)[:, None] + down, 0, height - 1)
        columns = np.clip(np.arange(width) + right, 0, width - 1)
        return np.asarray(pixels[np.arange(items)[:, None, None], rows, columns])


def _moves(severity: IntArray, draws: ItemStreams, grid: tuple[int, int], shorter: int) -> IntArray:
    """How far down and to the right each block looks: 2 x items x rows of blocks x blocks."""
    hit, *chances = np.moveaxis(draws.uniforms(3 * grid[0] * grid[1]).reshape(-1, 3, *grid), 1, 0)
    reach = np.maximum(1, np.rint(_REACH[severity] * shorter)).astype(np.int64)[:, None, None]
    drawn = (np.stack(chances) * (2 * reach + 1)).astype(np.int64) - reach
    return np.where(hit < _HIT[severity][:, None, None], drawn, 0)
