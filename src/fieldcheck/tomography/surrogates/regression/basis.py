"""The columns of the logistic regression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.numerics.regression import grid_features, grouped_logistic
from fieldcheck.tomography.surrogates.regression.data import MOST_CLASSES, RegressionData


@dataclass(frozen=True, eq=False)
class Basis:
    """Columns of the regression: a constant, the smooth terms, every level of every axis, and for each class the terms
    of its own and those of its guess.

    classes
        Number of classes; 0 where there is one only.
    """

    smooth: grid_features.GridFeatures
    bends: grid_features.GridFeatures
    guesses: grid_features.GridFeatures
    classes: int

    @classmethod
    def of(cls, data: RegressionData, positions: Sequence[FloatArray], length: float, count: int) -> Basis:
        axes, classes = len(positions), len(data.shares)
        second_degree = 1 + axes + axes * (axes + 1) // 2
        counts = (
            count,
            _affordable(classes, second_degree, 1 + 2 * axes, 1 + axes),
            _affordable(classes, 1 + axes) if data.guess and classes > 1 else 0,
        )
        smooth, bends, guesses = (
            grid_features.rbf_features(positions, lengths=[length] * axes, count=one) for one in counts
        )
        return cls(smooth, bends, guesses, classes if classes > 1 else 0)

    @property
    def first_level(self) -> int:
        return 1 + len(self.smooth)

    @property
    def first_class(self) -> int:
        return self.first_level + sum(self.smooth.shape)

    @property
    def first_guess(self) -> int:
        return self.first_class + self.classes * len(self.bends)

    def shared(self, severities: IntArray) -> FloatArray:
        """The columns that do not depend on the class."""
        levels = [np.eye(size)[severities[:, axis]] for axis, size in enumerate(self.smooth.shape)]
        return np.column_stack([np.ones(len(severities)), self.smooth.rows(severities), *levels])

    def rows(self, data: RegressionData) -> grouped_logistic.RegressionRows:
        parts = [self.shared(data.severities)]
        if self.classes:
            terms = (self.bends.rows(data.severities), self.guesses.rows(data.severities))
            parts += [_per_class(one, data.classes, self.classes) for one in terms]
        guesses = self.classes * len(self.guesses)
        columns = np.column_stack(parts)
        return grouped_logistic.RegressionRows(
            columns, data.held, data.trials, self.groups(), data.units, data.unit_count, guesses, data.guess
        )

    def groups(self) -> IntArray:
        own = (self.classes * len(self.bends), self.classes * len(self.guesses))
        sizes = (1, len(self.smooth), sum(self.smooth.shape), *own)
        return np.repeat(np.arange(-1, 4), sizes)


def _per_class(terms: FloatArray, classes: IntArray, count: int) -> FloatArray:
    """Columns in which each class has coefficients of its own."""
    return np.asarray(np.einsum("ij,ik->ijk", np.eye(count)[classes], terms).reshape(len(terms), -1))


def _affordable(classes: int, *wanted: int) -> int:
    """Smooth terms that each class has for itself: the first number that there are columns for."""
    return next((count for count in wanted if count * classes <= MOST_CLASSES), 1)
