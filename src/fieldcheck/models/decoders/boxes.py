"""Detectors that give boxes themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from fieldcheck.core.errors import ModelError
from fieldcheck.core.types import FloatArray

RULE = "per image one row per box, x0, y0, x1, y1[, score[, class]]; or boxes, scores and labels by name"


@dataclass(frozen=True)
class BoxRows:
    """Rows ``x0, y0, x1, y1[, score[, class]]``, or a dictionary with boxes, scores and labels, as torchvision gives.

    Rows of nan are no box.

    columns
        Where all boxes of an image come as one long row: numbers per box. 0: they come as rows.
    unit
        ``pixels`` of the image that the model got, or ``share`` of its width and height.
    """

    name: ClassVar[str] = "boxes"
    title: ClassVar[str] = "Rows x0, y0, x1, y1, score, class"

    columns: int = 0
    unit: Literal["pixels", "share"] = "pixels"

    def boxes(self, output: Any, height: int, width: int) -> FloatArray:
        rows = self._rows(_of_names(output) if isinstance(output, Mapping) else np.asarray(output))
        found = np.column_stack([rows[:, :4], np.ones(len(rows)), np.full(len(rows), np.nan)])
        found[:, 4 : rows.shape[1]] = rows[:, 4:]
        if self.unit == "share":
            found[:, :4] *= (width, height, width, height)
        return np.asarray(found[~np.isnan(found[:, :5]).any(axis=1)])

    def _rows(self, given: Any) -> FloatArray:
        if self.columns and given.ndim == 1 and given.size % self.columns == 0:
            given = given.reshape(-1, self.columns)
        if given.ndim == 1 and not given.size:
            given = given.reshape(0, 4)
        if given.ndim != 2 or not 4 <= given.shape[1] <= 6 or given.dtype.kind not in "fiu":
            long = given.ndim == 1 and given.size % 6 == 0
            raise ModelError(
                f"an output of shape {given.shape} ({given.dtype}) for one image",
                rule=RULE,
                hint='decoder = "boxes:columns=6"' if long else 'decoder = "yolox", or "module:function" with --trust',
            )
        return np.asarray(given, dtype=np.float64)


def _of_names(output: Mapping[str, Any]) -> Any:
    """Boxes, scores and classes under the names that are usual for them, side by side."""
    lowered = {str(name).lower(): np.asarray(part) for name, part in output.items()}
    parts = [
        next((lowered[word] for word in words if word in lowered), None)
        for words in (("boxes", "box"), ("scores", "score"), ("labels", "classes", "class_ids", "label"))
    ]
    boxes, scores, classes = parts
    if boxes is None or (scores is None and classes is not None):
        raise ModelError(f"outputs named {', '.join(lowered)}", rule=RULE, hint='"module:function" with --trust')
    columns = [np.atleast_2d(boxes) if boxes.size else boxes.reshape(0, 4)]
    columns += [np.atleast_1d(part).astype(np.float64) for part in (scores, classes) if part is not None]
    if len({len(column) for column in columns}) > 1:
        raise ModelError(f"{[len(column) for column in columns]} boxes, scores and labels", rule="one each")
    return np.column_stack(columns)
