"""A Gaussian process over the severities, on the scale of robustness itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.space import Space
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.numerics.regression import grid_features, grouped_linear
from fieldcheck.tomography.surrogates.base import Evidence
from fieldcheck.tomography.surrogates.counts import Counts
from fieldcheck.tomography.surrogates.smooth import SmoothFit

LENGTHS = (1.8, 2.5, 4.0, 6.0)
"""Candidates for the length scale; an axis is 5 long, whatever its number of levels."""


WIDTH = 5.0


INFLATION = 1.4
"""Posterior standard deviations times this cover as they should; found on truths of nets and made-up ones."""


PASSES = 2
"""The noise of a test depends on its robustness: it is first taken from the overall rate, then from the fit."""


@dataclass(frozen=True)
class Gp:
    """Smooth what was measured: Gaussian kernel, binomial noise, identity link.

    On the grid the process is a sum of products of one function per axis (Saatçi, 2011), so that millions of tests are
    predicted at once. The length scale is chosen by evidence (Rasmussen and Williams, 2006, ch. 5). It ignores the
    class of an input, and may leave [0, 1] before it is cut there.

    features
        Terms that are kept.
    length
        Length scale, an axis being 5 long; 0 chooses it.
    """

    name: ClassVar[str] = "gp"
    title: ClassVar[str] = "Gaussian process over the severities"
    paper: ClassVar[str] = "Rasmussen and Williams 2006; Saatçi 2011"

    features: int = 400
    length: float = 0.0

    def __post_init__(self) -> None:
        if self.features < 1 or self.length < 0:
            raise SpaceError(f"gp: features={self.features}, length={self.length}", rule="1 or more; 0 or more")

    def fit(self, evidence: Evidence, *, seed: int) -> SmoothFit:
        counts = Counts.of(evidence)
        basis, posterior, length = smoothed(counts, self.features, lengths=(self.length,) if self.length else LENGTHS)
        note = f"gp: length scale {length:g} on axes of {WIDTH:g}, {len(basis)} terms"
        return SmoothFit(
            counts.space, _Predictor(counts.space, basis, posterior), posterior.covariance, INFLATION, (note,)
        )


def smoothed(
    counts: Counts, features: int, *, lengths: tuple[float, ...] = LENGTHS
) -> tuple[grid_features.GridFeatures, grouped_linear.LinearPosterior, float]:
    """Basis, coefficients and length scale of the process with the most evidence."""
    found = [(*_fitted(counts, features, length), length) for length in lengths]
    return max(found, key=lambda one: one[1].evidence)


def smoother(counts: Counts, features: int = 300) -> Callable[[IntArray], FloatArray]:
    """The smoothed robustness as a function of the number of a test."""
    basis, posterior, _ = smoothed(counts, features)
    predictor = _Predictor(counts.space, basis, posterior)
    return lambda tests: np.clip(predictor.means(tests), 0.0, 1.0)


def _fitted(
    counts: Counts, features: int, length: float
) -> tuple[grid_features.GridFeatures, grouped_linear.LinearPosterior]:
    positions = [np.linspace(0, WIDTH, size) for size in counts.space.shape]
    basis = grid_features.rbf_features(positions, lengths=[length] * len(positions), count=features)
    columns = _columns(basis, counts.space.severities(counts.tests))
    groups = np.array([-1] + [0] * len(basis), dtype=np.int64)
    rate = np.full(len(counts.tests), float(np.clip(counts.held.sum() / counts.inputs.sum(), 0.02, 0.98)))
    for _ in range(PASSES):
        posterior = grouped_linear.fit(columns, counts.rates, rate * (1 - rate) / counts.inputs, groups)
        rate = np.clip(columns @ posterior.mean, 0.02, 0.98)
    return basis, posterior


def _columns(basis: grid_features.GridFeatures, severities: IntArray) -> FloatArray:
    return np.column_stack([np.ones(len(severities)), basis.rows(severities)])


@dataclass(frozen=True, eq=False)
class _Predictor:
    """See ``smooth.Predictor``."""

    space: Space
    basis: grid_features.GridFeatures
    posterior: grouped_linear.LinearPosterior

    def everywhere(self) -> FloatArray:
        grid = self.posterior.mean[0] + self.basis.expand(self.posterior.mean[1:])
        return np.asarray(np.clip(grid.ravel(), 0.0, 1.0))

    def means(self, tests: IntArray) -> FloatArray:
        return np.clip(self.gradients(tests) @ self.posterior.mean, 0.0, 1.0)

    def gradients(self, tests: IntArray) -> FloatArray:
        return _columns(self.basis, self.space.severities(tests))
