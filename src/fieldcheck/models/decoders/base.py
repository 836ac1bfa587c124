"""What every decoder is: from what a detector says of one image to boxes with scores and classes."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from fieldcheck.core import boxes as box
from fieldcheck.core.types import FloatArray


@runtime_checkable
class Decoder(Protocol):
    """From the outputs for one image to its boxes."""

    name: ClassVar[str]
    title: ClassVar[str]

    def boxes(self, output: Any, height: int, width: int) -> FloatArray:
        """Rows ``x0, y0, x1, y1, score, class`` in pixels of the image that the model got, of this height and width."""
        ...


def suppressed(boxes: FloatArray, overlap: float) -> FloatArray:
    """Boxes without those that overlap a box of the same class with a higher score: one object, one box."""
    left = boxes[np.argsort(-boxes[:, 4], kind="stable")]
    kept = []
    while len(left):
        first, left = left[:1], left[1:]
        kept.append(first)
        same = (box.overlaps(first, left)[0] > overlap) & (left[:, 5] == first[0, 5])
        left = left[~same]
    return np.concatenate(kept) if kept else boxes[:0]
