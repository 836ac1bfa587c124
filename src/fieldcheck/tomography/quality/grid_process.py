"""A smooth function over all tests of a space, from its values at some of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fieldcheck.core.rng import stream
from fieldcheck.core.space import Space
from fieldcheck.core.types import FloatArray, IntArray

FOLDS = 5


START_LENGTH, START_NOISE = 3.0, 0.01


LENGTHS, NOISES, SIZES = (0.3, 100.0), (1e-5, 1.0), (0.05, 100.0)
"""Bounds: lengths in levels; noise and size as variances, where the values have variance 1."""


@dataclass(frozen=True, eq=False)
class GridProcess:
    """A Gaussian process with a Gaussian kernel, one length per axis, and noise of one variance.

    Rasmussen and Williams, Gaussian processes for machine learning, 2006, chapter 2; lengths, size and noise are those
    of the largest marginal likelihood (chapter 5). A step between two neighbouring levels is smoothed over: the error
    on held-out tests says by how much.

    places
        Severities of the measured tests.
    pull
        Weight of each measured test in a prediction, before the kernel.
    """

    space: Space
    lengths: FloatArray
    places: IntArray
    pull: FloatArray
    center: float

    def at(self, tests: IntArray) -> FloatArray:
        """Values at some tests."""
        kernels = self._tables()
        severities = self.space.severities(tests)
        weights = np.ones((len(tests), len(self.places)))
        for axis, kernel in enumerate(kernels):
            weights *= kernel[severities[:, axis]]
        return np.asarray(self.center + weights @ self.pull)

    def everywhere(self) -> FloatArray:
        """Values at every test, in the order of their numbers.

        The kernel is a product over the axes: one table for the first half of them and one for the second give every
        value of the grid as one product of matrices.
        """
        kernels = self._tables()
        half = len(kernels) // 2
        first, second = _crossed(kernels[:half], len(self.places)), _crossed(kernels[half:], len(self.places))
        return np.asarray(self.center + ((first * self.pull) @ second.T).ravel())

    def _tables(self) -> list[FloatArray]:
        """Per axis, the kernel between each of its levels (rows) and each measured test (columns)."""
        return [
            np.exp(-0.5 * ((np.arange(levels)[:, None] - self.places[:, axis]) / length) ** 2)
            for axis, (levels, length) in enumerate(zip(self.space.shape, self.lengths, strict=True))
        ]


def fit_grid(space: Space, tests: IntArray, values: FloatArray) -> GridProcess:
    """The process that fits the values at some distinct tests."""
    places = space.severities(tests)
    center, scale = float(values.mean()), float(values.std())
    if not scale > 1e-12 * max(abs(center), 1e-300):
        return GridProcess(space, np.ones(places.shape[1]), places, np.zeros(len(tests)), center)
    squares = ((places[:, None, :] - places[None, :, :]) ** 2).astype(np.float64)
    standard = (values - center) / scale
    logs = _likeliest(squares, standard)
    kernel, noise = _kernel(squares, logs)
    pull = np.exp(logs[-2]) * np.linalg.solve(kernel + noise * np.eye(len(tests)), standard)
    return GridProcess(space, np.exp(logs[:-2]), places, scale * pull, center)


def held_out(space: Space, tests: IntArray, values: FloatArray, *, seed: int) -> FloatArray:
    """Each value predicted from the others: without its fifth of the tests, everything is learnt anew."""
    folds = np.argsort(stream(seed, "grid", "folds").bit_generator.random_raw(len(tests)), kind="stable") % FOLDS
    predicted = np.empty(len(tests))
    for fold in np.unique(folds):
        left = folds == fold
        predicted[left] = fit_grid(space, tests[~left], values[~left]).at(tests[left])
    return predicted


def _likeliest(squares: FloatArray, values: FloatArray) -> FloatArray:
    """Logarithms of the lengths, of the size and of the noise."""
    from scipy.optimize import minimize

    axes = squares.shape[2]
    start = np.log([*[START_LENGTH] * axes, 1.0, START_NOISE])
    bounds = [*[tuple(np.log(LENGTHS))] * axes, tuple(np.log(SIZES)), tuple(np.log(NOISES))]
    found = minimize(_misfit, start, args=(squares, values), jac=True, method="L-BFGS-B", bounds=bounds)
    return np.asarray(found.x, dtype=np.float64)


def _misfit(logs: FloatArray, squares: FloatArray, values: FloatArray) -> tuple[float, FloatArray]:
    """Negative log marginal likelihood and its gradient (Rasmussen and Williams, equations 5.8 and 5.9)."""
    kernel, noise = _kernel(squares, logs)
    lower = np.linalg.cholesky(kernel + noise * np.eye(len(values)))
    root = np.linalg.inv(lower)
    inverse = root.T @ root
    pull = inverse @ values
    slope = 0.5 * (inverse - np.outer(pull, pull))
    by_length = np.einsum("ij,ijk->k", slope * kernel, squares) / np.exp(2 * logs[:-2])
    gradient = np.array([*by_length, (slope * kernel).sum(), noise * np.trace(slope)])
    return float(0.5 * values @ pull + np.log(np.diag(lower)).sum()), gradient


def _kernel(squares: FloatArray, logs: FloatArray) -> tuple[FloatArray, float]:
    exponent = -0.5 * squares @ np.exp(-2 * logs[:-2])
    return np.asarray(np.exp(logs[-2] + exponent)), float(np.exp(logs[-1]))


def _crossed(kernels: list[FloatArray], columns: int) -> FloatArray:
    """Products of one row of each table, the last table's rows fastest."""
    rows = np.ones((1, columns))
    for kernel in kernels:
        rows = (rows[:, None, :] * kernel[None, :, :]).reshape(-1, columns)
    return rows
