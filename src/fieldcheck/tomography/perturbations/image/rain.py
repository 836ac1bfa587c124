"""Rain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, per_item, side
from fieldcheck.tomography.perturbations.image.strokes import covered

_STREAKS = np.array([0, 6, 12, 20, 30, 42])
_VEIL = (0.06, 0.11, 0.16, 0.21, 0.26)
_LENGTH = 0.22
_BRIGHT, _SEEN = 200.0, 0.6


@dataclass(frozen=True)
class Rain(ImagePerturbation):
    """6, 12, 20, 30, 42 bright streaks that fall the same way, and a grey veil of 6, 11, 16, 21, 26 %.

    Streaks are up to 22 % of the shorter side long and let 40 % of what is behind them through; their slant is
    drawn per item.
    """

    name: ClassVar[str] = "rain"
    title: ClassVar[str] = "Rain"
    paper: ClassVar[str] = "after Temel et al., CURE-TSR, 2017"
    random: ClassVar[bool] = True

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        _, height, width, _ = pixels.shape
        veil = per_item(_VEIL, severity)
        starts, ends = _streaks(draws, severity, height, width, length=_LENGTH * side(pixels))
        cover = covered(starts, ends, height, width, thickness=max(0.6, side(pixels) / 60)) * np.float32(_SEEN)
        veiled = pixels + veil * (np.float32(_BRIGHT) - pixels)
        return np.asarray(veiled + cover * (np.float32(_BRIGHT) - veiled))


def _streaks(
    draws: ItemStreams, severity: IntArray, height: int, width: int, *, length: float
) -> tuple[FloatArray, FloatArray]:
    """Starts and ends, items x streaks x 2; nan where an item has fewer."""
    most = int(_STREAKS[severity].max())
    y, x, size = np.moveaxis(draws.uniforms(3 * most).reshape(len(draws), most, 3), 2, 0)
    slant = (draws.uniforms(1, lane=1) - 0.5) * 0.8
    there = np.where(np.arange(most) < _STREAKS[severity][:, None], 1.0, np.nan)
    starts = np.stack([there * (y * 1.2 - 0.2) * height, x * width], axis=2)
    steps = length * (0.5 + 0.5 * size)
    return starts, starts + np.stack([steps, slant * steps], axis=2)
