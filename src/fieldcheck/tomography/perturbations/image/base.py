"""What the image perturbations share: any image in, pixels as floats in between, the same kind of image out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from fieldcheck.core.errors import InputsError, SpaceError
from fieldcheck.core.inputs import Kind
from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.perturbations.base import check_severity

Pixels = npt.NDArray[np.float32]
"""Items x height x width x channels, 0 (black) to 255 (white), whatever the dtype of the images."""


_CHUNK = 2**18
"""Pixel values handled at a time: 1 MB, which stays in the cache of a core."""


_GRID = 2.0**16
"""Float images come out in steps of 1/65,536, so that the last bits of a machine's arithmetic do not show."""


class ImagePerturbation(ABC):
    """An image perturbation with severities 1..5; a subclass says what happens to the pixels.

    Results for uint8 images are the same on every machine wherever the docstring does not say otherwise: weights are
    multiples of 2**-16, so sums of weighted pixels are exact in float32, in any order.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    kind: ClassVar[Kind] = "image"
    random: ClassVar[bool] = False
    still: ClassVar[bool] = True
    amounts: tuple[float, ...] = ()
    """What each level means, where somebody chose that; those that have a number for it have a field for it."""

    @property
    def levels(self) -> int:
        """Largest severity."""
        return len(self.amounts) or 5

    @abstractmethod
    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        """Perturbed pixels, not yet clipped and rounded. ``severity`` and ``draws``: one per item, severity >= 1."""

    def apply(self, batch: npt.NDArray[Any], severity: IntArray, draws: ItemStreams) -> npt.NDArray[Any]:
        """Perturb a batch of images; see ``core.perturbation.Perturbation``."""
        severity = check_severity(self, severity, len(batch))
        images = _as_images(batch)
        out = images.copy()
        for rows in _chunks(severity, size=images[0].size if len(images) else 1):
            changed = self.change(_to_pixels(images[rows]), severity[rows], draws.select(rows))
            out[rows] = _from_pixels(changed, images.dtype)
        return out.reshape(batch.shape)


def per_item(values: tuple[float, ...], severity: IntArray) -> Pixels:
    """The parameter of each item's severity, in a shape that goes with pixels."""
    return np.array((0.0, *values), dtype=np.float32)[severity][:, None, None, None]


def by_group(pixels: Pixels, groups: IntArray, change: Callable[[Pixels, int], Pixels]) -> Pixels:
    """Change all items of a group together; ``groups`` holds one whole number per item."""
    out = np.empty_like(pixels)
    for group in np.unique(groups):
        rows = groups == group
        out[rows] = change(pixels[rows], int(group))
    return out


def signs(draws: ItemStreams) -> IntArray:
    """-1 or 1 per item, equally likely."""
    return 2 * draws.below(2)[:, 0] - 1


def side(pixels: Pixels) -> int:
    """The shorter side of the images: lengths are scaled to it."""
    return int(min(pixels.shape[1:3]))


def check_choice(name: str, parameter: str, value: str, among: tuple[str, ...]) -> None:
    """Raise unless ``value`` is one of ``among``."""
    if value not in among:
        raise SpaceError(
            f"{name}: {parameter} is '{value}'",
            rule=f"{parameter} is one of " + ", ".join(among),
            hint=f"{name}:{parameter}={among[0]}",
        )


def _as_images(batch: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The batch with a channel axis; an error where it is not a batch of images."""
    images = np.asarray(batch)
    if images.ndim == 3:
        images = images[..., None]
    if images.ndim != 4 or images.shape[3] not in (1, 3) or min(images.shape[1:3]) < 8:
        raise InputsError(
            f"images in an array of shape {np.shape(batch)}",
            rule="items x height x width, or items x height x width x 1 or 3, of 8 pixels and more each way",
            hint="move the channels to the last axis",
        )
    if images.dtype != np.uint8 and images.dtype.kind != "f":
        raise InputsError(f"images of {images.dtype}", rule="uint8 from 0 to 255, or floats from 0 to 1")
    if images.dtype.kind == "f" and images.size and not (images.min() >= 0 and images.max() <= 1):
        raise InputsError(
            f"float images from {images.min():.3g} to {images.max():.3g}",
            rule="float images are from 0 to 1, nothing missing",
            hint="perturb before normalising: let the model normalise",
        )
    return images


def _chunks(severity: IntArray, *, size: int) -> Iterator[IntArray]:
    """Rows of perturbed items, those of one severity together, a chunk at a time; ``size`` is values per item."""
    order = np.argsort(severity, kind="stable")
    order = order[severity[order] > 0]
    step = max(1, _CHUNK // size)
    for start in range(0, len(order), step):
        yield order[start : start + step]


def _to_pixels(images: npt.NDArray[Any]) -> Pixels:
    pixels = images.astype(np.float32)
    return pixels if images.dtype == np.uint8 else pixels * np.float32(255)


def _from_pixels(pixels: Pixels, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    np.clip(pixels, 0, 255, out=pixels)
    if dtype == np.uint8:
        return np.rint(pixels, out=pixels).astype(np.uint8)
    steps: FloatArray = np.rint(pixels * (_GRID / 255.0))
    return (steps / _GRID).astype(dtype)
