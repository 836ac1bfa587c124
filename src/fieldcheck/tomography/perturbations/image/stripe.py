"""A stripe of inverted pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels

_WIDTHS = np.array([0.0, 0.06, 0.11, 0.16, 0.22, 0.3])


@dataclass(frozen=True)
class Stripe(ImagePerturbation):
    """Brightness is turned round in an upright stripe in the middle, 6, 11, 16, 22, 30 % of the width.

    At least as many pixels as the severity.
    """

    name: ClassVar[str] = "stripe"
    title: ClassVar[str] = "An inverted stripe"
    paper: ClassVar[str] = "after Mu and Gilmer, MNIST-C, 2019"

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        width = pixels.shape[2]
        wide = np.maximum(severity, np.rint(_WIDTHS[severity] * width).astype(np.int64))
        start = (width - wide) // 2
        places = np.arange(width)
        inside = (places >= start[:, None]) & (places < (start + wide)[:, None])
        return np.asarray(np.where(inside[:, None, :, None], 255 - pixels, pixels), dtype=np.float32)
