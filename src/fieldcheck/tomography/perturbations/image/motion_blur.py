"""Images blurred along a line, as by a moving camera."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, by_group, check_choice, side
from fieldcheck.tomography.perturbations.image.operator import apply_operator, kept, sparse_operator

Scale = Literal["mnist", "cifar"]


_TAILS: dict[str, tuple[tuple[float, float], ...]] = {
    "mnist": ((21 / 28, 3 / 28), (31 / 28, 5 / 28), (31 / 28, 8 / 28), (31 / 28, 12 / 28), (41 / 28, 15 / 28)),
    "cifar": ((13 / 32, 1 / 32), (13 / 32, 1.5 / 32), (13 / 32, 1.75 / 32), (17 / 32, 2 / 32), (19 / 32, 2.5 / 32)),
}


_DIRECTIONS = 19
"""The directions from -45 to 45 degrees that are drawn from: every 5 degrees, so that operators can be kept."""


_MATRIX = 40 * 40
"""Pixels of an image whose blurs are worth a matrix: all levels and directions take less than 100 MB."""


_UNIT = 2**16


@dataclass(frozen=True)
class MotionBlur(ImagePerturbation):
    """Blurred along a line between -45 and 45 degrees (drawn per item, in steps of 5).

    The tail is half a Gaussian, as ImageMagick makes it for the published corruptions, cut at three deviations;
    pixels beyond the border are those at the border.

    scale
        ``mnist``: standard deviations of 3, 5, 8, 12, 15 pixels on 28; ``cifar``: 1, 1.5, 1.75, 2, 2.5 on 32
        (published: 2 at levels 3 and 4, which makes them equal); in proportion on other sizes.
    """

    name: ClassVar[str] = "motion-blur"
    title: ClassVar[str] = "Blurred along a line"
    paper: ClassVar[str] = "Mu and Gilmer, MNIST-C, 2019; Hendrycks and Dietterich, ICLR 2019"
    random: ClassVar[bool] = True

    scale: Scale = "mnist"

    def __post_init__(self) -> None:
        check_choice(self.name, "scale", self.scale, tuple(_TAILS))

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        groups = severity * _DIRECTIONS + draws.below(_DIRECTIONS)[:, 0]
        return by_group(pixels, groups, self._blur)

    def _blur(self, pixels: Pixels, group: int) -> Pixels:
        level, direction = divmod(group, _DIRECTIONS)
        length, deviation = (side(pixels) * part for part in _TAILS[self.scale][level - 1])
        tail = Tail(length, deviation, direction)
        height, width = pixels.shape[1:3]
        if height * width <= _MATRIX:
            return apply_operator(kept(_operator, height * width)(tail, height, width), pixels)
        return _shifted_sum(tail, pixels)


@dataclass(frozen=True)
class Tail:
    """A blur: its length and standard deviation in pixels, and the number of its direction."""

    length: float
    deviation: float
    direction: int

    def taps(self) -> tuple[IntArray, IntArray]:
        """Offsets (two rows: y, x) and their weights in units of 2**-16, which add up to 1.

        Steps of one pixel in x; a place between two pixels in y is shared by both.
        """
        slope = math.tan(math.radians(-45 + 5 * self.direction))
        stretch = math.hypot(1.0, slope)
        across = np.arange(math.floor(min(self.length, 3 * self.deviation + 1) / stretch) + 1)
        weights = np.exp(-0.5 * (across * stretch / self.deviation) ** 2)
        down = np.rint(across * slope * 256) / 256
        above = np.floor(down)
        offsets = np.stack([np.concatenate([above, above + 1]), np.concatenate([across, across])]).astype(np.int64)
        return offsets, _whole(np.concatenate([weights * (above + 1 - down), weights * (down - above)]))


def _whole(weights: FloatArray) -> IntArray:
    """Weights as whole numbers that add up to 2**16: the largest takes up what rounding leaves."""
    whole: IntArray = np.rint(weights / weights.sum() * _UNIT).astype(np.int64)
    whole[np.argmax(whole)] += _UNIT - whole.sum()
    return whole


def _operator(tail: Tail, height: int, width: int) -> Any:
    """The blur of small images as a sparse matrix."""
    offsets, weights = tail.taps()
    y, x = np.indices((height, width)).reshape(2, -1, 1) + offsets[:, None, :]
    inputs = np.clip(y, 0, height - 1) * width + np.clip(x, 0, width - 1)
    outputs = np.broadcast_to(np.arange(height * width)[:, None], inputs.shape)
    spread = np.broadcast_to(weights / _UNIT, inputs.shape)
    used = spread > 0
    return sparse_operator(outputs[used], inputs[used], spread[used], size=height * width)


def _shifted_sum(tail: Tail, pixels: Pixels) -> Pixels:
    """The blur of large images: one shifted copy after the other, weighted."""
    offsets, weights = tail.taps()
    height, width = pixels.shape[1:3]
    up, down, right = max(0, -int(offsets[0].min())), max(0, int(offsets[0].max())), int(offsets[1].max())
    padded = np.pad(pixels, ((0, 0), (up, down), (0, right), (0, 0)), mode="edge")
    out = np.zeros_like(pixels)
    for y, x, weight in zip(offsets[0] + up, offsets[1], weights, strict=True):
        if weight:
            out += np.float32(weight / _UNIT) * padded[:, y : y + height, x : x + width]
    return out
