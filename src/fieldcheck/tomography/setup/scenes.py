"""Images with true boxes, which travel with what moves the images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core import boxes as box
from fieldcheck.core import measures
from fieldcheck.core.errors import SpaceError
from fieldcheck.core.measures.base import Measure
from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.perturbations.base import Moving, Perturbation

VISIBLE = 0.5
"""Of a box, the share that must still be in the picture for its object to count."""


Right = Measure | Callable[[Any, Any], npt.NDArray[Any]]
"""What right is: a measure, or a function of boxes said and true boxes."""


@dataclass(frozen=True, eq=False)
class Motion:
    """Where the contents of some images went, measured from their centres.

    maps
        From the place of a point in the untouched image to where it is now: a 3 x 3 matrix each.
    windows
        What of the picture can still show something of the untouched image: ``x0, y0, x1, y1`` each. What once left
        the picture does not come back.
    """

    maps: FloatArray
    windows: FloatArray

    @classmethod
    def none(cls, count: int, height: int, width: int) -> Motion:
        """Nothing moved yet."""
        picture = np.array([-width, -height, width, height]) / 2
        return cls(np.tile(np.eye(3), (count, 1, 1)), np.tile(picture, (count, 1)))

    def then(self, at: IntArray, maps: FloatArray, picture: FloatArray) -> None:
        """Move some of the images on, in place."""
        self.maps[at] = maps @ self.maps[at]
        self.windows[at] = _clipped(_moved(maps, self.windows[at]), picture)


@dataclass(frozen=True, eq=False)
class Scenes:
    """The true boxes of every input, and what right is.

    boxes
        ``x0, y0, x1, y1, class`` of each input, in pixels from the upper left corner; a class of nan is any.
    height, width
        Of all images.
    visible
        Share of a box that must be in the picture for its object to count.
    """

    boxes: Sequence[FloatArray]
    height: int
    width: int
    right: Right
    visible: float = VISIBLE

    def check(self, perturbations: Sequence[Perturbation]) -> None:
        """Refuse what does not say where it moves things."""
        silent = [one.name for one in perturbations if not one.still and not isinstance(one, Moving)]
        if silent:
            raise SpaceError(
                f"{silent[0]} does not say how it moves what is in an image",
                rule="where the truth has places, perturbations leave things where they are or say where they go",
                hint="another perturbation; of your own: still=True, where nothing moves",
            )

    def after(self, motion: Motion, inputs: IntArray) -> list[FloatArray]:
        """The true boxes of each input, moved, cut at the border, without those of which too little is left."""
        counts = [len(self.boxes[at]) for at in inputs.tolist()]
        if not sum(counts):
            return [np.zeros((0, 5))] * len(inputs)
        rows = np.repeat(np.arange(len(inputs)), counts)
        whole = np.concatenate([self.boxes[at] for at in inputs.tolist()])
        centre = np.array([self.width, self.height, self.width, self.height]) / 2
        moved = _moved(motion.maps[rows], whole[:, :4] - centre)
        seen = _clipped(moved, motion.windows[rows])
        kept = (box.areas(seen) > 0) & (box.areas(seen) >= self.visible * box.areas(moved))
        found = np.column_stack([seen + centre, whole[:, 4]])
        ends = np.cumsum(counts)[:-1]
        return [part[keep] for part, keep in zip(np.split(found, ends), np.split(kept, ends), strict=True)]

    def held(self, outputs: Sequence[FloatArray], truths: Sequence[FloatArray]) -> FloatArray:
        """1.0 where an answer is right, one per image."""
        if callable(self.right):
            return np.asarray(self.right(outputs, truths), dtype=np.float64)
        return np.asarray(~self.right.failed(self.right.losses(outputs, truths)), dtype=np.float64)

    def objects(self, outputs: Sequence[FloatArray], truths: Sequence[FloatArray]) -> box.Objects | None:
        """Single objects, where right is a measure of detection."""
        if not isinstance(self.right, measures.Detection | measures.DetectionF1):
            return None
        return box.objects_of(truths, outputs, iou=self.right.iou, score=self.right.score)


LEAST_LEFT = 0.2
"""A test in which a smaller share of the inputs has an object left says nothing about the model."""


MOST_MOVED = 50_000
"""Combinations of moving perturbations for which the share is worked out."""


def moves(
    perturbation: Perturbation, seed: int, items: IntArray, severities: IntArray, *, height: int, width: int
) -> FloatArray | None:
    """The maps of a perturbation that moves things; None for one that does not."""
    if perturbation.still or not isinstance(perturbation, Moving):
        return None
    draws = ItemStreams.of(seed, perturbation.name, items, severities)
    return perturbation.motions(severities, draws, height, width)


def _moved(maps: FloatArray, boxes: FloatArray) -> FloatArray:
    """The smallest upright boxes around boxes whose four corners were moved, one map each."""
    x, y = boxes[:, [0, 2, 0, 2]], boxes[:, [1, 1, 3, 3]]
    corners = maps @ np.stack([x, y, np.ones_like(x)], axis=1)
    return np.concatenate([corners[:, :2].min(axis=2), corners[:, :2].max(axis=2)], axis=1)


def _clipped(boxes: FloatArray, windows: FloatArray) -> FloatArray:
    low = np.maximum(boxes[:, :2], windows[..., :2])
    return np.concatenate([low, np.maximum(np.minimum(boxes[:, 2:], windows[..., 2:]), low)], axis=1)
