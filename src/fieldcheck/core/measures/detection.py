"""Whether true boxes are found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fieldcheck.core.boxes import fitting, found_of, read_boxes
from fieldcheck.core.errors import SpaceError
from fieldcheck.core.types import BoolArray, FloatArray


@dataclass(frozen=True)
class Detection:
    """Loss 1 where too few true boxes are found: matched one to one by boxes that overlap them at ``iou`` or more.

    As it stands, every true box must be found; superfluous boxes are no failure here. An image without true boxes is
    right; tomography leaves such images out of the count.

    Outputs are per image boxes ``x0, y0, x1, y1[, score[, class]]``, rows of nan are no box; truths are per image boxes
    ``x0, y0, x1, y1[, class]``, as numbers or as JSON text. A class counts where both sides have one.

    iou
        Area of the intersection over that of the union, above 0 up to 1 (Everingham et al., The Pascal visual object
        classes challenge, IJCV 2010: 0.5).
    share
        Of the true boxes, that must be found.
    score
        Boxes with a lower one are not looked at.
    """

    name: ClassVar[str] = "detection"
    raw: ClassVar[bool] = True

    iou: float = 0.5
    share: float = 1.0
    score: float = 0.5

    def __post_init__(self) -> None:
        _check(overlap=self.iou, share=self.share)

    scales = ("accuracy",)
    range = (0.0, 1.0)

    def losses(self, outputs: Any, truths: Any) -> FloatArray:
        found = (_matched(self, said, truth) for said, truth in zip(outputs, truths, strict=True))
        return np.array([float(matched.mean() < self.share - 1e-9) if len(matched) else 0.0 for matched, _ in found])

    def failed(self, losses: FloatArray) -> BoolArray:
        return losses > 0.5


@dataclass(frozen=True)
class DetectionF1:
    """Loss 1 where the F1 score of an image's boxes is under ``least``: superfluous boxes count, too.

    F1 is ``2 matched / (true + said)``. The rest is as in ``detection``.
    """

    name: ClassVar[str] = "detection-f1"
    raw: ClassVar[bool] = True

    least: float = 0.5
    iou: float = 0.5
    score: float = 0.5

    def __post_init__(self) -> None:
        _check(overlap=self.iou, score=self.least)

    scales = ("accuracy",)
    range = (0.0, 1.0)

    def losses(self, outputs: Any, truths: Any) -> FloatArray:
        found = (_matched(self, said, truth) for said, truth in zip(outputs, truths, strict=True))
        return np.array([float(_f1(matched, said) < self.least - 1e-9) for matched, said in found])

    def failed(self, losses: FloatArray) -> BoolArray:
        return losses > 0.5


def _check(**shares: float) -> None:
    for what, value in shares.items():
        if not 0 < value <= 1:
            raise SpaceError(f"an {what} of {value}" if what == "overlap" else f"a {what} of {value}", rule="0 to 1")


def _matched(measure: Detection | DetectionF1, said: Any, true: Any) -> tuple[BoolArray, int]:
    """One per true box: whether it is found; and how many boxes were said."""
    boxes, truth = read_boxes(said), read_boxes(true)
    kept = boxes[boxes[:, 4] >= measure.score] if boxes.shape[1] > 4 else boxes
    return found_of(fitting(truth, kept, measure.iou)), len(kept)


def _f1(matched: BoolArray, said: int) -> float:
    return 2 * float(matched.sum()) / (len(matched) + said) if len(matched) + said else 1.0
