"""Smooth functions on a grid as a short sum of products, one factor per axis.

A Gaussian process whose kernel is a product over the axes has, on a grid, the products of the eigenvectors of the axes'
kernels as its principal directions (Saatçi, Scalable inference for structured Gaussian process models, 2011, ch. 5).
The leading ones carry nearly all of its variance when the length scale is long. A function on millions of cells is then
a few hundred coefficients; all its values cost as much as a few small matrix products.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fieldcheck.numerics.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class GridFeatures:
    """Products of one function per axis.

    tables
        Per axis, the value of each of its functions (columns) at each level (rows).
    degrees
        One row per feature: which function of each axis it multiplies; the feature with the most variance first.
    """

    tables: tuple[FloatArray, ...]
    degrees: IntArray

    @property
    def shape(self) -> tuple[int, ...]:
        """Levels of each axis."""
        return tuple(len(table) for table in self.tables)

    def __len__(self) -> int:
        return len(self.degrees)

    def rows(self, levels: IntArray) -> FloatArray:
        """Value of every feature (columns) at some cells (rows of levels, one column per axis)."""
        values = np.ones((len(levels), len(self)))
        for axis, table in enumerate(self.tables):
            values *= table[:, self.degrees[:, axis]][levels[:, axis]]
        return values

    def expand(self, coefficients: FloatArray) -> FloatArray:
        """The sum of all features times their coefficients at every cell of the grid."""
        used = self.degrees.max(axis=0) + 1
        grid = np.zeros(used)
        grid[tuple(self.degrees.T)] = coefficients
        for table, kept in zip(self.tables, used, strict=True):  # each turn moves the axis in front to the back
            grid = np.tensordot(grid, table[:, :kept], axes=(0, 1))
        return grid

    def effects(self, coefficients: FloatArray, levels: IntArray) -> list[FloatArray]:
        """Per axis, the value of the sum at each of its levels, the other axes taken as in some cells.

        Each axis is averaged by itself, as if it were independent of the others in these cells.
        """
        usual = [table[levels[:, axis]].mean(axis=0)[self.degrees[:, axis]] for axis, table in enumerate(self.tables)]
        found = []
        for axis, table in enumerate(self.tables):
            others = np.prod([part for at, part in enumerate(usual) if at != axis], axis=0)
            found.append(table[:, self.degrees[:, axis]] @ (coefficients * others))
        return found


def rbf_features(positions: Sequence[FloatArray], *, lengths: Sequence[float], count: int) -> GridFeatures:
    """The ``count`` features with the most variance of a unit process with a Gaussian kernel.

    positions
        Per axis, where its levels lie.
    lengths
        Per axis, the distance over which the process stays much the same.
    """
    decompositions = [_decompose(at, length) for at, length in zip(positions, lengths, strict=True)]
    tables = tuple(vectors * np.sqrt(values) for values, vectors in decompositions)
    return GridFeatures(tables, _leading([values for values, _ in decompositions], count))


def _decompose(at: FloatArray, length: float) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues, largest first, and eigenvectors of the kernel between the levels of one axis."""
    kernel = np.exp(-0.5 * ((at[:, None] - at[None, :]) / length) ** 2)
    values, vectors = np.linalg.eigh(kernel)
    return np.maximum(values[::-1], 0.0), vectors[:, ::-1]


def _leading(values: Sequence[FloatArray], count: int) -> IntArray:
    """Which product of one value per axis is largest, second, ...: one row of positions each.

    Axis by axis, only the ``count`` largest products so far are kept: a smaller one cannot be part of the result,
    because the larger ones times the same rest are all larger.
    """
    products, degrees = np.ones(1), np.zeros((1, 0), dtype=np.int64)
    for axis in values:
        longer = (products[:, None] * axis[None, :]).ravel()
        kept = np.argsort(-longer, kind="stable")[:count]
        before, degree = np.divmod(kept, len(axis))
        products, degrees = longer[kept], np.column_stack([degrees[before], degree])
    return degrees
