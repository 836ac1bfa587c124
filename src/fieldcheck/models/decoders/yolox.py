"""YOLOX as it is exported: offsets within cells, logarithms of sizes, objectness, one column per class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from fieldcheck.core.errors import ModelError
from fieldcheck.core.types import FloatArray
from fieldcheck.models.decoders.base import suppressed

STRIDES = (8, 16, 32)


@dataclass(frozen=True)
class Yolox:
    """``xy = (xy + cell) stride``, ``wh = exp(wh) stride``, score = objectness x class; then non-maximum suppression.

    score
        Boxes with a lower one are dropped at once; the check has its own, higher one.
    overlap
        Above it (IoU) the box with the lower score is the same object.
    """

    name: ClassVar[str] = "yolox"
    title: ClassVar[str] = "YOLOX, raw outputs (Ge et al., 2021)"

    score: float = 0.05
    overlap: float = 0.45

    def boxes(self, output: Any, height: int, width: int) -> FloatArray:
        cells, strides = _cells(height, width)
        rows = np.asarray(output, dtype=np.float64)
        if rows.ndim != 2 or len(rows) != len(cells) or rows.shape[1] < 6:
            raise ModelError(
                f"an output of shape {rows.shape} for an image of {width} x {height}",
                rule=f"yolox gives {len(cells):,} rows, one per cell of strides 8, 16, 32: x, y, w, h, objectness, "
                "classes",
                hint='another decoder, or fit = "letterbox" with the size that the model was made for',
            )
        classes = rows[:, 5:].argmax(axis=1)
        scores = rows[:, 4] * rows[np.arange(len(rows)), 5 + classes]
        at = np.flatnonzero(scores >= self.score)
        centre = (rows[at, :2] + cells[at]) * strides[at, None]
        half = np.exp(np.minimum(rows[at, 2:4], 20.0)) * strides[at, None] / 2
        return suppressed(np.column_stack([centre - half, centre + half, scores[at], classes[at]]), self.overlap)


@lru_cache(maxsize=8)
def _cells(height: int, width: int) -> tuple[FloatArray, FloatArray]:
    """Column and row of each cell, and its stride."""
    grids = [np.indices((height // stride, width // stride)).reshape(2, -1)[::-1].T for stride in STRIDES]
    strides = np.repeat(STRIDES, [len(grid) for grid in grids])
    return np.concatenate(grids).astype(np.float64), strides.astype(np.float64)
