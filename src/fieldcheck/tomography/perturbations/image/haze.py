"""Haze: contrast that is lost with distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, per_item

_THICKNESS = (0.25, 0.5, 0.9, 1.3, 1.8)
_AIRLIGHT = 215.0


@dataclass(frozen=True)
class Haze(ImagePerturbation):
    """``image · t + 215 (1 - t)`` with ``t = exp(-b d)``, b = .25, .5, .9, 1.3, 1.8 (Koschmieder's law).

    The distance d is 1 at the upper border and a third at the lower one, as on a road. CURE-TSD publishes videos, not
    amounts: these are ours.

    amounts
        Thickness, one per level, instead of these.
    """

    name: ClassVar[str] = "haze"
    title: ClassVar[str] = "Haze, thicker far away"
    paper: ClassVar[str] = "after Temel et al., CURE-TSR, 2017; Koschmieder 1924"

    amounts: tuple[float, ...] = ()

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        distance = np.linspace(1, 1 / 3, pixels.shape[1])[None, :, None, None]
        seen = np.exp(-per_item(self.amounts or _THICKNESS, severity).astype(np.float64) * distance)
        seen = np.asarray(np.rint(seen * 2**14) / 2**14, dtype=np.float32)
        return np.asarray(pixels * seen + np.float32(_AIRLIGHT) * (1 - seen))
