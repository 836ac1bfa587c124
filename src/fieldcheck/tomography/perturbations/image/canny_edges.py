"""Images that turn into their outlines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import BoolArray, IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, per_item
from fieldcheck.tomography.perturbations.image.smooth import gaussian

_SHARES = (0.25, 0.45, 0.65, 0.85, 1.0)
_WEAK, _STRONG = 60.0, 140.0
_ROUNDS = 8


@dataclass(frozen=True)
class CannyEdges(ImagePerturbation):
    """Mixed with its outlines, white on black: 25, 45, 65, 85, 100 % outlines. At 5 it is the published one.

    Outlines as Canny finds them (PAMI 1986): gradients of the smoothed brightness, thinned across, strong ones and
    the weak ones that hang together with them (looked for eight steps far).
    """

    name: ClassVar[str] = "canny-edges"
    title: ClassVar[str] = "Outlines"
    paper: ClassVar[str] = "after Mu and Gilmer, MNIST-C, 2019; Canny, PAMI 1986"

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        outlines = np.float32(255) * _edges(pixels)[..., None]
        return np.asarray(pixels + per_item(_SHARES, severity) * (outlines - pixels))


def _edges(pixels: Pixels) -> Pixels:
    grey = gaussian(pixels, 0.7).max(axis=3)
    down, right = _gradients(np.rint(grey))
    strength = np.abs(down) + np.abs(right)
    ridge = strength * _is_ridge(strength, down, right)
    found, weak = ridge >= _STRONG, ridge >= _WEAK
    for _ in range(_ROUNDS):
        found = weak & _grown(found)
    return np.asarray(found, dtype=np.float32)


def _gradients(grey: Pixels) -> tuple[Pixels, Pixels]:
    """Sobel's differences, whole numbers: downwards and to the right."""
    padded = np.pad(grey, ((0, 0), (1, 1), (1, 1)), mode="edge")
    across = padded[:, :, :-2] + 2 * padded[:, :, 1:-1] + padded[:, :, 2:]
    along = padded[:, :-2] + 2 * padded[:, 1:-1] + padded[:, 2:]
    return across[:, 2:] - across[:, :-2], along[:, :, 2:] - along[:, :, :-2]


def _is_ridge(strength: Pixels, down: Pixels, right: Pixels) -> BoolArray:
    """Where no neighbour across the edge is stronger."""
    padded = np.pad(strength, ((0, 0), (1, 1), (1, 1)))
    level = (padded[:, 1:-1, :-2], padded[:, 1:-1, 2:])
    upright = (padded[:, :-2, 1:-1], padded[:, 2:, 1:-1])
    one, other = (np.where(np.abs(right) >= np.abs(down), a, b) for a, b in zip(level, upright, strict=True))
    return (strength >= one) & (strength > other)


def _grown(found: BoolArray) -> BoolArray:
    """With all eight neighbours."""
    padded = np.pad(found, ((0, 0), (1, 1), (1, 1)))
    rows = padded[:, :-2] | padded[:, 1:-1] | padded[:, 2:]
    return np.asarray(rows[:, :, :-2] | rows[:, :, 1:-1] | rows[:, :, 2:])
