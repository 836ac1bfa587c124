"""Structural similarity of images."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.inputs import Kind
from fieldcheck.core.types import FloatArray
from fieldcheck.tomography.quality.base import Needs, QualityScore

WINDOW, SIGMA = 11, 1.5


SMALLEST = 8


def ssim(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> FloatArray:
    """One per pair of images, up to 1 for equal ones.

    Wang et al., Image quality assessment: from error visibility to structural similarity, IEEE TIP 2004: Gaussian
    window of 11 pixels with a standard deviation of 1.5, K1 = .01, K2 = .03, mean over all places where the window
    fits. In images below 11 pixels the window is the largest odd one that fits. Colours: the mean of the channels.

    first, second
        Images x height x width (x channels) of one shape, uint8 or float in [0, 1].
    """
    _check(first, second)
    span = 255.0 if first.dtype == np.uint8 else 1.0
    weights = _gaussian(min(first.shape[1:3]))
    one, two = (np.asarray(images, dtype=np.float64) / span for images in (first, second))
    mean_one, mean_two = _smooth(one, weights), _smooth(two, weights)
    spread = _smooth(one**2, weights) - mean_one**2 + _smooth(two**2, weights) - mean_two**2
    shared = _smooth(one * two, weights) - mean_one * mean_two
    luminance = (2 * mean_one * mean_two + 0.01**2) / (mean_one**2 + mean_two**2 + 0.01**2)
    local = luminance * (2 * shared + 0.03**2) / (spread + 0.03**2)
    return np.asarray(local.mean(axis=tuple(range(1, local.ndim))))


def _check(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> None:
    if first.shape != second.shape or first.dtype != second.dtype or first.ndim not in (3, 4):
        raise SpaceError(
            f"images of shape {first.shape} and {second.shape}", rule="one shape: images x height x width (x channels)"
        )
    if min(first.shape[1:3]) < SMALLEST:
        raise SpaceError(f"images of {first.shape[1]} x {first.shape[2]} pixels", rule=f"{SMALLEST} or more each way")


def _gaussian(side: int) -> FloatArray:
    """Weights of the window along one axis."""
    size = min(WINDOW, side - 1 + side % 2)
    weights = np.exp(-0.5 * ((np.arange(size) - size // 2) / SIGMA) ** 2)
    return np.asarray(weights / weights.sum())


def _smooth(images: FloatArray, weights: FloatArray) -> FloatArray:
    """Weighted means over all windows that fit: first over rows, then over columns."""
    for axis in (1, 2):
        places = images.shape[axis] - len(weights) + 1
        shifted = (images.take(range(at, at + places), axis=axis) for at in range(len(weights)))
        images = np.asarray(sum(weight * part for weight, part in zip(weights, shifted, strict=True)))
    return images


class Ssim(QualityScore):
    """Mean ``ssim`` of images and themselves, perturbed."""

    name: ClassVar[str] = "ssim"
    title: ClassVar[str] = "Structural similarity"
    paper: ClassVar[str] = "Wang et al., IEEE TIP 2004"
    needs: ClassVar[Needs] = "inputs"
    kinds: ClassVar[frozenset[Kind]] = frozenset({"image"})
    low: ClassVar[float] = -1.0

    def score(self, clean: Any, perturbed: Any) -> float:
        return float(ssim(clean, perturbed).mean())
