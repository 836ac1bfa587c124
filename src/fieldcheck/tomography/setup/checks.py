"""What counts as right: functions of what the model said and of the truth, one entry per input.

In Python: ``Executor(check=against(detection(0.5), boxes), ...)``. In a space file a check of your own, or a ready one:
``function = "fieldcheck.tomography.setup.checks:every_box"``; other settings are one line in a module of yours,
``loose = detection(0.3, every=False)``, and ``function = "module:loose"``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.types import BoolArray, FloatArray
from fieldcheck.tomography.setup.executor import Check

Judge = Callable[[Any, Any], npt.NDArray[Any]]
"""From outputs and truths, one entry per input, to whether each output is right."""


def against(judge: Judge, truths: Any) -> Check:
    """The check of an executor: a judge that knows the truth of every input of the data."""
    known = truths if isinstance(truths, np.ndarray) else _entries(truths)
    return lambda outputs, at: judge(outputs, known[at])


def label(outputs: Any, truths: Any) -> BoolArray:
    """Whether the most probable class is the true one.

    outputs
        Probabilities, one column per class.
    truths
        Codes of the true classes.
    """
    return np.asarray(np.asarray(outputs).argmax(axis=1) == np.asarray(truths))


def tolerance(largest: float) -> Judge:
    """Whether a value is at most so far from the true one."""
    if not largest >= 0:
        raise SpaceError(f"a tolerance of {largest}", rule="0 or more")
    return lambda outputs, truths: (
        np.abs(np.asarray(outputs, dtype=np.float64).reshape(-1) - np.asarray(truths, dtype=np.float64)) <= largest
    )


def detection(iou: float = 0.5, *, every: bool = True, score: float = 0.5) -> Judge:
    """Whether true boxes are found: matched one to one by boxes that overlap them at ``iou`` or more.

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
    if not 0 < iou <= 1:
        raise SpaceError(f"an overlap of {iou}", rule="above 0, up to 1")

    def judge(outputs: Any, truths: Any) -> BoolArray:
        return np.array([found(_boxes(one), _boxes(truth)) for one, truth in zip(outputs, truths, strict=True)])

    def found(boxes: FloatArray, truth: FloatArray) -> bool:
        kept = boxes[boxes[:, 4] >= score] if boxes.shape[1] > 4 else boxes
        matched = _matched((overlaps(truth, kept) >= iou) & _same_class(truth, kept))
        return matched == len(truth) if every else matched > 0 or not len(truth)

    return judge


every_box = detection()
"""Every true box is found at an overlap of 0.5."""


one_box = detection(every=False)
"""At least one true box is found at an overlap of 0.5."""


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


def _entries(truths: Any) -> npt.NDArray[Any]:
    """A list with entries of any shape as an array of them."""
    found = np.empty(len(truths), dtype=object)
    for at, truth in enumerate(truths):
        found[at] = truth
    return found
