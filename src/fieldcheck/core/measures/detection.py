"""Whether true boxes are found."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.types import BoolArray, FloatArray


@dataclass(frozen=True)
class Detection:
    """Loss 1 where a true box is not found: matched one to one by boxes that overlap it at ``iou`` or more.

    The true boxes must stay where they are: perturb with photometric ones (brightness, contrast, noise, blur), not with
    geometric ones (translate, zoom, rotate, scale, shear), which move the objects. Superfluous boxes are no failure
    here, and an image without true boxes is always right.

    Outputs are per image boxes ``x0, y0, x1, y1[, score[, class]]``, rows of nan are no box; truths are per image boxes
    ``x0, y0, x1, y1[, class]``, as numbers or as JSON text. A class counts where both sides have one.

    iou
        Area of the intersection over that of the union, above 0 up to 1 (Everingham et al., The Pascal visual object
        classes challenge, IJCV 2010: 0.5).
    every
        Whether every true box must be found; else one is enough.
    score
        Boxes with a lower one are not looked at.
    """

    name: ClassVar[str] = "detection"

    iou: float = 0.5
    every: bool = True
    score: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.iou <= 1:
            raise SpaceError(f"an overlap of {self.iou}", rule="above 0, up to 1")

    scales = ("accuracy",)
    range = (0.0, 1.0)

    def losses(self, outputs: Any, truths: Any) -> FloatArray:
        pairs = zip(outputs, truths, strict=True)
        return np.array([float(not self._found(_boxes(said), _boxes(truth))) for said, truth in pairs])

    def failed(self, losses: FloatArray) -> BoolArray:
        return losses > 0.5

    def _found(self, boxes: FloatArray, truth: FloatArray) -> bool:
        kept = boxes[boxes[:, 4] >= self.score] if boxes.shape[1] > 4 else boxes
        matched = _matched((overlaps(truth, kept) >= self.iou) & _same_class(truth, kept))
        return matched == len(truth) if self.every else matched > 0 or not len(truth)


def overlaps(first: FloatArray, second: FloatArray) -> FloatArray:
    """Intersection over union of each box (rows) with each other one (columns); 0 for boxes without area."""
    low = np.maximum(first[:, None, :2], second[None, :, :2])
    high = np.minimum(first[:, None, 2:4], second[None, :, 2:4])
    shared = np.maximum(high - low, 0.0).prod(axis=2)
    union = _areas(first)[:, None] + _areas(second)[None, :] - shared
    return np.asarray(np.divide(shared, union, out=np.zeros_like(shared), where=union > 0))


def _areas(boxes: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(boxes[:, 2:4] - boxes[:, :2], 0.0).prod(axis=1))


def _same_class(truth: FloatArray, boxes: FloatArray) -> BoolArray:
    if truth.shape[1] < 5 or boxes.shape[1] < 6:
        return np.ones((len(truth), len(boxes)), dtype=np.bool_)
    return np.asarray(truth[:, None, 4] == boxes[None, :, 5])


def _matched(possible: BoolArray) -> int:
    """Most true boxes (rows) that can have a box (column) of their own."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(possible, maximize=True)
    return int(possible[rows, columns].sum())


def _boxes(given: Any) -> FloatArray:
    """Boxes as rows; those with a coordinate that is nan are left out."""
    try:
        rows = np.asarray(json.loads(given) if isinstance(given, str) else given, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise SpaceError(f"boxes that cannot be read: {error}", rule="numbers, or JSON: [[x0, y0, x1, y1]]") from error
    if not rows.size:
        return np.zeros((0, 4))
    rows = np.atleast_2d(rows)
    if rows.ndim != 2 or rows.shape[1] < 4:
        raise SpaceError(f"boxes of shape {rows.shape}", rule="one row per box: x0, y0, x1, y1 and what follows")
    return rows[~np.isnan(rows[:, :4]).any(axis=1)]
