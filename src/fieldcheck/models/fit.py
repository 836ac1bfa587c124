"""Images brought to the size that a model takes, and boxes brought back to the image."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fieldcheck.core.types import FloatArray

FitKind = Literal["none", "letterbox", "letterbox-centre", "stretch"]

GREY = 114
"""What fills the rest of a letterbox: the grey that YOLOX and its kin were trained with."""


@dataclass(frozen=True)
class PictureFit:
    """Bilinear between the centres of pixels, without smoothing where images shrink, as networks are trained."""

    kind: FitKind
    width: int
    height: int

    def __str__(self) -> str:
        return f"fitted to {self.width} x {self.height} ({self.kind})"

    def __call__(self, images: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Images of this size, in the type they had."""
        height, width = images.shape[1:3]
        (tall, wide), (top, left) = self._place(height, width)
        resized = images if (tall, wide) == (height, width) else _resized(images, tall, wide)
        if (tall, wide) == (self.height, self.width):
            return resized
        grey = GREY if images.dtype == np.uint8 else GREY / 255
        found = np.full((len(images), self.height, self.width, *images.shape[3:]), grey, dtype=images.dtype)
        found[:, top : top + tall, left : left + wide] = resized
        return found

    def back(self, boxes: FloatArray, height: int, width: int) -> FloatArray:
        """Boxes ``x0, y0, x1, y1, ...`` in a fitted image as boxes in the image of this height and width."""
        (tall, wide), (top, left) = self._place(height, width)
        found = boxes.copy()
        found[:, 0:4:2] = (boxes[:, 0:4:2] - left) * (width / wide)
        found[:, 1:4:2] = (boxes[:, 1:4:2] - top) * (height / tall)
        return found

    def _place(self, height: int, width: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Height and width of the image in the frame, and where its upper left corner is: down, right."""
        if self.kind == "stretch":
            return (self.height, self.width), (0, 0)
        ratio = min(self.height / height, self.width / width)
        tall, wide = max(1, int(height * ratio)), max(1, int(width * ratio))
        centred = self.kind == "letterbox-centre"
        return (tall, wide), ((self.height - tall) // 2, (self.width - wide) // 2) if centred else (0, 0)


def _resized(images: npt.NDArray[Any], tall: int, wide: int) -> npt.NDArray[Any]:
    height, width = images.shape[1:3]
    found = np.einsum("yh,nh...->ny...", _weights(height, tall), images.astype(np.float32), optimize=True)
    found = np.einsum("xw,nyw...->nyx...", _weights(width, wide), found, optimize=True)
    return np.asarray(np.rint(found) if images.dtype == np.uint8 else found, dtype=images.dtype)


@lru_cache(maxsize=32)
def _weights(before: int, after: int) -> npt.NDArray[np.float32]:
    """One row per new pixel: what the two old ones around its place weigh."""
    places = np.clip((np.arange(after) + 0.5) * before / after - 0.5, 0, before - 1)
    low = np.minimum(places.astype(np.int64), max(before - 2, 0))
    found = np.zeros((after, before), dtype=np.float32)
    found[np.arange(after), low] = 1 - (places - low)
    found[np.arange(after), np.minimum(low + 1, before - 1)] += places - low
    return found
