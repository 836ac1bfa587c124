"""Images turned, sheared, moved and enlarged: each output pixel is a weighted sum of at most four input pixels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.perturbations.image.base import ImagePerturbation, Pixels, by_group, side, signs
from fieldcheck.tomography.perturbations.image.operator import apply_operator, kept, sparse_operator

_STEPS = 256
"""Places are rounded to 1/256 pixel. Products of two such weights are multiples of 2**-16: with bytes as pixels every
sum is exact in float32, whatever the order, so machines agree bit for bit."""


@dataclass(frozen=True)
class Affine:
    """Where an output pixel comes from: ``(y, x) = matrix (y', x') + shift``, measured from the centre of the image.

    matrix
        Row by row: y from y', y from x', x from y', x from x'.
    shift
        Down and to the right, in pixels.
    """

    matrix: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 1.0)
    shift: tuple[float, float] = (0.0, 0.0)

    def __call__(self, pixels: Pixels) -> Pixels:
        """The moved images; what comes from outside is black."""
        height, width = pixels.shape[1:3]
        return apply_operator(kept(_operator, height * width)(self, height, width), pixels)

    def forward(self) -> FloatArray:
        """Where a point of the input goes, from the centre, as a 3 x 3 matrix for ``(x, y, 1)``."""
        down, right = self.matrix[:2], self.matrix[2:]
        back = np.array(
            [[right[1], right[0], self.shift[1]], [down[1], down[0], self.shift[0]], [0.0, 0.0, 1.0]], dtype=np.float64
        )
        return np.asarray(np.linalg.inv(back))


class MovedImages(ImagePerturbation):
    """A perturbation that moves what is in the image, by an affine map for each level."""

    still: ClassVar[bool] = False

    @abstractmethod
    def affine(self, level: int, side: int) -> Affine:
        """What happens at a level, below 0 the other way, to images of this shorter side."""

    def one_of(self, level: int) -> float:
        """The amount of a level, below 0 where that is."""
        return self.amounts[abs(level) - 1] * (1 if level > 0 else -1)

    def ways(self, severity: IntArray, draws: ItemStreams) -> IntArray:
        """The level of each item; those that are random go either way."""
        return severity * signs(draws) if self.random else severity

    def change(self, pixels: Pixels, severity: IntArray, draws: ItemStreams) -> Pixels:
        return by_group(pixels, self.ways(severity, draws), lambda some, level: self.affine(level, side(some))(some))

    def motions(self, severity: IntArray, draws: ItemStreams, height: int, width: int) -> FloatArray:
        """See ``Perturbation.motions``."""
        levels, at = np.unique(self.ways(severity, draws), return_inverse=True)
        maps = [self.affine(level, min(height, width)).forward() for level in levels.tolist()]
        return np.array(maps).reshape(-1, 3, 3)[at]


def _operator(affine: Affine, height: int, width: int) -> Any:
    """The sparse matrix of bilinear weights."""
    parts = []
    for y, x, weight in _corners(_sources(affine, height, width)):
        inside = np.flatnonzero((y >= 0) & (y < height) & (x >= 0) & (x < width) & (weight > 0))
        parts.append(np.stack([inside, (y * width + x)[inside], weight[inside]]))
    outputs, inputs, weights = np.concatenate(parts, axis=1)
    return sparse_operator(outputs, inputs, weights / _STEPS**2, size=height * width)


def _sources(affine: Affine, height: int, width: int) -> IntArray:
    """Where each output pixel comes from, in steps of a pixel: two rows, y and x."""
    centre = np.array([[(height - 1) / 2], [(width - 1) / 2]])
    places = np.indices((height, width)).reshape(2, -1) - centre
    down, right = affine.matrix[:2], affine.matrix[2:]
    found = np.stack([down[0] * places[0] + down[1] * places[1], right[0] * places[0] + right[1] * places[1]])
    found += centre + np.array(affine.shift)[:, None]
    # rounded twice, so that a place halfway between two steps does not hang on the last bit of a sine
    return np.rint(np.rint(found * (_STEPS * 2.0**10)) / 2.0**10).astype(np.int64)


def _corners(sources: IntArray) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
    """The four pixels around each source: y, x and weight in units of 1/65,536."""
    (y, x), (low, right) = np.divmod(sources, _STEPS)
    for down in (0, 1):
        for across in (0, 1):
            yield y + down, x + across, (low if down else _STEPS - low) * (right if across else _STEPS - right)
