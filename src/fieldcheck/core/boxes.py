"""Boxes around objects: how they overlap, which belong together, and what was found of all objects."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.types import BoolArray, FloatArray, IntArray


def read_boxes(given: Any) -> FloatArray:
    """Boxes as rows ``x0, y0, x1, y1, ...``, given as numbers or JSON; those with a coordinate of nan are left out."""
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


def areas(boxes: FloatArray) -> FloatArray:
    """0 for boxes that end before they begin."""
    return np.asarray(np.maximum(boxes[:, 2:4] - boxes[:, :2], 0.0).prod(axis=1))


def overlaps(first: FloatArray, second: FloatArray) -> FloatArray:
    """Intersection over union of each box (rows) with each other one (columns); 0 for boxes without area."""
    low = np.maximum(first[:, None, :2], second[None, :, :2])
    high = np.minimum(first[:, None, 2:4], second[None, :, 2:4])
    shared = np.maximum(high - low, 0.0).prod(axis=2)
    union = areas(first)[:, None] + areas(second)[None, :] - shared
    return np.asarray(np.divide(shared, union, out=np.zeros_like(shared), where=union > 0))


def fitting(truth: FloatArray, boxes: FloatArray, iou: float) -> BoolArray:
    """Which box (columns) could be which true one (rows): they overlap, and agree in class where both have one."""
    near = overlaps(truth, boxes) >= iou
    if truth.shape[1] < 5 or boxes.shape[1] < 6:
        return near
    said, true = boxes[None, :, 5], truth[:, None, 4]
    return np.asarray(near & ((said == true) | np.isnan(said) | np.isnan(true)))


def found_of(possible: BoolArray) -> BoolArray:
    """For each true box (rows) whether it has a box (columns) of its own, so that most of them have one."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(possible, maximize=True)
    found = np.zeros(len(possible), dtype=np.bool_)
    found[rows] = possible[rows, columns]
    return found


@dataclass(frozen=True, eq=False)
class Objects:
    """Single objects in many images: what was there, and what was said.

    true_rows, true_classes, found
        One per true object: number of its image, its class, whether a box was matched to it.
    said_rows, said_classes, scores, right
        One per box that a model gave, whatever its score: whether it is an object that no better box had.
    """

    true_rows: IntArray
    true_classes: FloatArray
    found: BoolArray
    said_rows: IntArray
    said_classes: FloatArray
    scores: FloatArray
    right: BoolArray

    @property
    def recall(self) -> float:
        """Share of the true objects that were found; nan where there are none."""
        return float(self.found.mean()) if len(self.found) else math.nan

    @property
    def precision(self) -> float:
        """Mean over the classes of the average precision, the area under the curve of precision over recall.

        Everingham et al., The Pascal visual object classes challenge, IJCV 2010, without the eleven steps. Where
        objects or boxes have no class, all are one.
        """
        true, said = self.true_classes, self.said_classes
        if np.isnan(true).any() or np.isnan(said).any():
            true, said = np.zeros(len(true)), np.zeros(len(said))
        classes = np.unique(true).tolist()
        found = [self._precision(said == one, int(np.count_nonzero(true == one))) for one in classes]
        return float(np.mean(found)) if found else math.nan

    def _precision(self, said: BoolArray, objects: int) -> float:
        order = np.argsort(-self.scores[said], kind="stable")
        right = np.cumsum(self.right[said][order])
        precision = right / np.arange(1, len(right) + 1)
        best = np.maximum.accumulate(precision[::-1])[::-1]
        recall = np.concatenate([[0.0], right / objects])
        return float((np.diff(recall) * best).sum())

    def select(self, rows: IntArray) -> Objects:
        """Those of some images."""
        true, said = np.isin(self.true_rows, rows), np.isin(self.said_rows, rows)
        return Objects(
            self.true_rows[true],
            self.true_classes[true],
            self.found[true],
            self.said_rows[said],
            self.said_classes[said],
            self.scores[said],
            self.right[said],
        )


PARTS = ("true_rows", "true_classes", "found", "said_rows", "said_classes", "scores", "right")
"""Of ``Objects``, as they are stored."""


def objects_of(truths: Sequence[FloatArray], boxes: Sequence[FloatArray], *, iou: float, score: float) -> Objects:
    """All objects of some images, numbered from 0; found by boxes with this score or more."""
    rows = [_of_image(at, *pair, iou, score) for at, pair in enumerate(zip(truths, boxes, strict=True))]
    return Objects(*(np.concatenate(parts) for parts in zip(*rows, strict=True)))


def _of_image(at: int, truth: FloatArray, boxes: FloatArray, iou: float, score: float) -> tuple[Any, ...]:
    possible = fitting(truth, boxes, iou)
    scores = boxes[:, 4] if boxes.shape[1] > 4 else np.ones(len(boxes))
    return (
        np.full(len(truth), at, dtype=np.int64),
        truth[:, 4] if truth.shape[1] > 4 else np.zeros(len(truth)),
        found_of(possible[:, scores >= score]),
        np.full(len(boxes), at, dtype=np.int64),
        boxes[:, 5] if boxes.shape[1] > 5 else np.full(len(boxes), np.nan),
        scores,
        _right(overlaps(truth, boxes), possible, scores),
    )


def _right(near: FloatArray, possible: BoolArray, scores: FloatArray) -> BoolArray:
    """Which boxes are an object that no box with a higher score had; each takes the nearest that is left."""
    right, free = np.zeros(len(scores), dtype=np.bool_), np.ones(len(near), dtype=np.bool_)
    for box in np.argsort(-scores, kind="stable").tolist():
        fits = near[:, box] * (possible[:, box] & free)
        if len(fits) and fits.max() > 0:
            right[box] = True
            free[int(fits.argmax())] = False
    return right
