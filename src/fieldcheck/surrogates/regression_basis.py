"""The columns of the logistic regression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.numerics.grid_features import GridFeatures, rbf_features
from fieldcheck.numerics.grouped_logistic import Rows
from fieldcheck.surrogates.regression_data import MOST_CLASSES, RegressionData


@dataclass(frozen=True, eq=False)
class Basis:
    """Columns of the regression: a constant, the smooth terms, every level of every axis, and the classes' terms."""

    smooth: GridFeatures
    bends: GridFeatures
    classes: int

    @classmethod
    def of(cls, data: RegressionData, positions: Sequence[FloatArray], length: float, count: int) -> Basis:
        lengths = [length] * len(positions)
        classes = len(data.shares)
        return cls(
            rbf_features(positions, lengths=lengths, count=count),
            rbf_features(positions, lengths=lengths, count=_bends(len(positions), classes)),
            classes if classes > 1 else 0,
        )

    @property
    def first_level(self) -> int:
        return 1 + len(self.smooth)

    @property
    def first_class(self) -> int:
        return self.first_level + sum(self.smooth.shape)

    def shared(self, severities: IntArray) -> FloatArray:
        """The columns that do not depend on the class."""
        levels = [np.eye(size)[severities[:, axis]] for axis, size in enumerate(self.smooth.shape)]
        return np.column_stack([np.ones(len(severities)), self.smooth.rows(severities), *levels])

    def rows(self, data: RegressionData) -> Rows:
        columns = self.shared(data.severities)
        if self.classes:
            bends = self.bends.rows(data.severities)
            own = np.eye(self.classes)[data.classes]
            columns = np.column_stack([columns, np.einsum("ij,ik->ijk", own, bends).reshape(len(bends), -1)])
        return Rows(columns, data.held, data.trials, self.groups(), data.units, data.unit_count, data.floor)

    def groups(self) -> IntArray:
        parts = [-1] + [0] * len(self.smooth) + [1] * sum(self.smooth.shape)
        return np.array(parts + [2] * (self.classes * len(self.bends)), dtype=np.int64)


def _bends(axes: int, classes: int) -> int:
    """Smooth terms that each class has for itself: up to all second-degree ones, as many as there are columns for."""
    wanted = (1 + axes + axes * (axes + 1) // 2, 1 + 2 * axes, 1 + axes, 1)
    return next((count for count in wanted if count * classes <= MOST_CLASSES), 1)
