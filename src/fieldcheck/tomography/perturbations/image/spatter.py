"""Drops on the lens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels
from fieldcheck.tomography.perturbations.image.fields import smooth_noise

_SHARES = np.array([0.0, 0.06, 0.12, 0.19, 0.27, 0.36])
_CELLS = 6
_COLOUR = 190.0
_SOFT = 0.08


@dataclass(frozen=True)
class Spatter(ImagePerturbation):
    """Bright drops cover 6, 12, 19, 27, 36 % of the image: where a smooth random field of the item is highest.

    Drops have soft edges and hide what is behind them. Sums of floats: another machine may round a rare pixel the
    other way.
    """

    name: ClassVar[str] = "spatter"
    title: ClassVar[str] = "Drops on the lens"
    paper: ClassVar[str] = "after Hendrycks and Dietterich, ICLR 2019; Mu and Gilmer, MNIST-C, 2019"
    random: ClassVar[bool] = True

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        field = smooth_noise(draws, *pixels.shape[1:3], coarsest=_CELLS, octaves=2)
        cover = highest(field, _SHARES[severity])[..., None]
        return np.asarray(pixels + cover * (np.float32(_COLOUR) - pixels))


def highest(field: Pixels, shares: FloatArray) -> Pixels:
    """0 to 1 per pixel: 1 in the share of each item where its field is highest, fading at the edge."""
    flat = np.sort(field.reshape(len(field), -1), axis=1)
    at = np.clip(((1 - shares) * flat.shape[1]).astype(np.int64), 0, flat.shape[1] - 1)
    edge = flat[np.arange(len(field)), at][:, None, None]
    return np.asarray(np.clip((field - edge) / _SOFT + 0.5, 0.0, 1.0), dtype=np.float32)
