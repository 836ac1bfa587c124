"""A decoder of detectors' outputs."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.core.errors import ModelError


@dataclass(frozen=True)
class Centred:
    """Rows of centre, size, score and class."""

    name: ClassVar[str] = "centred"
    title: ClassVar[str] = "Rows x, y, width, height, score, class"

    def boxes(self, output, height, width):
        rows = np.asarray(output, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != 6:
            raise ModelError(f"an output of shape {rows.shape}", rule="six numbers a box")
        half = rows[:, 2:4] / 2
        return np.column_stack([rows[:, :2] - half, rows[:, :2] + half, rows[:, 4:]])
