"""Gaussian kernel density and Mahalanobis distance in many dimensions, in double precision."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.numerics.types import FloatArray, IntArray

FLAT = 1e-5
"""Columns with a smaller variance say nothing and are left out (Kim et al., ICSE 2019)."""

DETERMINED = 1e-8
"""A column is left out when the others leave less than this share of its variance: the covariance is singular then,
but for the rounding of single precision."""

ROWS = 2_048

COLUMNS = 1_024


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """Mean and covariance of some points, in the columns that carry them.

    kept
        Columns with enough variance that no others determine, in the order of the factor.
    flat, determined
        How many columns were left out because they hardly vary; because others determine them.
    scale, factor
        Standard deviation of each kept column; lower Cholesky factor of their correlations.
    """

    kept: IntArray
    flat: int
    determined: int
    mean: FloatArray
    scale: FloatArray
    factor: FloatArray

    @classmethod
    def of(cls, points: npt.NDArray[Any], *, flat: float = FLAT) -> Ellipsoid:
        """Of one point or more, one row each. Of columns that determine each other those with most variance stay."""
        variance = np.asarray(points.var(axis=0, dtype=np.float64))
        vary = np.flatnonzero(variance >= flat)
        centred = points[:, vary].astype(np.float64)
        mean = centred.mean(axis=0)
        centred -= mean
        scale = np.sqrt(np.square(centred).sum(axis=0) / max(len(points) - 1, 1))
        centred /= scale
        order, factor = _pivoted(centred.T @ centred / max(len(points) - 1, 1))
        kept = vary[order]
        return cls(
            kept=kept,
            flat=points.shape[1] - len(vary),
            determined=len(vary) - len(kept),
            mean=mean[order],
            scale=scale[order],
            factor=factor,
        )

    @property
    def dimension(self) -> int:
        """Columns that are kept."""
        return len(self.kept)

    @property
    def columns(self) -> int:
        """Columns of the points."""
        return self.flat + self.determined + self.dimension

    @property
    def log_root_determinant(self) -> float:
        """Logarithm of the square root of the determinant of the covariance."""
        return float(np.log(np.diag(self.factor)).sum() + np.log(self.scale).sum())

    def whiten(self, points: npt.NDArray[Any]) -> FloatArray:
        """Coordinates in which the covariance is the identity, one row per point."""
        from scipy.linalg import solve_triangular

        centred = (points[:, self.kept] - self.mean) / self.scale
        if not centred.size:
            return centred
        white = solve_triangular(self.factor, centred.T, lower=True, overwrite_b=True, check_finite=False)
        return np.ascontiguousarray(white.T)

    def distance(self, points: npt.NDArray[Any]) -> FloatArray:
        """Mahalanobis distance from the mean, one per point."""
        return np.asarray(np.sqrt(np.square(self.whiten(points)).sum(axis=1)))


@dataclass(frozen=True, eq=False)
class Density:
    """Gaussian kernel density with Scott's bandwidth on the full covariance.

    The same as ``scipy.stats.gaussian_kde`` in the kept columns, but by matrix products and without underflow: the
    logarithm is exact wherever the density is too small for a number.

    centres
        Whitened points in units of the bandwidth, with a last column: minus half the squared length.
    bandwidth
        Scott's factor, ``n ** (-1 / (d + 4))``, d the number of kept columns.
    """

    shape: Ellipsoid
    centres: FloatArray
    bandwidth: float

    @classmethod
    def of(cls, points: npt.NDArray[Any], *, flat: float = FLAT) -> Density:
        """Of one point or more, one row each."""
        shape = Ellipsoid.of(points, flat=flat)
        bandwidth = len(points) ** (-1 / (shape.dimension + 4))
        centres = np.empty((len(points), shape.dimension + 1))
        centres[:, :-1] = shape.whiten(points) / bandwidth
        centres[:, -1] = -0.5 * np.square(centres[:, :-1]).sum(axis=1)
        return cls(shape, centres, bandwidth)

    def surprise(self, points: npt.NDArray[Any]) -> FloatArray:
        """Minus the logarithm of the density, one per point; 0 where no column is left."""
        parts = [self._block(points[start : start + COLUMNS]) for start in range(0, len(points), COLUMNS)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _block(self, points: npt.NDArray[Any]) -> FloatArray:
        white = self.shape.whiten(points) / self.bandwidth
        exponent = _log_sum_of_exponentials(self.centres, np.column_stack([white, np.ones(len(white))]))
        return np.asarray(0.5 * np.square(white).sum(axis=1) - exponent + self._log_constant())

    def _log_constant(self) -> float:
        dimension = self.shape.dimension
        volume = dimension * (0.5 * math.log(2 * math.pi) + math.log(self.bandwidth))
        return math.log(len(self.centres)) + volume + self.shape.log_root_determinant


def _log_sum_of_exponentials(rows: FloatArray, columns: FloatArray) -> FloatArray:
    """One per column: the logarithm of the sum over rows of the exponential of their product."""
    highest = np.full(len(columns), -np.inf)
    total = np.zeros(len(columns))
    for start in range(0, len(rows), ROWS):
        product = rows[start : start + ROWS] @ columns.T
        higher = np.maximum(highest, product.max(axis=0))
        product -= higher
        total = total * np.exp(highest - higher) + np.exp(product, out=product).sum(axis=0)
        highest = higher
    return highest + np.log(total)


def _pivoted(correlation: FloatArray) -> tuple[IntArray, FloatArray]:
    """Columns that no others determine, and the lower Cholesky factor of their correlations (Higham 2002, 10.3)."""
    from scipy.linalg.lapack import dpstrf

    if not len(correlation):
        return np.zeros(0, dtype=np.int64), np.zeros((0, 0))
    factor, pivots, rank, _ = dpstrf(correlation, tol=DETERMINED, lower=1)
    return pivots[:rank].astype(np.int64) - 1, np.tril(factor[:rank, :rank])
