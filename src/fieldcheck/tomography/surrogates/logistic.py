"""Bayesian logistic regression on smooth functions of the severities, the input's class and the input itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.rng import stream
from fieldcheck.core.space import Space
from fieldcheck.core.types import FloatArray
from fieldcheck.numerics.regression import grid_features, grouped_logistic
from fieldcheck.tomography.surrogates.base import Evidence, FittedSurrogate, Numbers
from fieldcheck.tomography.surrogates.regression.basis import Basis
from fieldcheck.tomography.surrogates.regression.cells import CellsFit, MeanOverCells
from fieldcheck.tomography.surrogates.regression.data import DEEP, RegressionData
from fieldcheck.tomography.surrogates.regression.mean import MeanOverInputs, MeanOverLeft
from fieldcheck.tomography.surrogates.smooth import SmoothFit

LENGTHS = (2.5, 4.0, 6.0, 9.0)
"""Candidates for the length scale; an axis is 5 long, whatever its number of levels."""


WIDTH = 5.0


PILOT_ROWS, PILOT_FEATURES = 6000, 100
"""Outcomes and terms of the fits that choose positions and length."""


INFLATION, DEEP_INFLATION = 1.4, 1.65
"""Posterior standard deviations times this cover as they should; found on truths of nets and made-up ones."""


MANY_ROWS = 10_000
"""With more rows the fit is ended early: it hardly moves any more, and each turn takes its time."""


TERMS = ("smooth", "bends", "guesses")
"""Parts of the basis that have degrees of their own."""


WARP = 0.5
"""How far levels are moved: 0 leaves them evenly spaced, 1 spaces them by their effect alone."""


@dataclass(frozen=True)
class Logistic:
    """The chance that the check holds: a smooth function of the severities on the logit scale.

    The function has a Gaussian-process prior with a Gaussian kernel (Rasmussen and Williams, Gaussian processes for
    machine learning, 2006, ch. 3), as its leading terms on the grid; each level of each perturbation may deviate from
    it, which takes a cliff between two levels. The class of an input shifts and bends the function, and every input has
    an intercept of its own: labels and inputs are known, so this costs no inference, and what they explain is no longer
    noise. Where many perturbations come together, an input that is no longer recognised may still be guessed right: how
    often differs from class to class, because a model that sees nothing names its favourite, and changes smoothly with
    the severities. Robustness is the mean over the classes and inputs of the data. Prior variances and the length scale
    are chosen by evidence; levels are first moved apart where a pilot fit sees a large effect. Where tests make the
    same of an input, the model is right or wrong about it in all of them: inputs are then taken one by one, with the
    outcomes that were seen as they are.

    A length scale that is long cannot follow a cliff that only some combinations have: look at the held-out rows.

    features
        Terms of the smooth function.
    length
        Length scale, an axis being 5 long; 0 chooses it.
    """

    name: ClassVar[str] = "logistic"
    title: ClassVar[str] = "Bayesian logistic regression on smooth functions"
    paper: ClassVar[str] = "MacKay, Neural Computation 1992; Rasmussen and Williams 2006"

    features: int = 300
    length: float = 0.0

    def __post_init__(self) -> None:
        if self.features < 1 or self.length < 0:
            raise SpaceError(f"logistic: features={self.features}, length={self.length}", rule="1 or more; 0 or more")

    def fit(self, evidence: Evidence, *, seed: int) -> LogisticFit | CellsFit:
        data = RegressionData.of(evidence)
        pilot = data.some(PILOT_ROWS, stream(seed, "logistic", "pilot")).counted()
        positions = _moved(pilot, [np.linspace(0, WIDTH, size) for size in data.space.shape])
        length, start = (self.length, None) if self.length else _best_length(pilot, positions)
        basis = Basis.of(data, positions, length, self.features)
        data = data if data.units is not None else data.counted()
        rows = basis.rows(data)
        if start is not None and rows.units is not None:
            start = np.r_[start, 1.0]
        posterior = grouped_logistic.fit(rows, start=start, turns=12 if len(rows.held) > MANY_ROWS else 30)
        inflation = DEEP_INFLATION if len(data.space.axes) >= DEEP else INFLATION
        note = f"logistic: length scale {length:g} on axes of {WIDTH:g}, {len(basis.smooth)} smooth terms"
        if evidence.alike is not None:
            cells = MeanOverCells.of(evidence, evidence.alike, data, basis, posterior)
            return CellsFit(data.space, cells, posterior.covariance, inflation, (note,), length)
        predictor = _mean(data, basis, posterior)
        return LogisticFit(data.space, predictor, posterior.covariance, inflation, (note,), length)

    def numbers_of(self, fitted: FittedSurrogate) -> Numbers | None:
        return fitted.numbers() if isinstance(fitted, LogisticFit) else None

    def of_numbers(self, numbers: Numbers, space: Space) -> LogisticFit:
        return LogisticFit.of_numbers(numbers, space)


@dataclass(frozen=True, eq=False)
class LogisticFit(SmoothFit):
    """A fitted regression and the length scale that it has."""

    predictor: MeanOverInputs | MeanOverLeft
    length: float = 0.0

    def numbers(self) -> Numbers | None:
        """All of it as plain arrays; None where each combination has a mean of its own."""
        mean = self.predictor
        if isinstance(mean, MeanOverLeft):
            return None
        values, weights = zip(*mean.nodes, strict=True)
        return {
            **{f"table{axis}": table for axis, table in enumerate(mean.basis.smooth.tables)},
            **{name: getattr(mean.basis, name).degrees for name in TERMS},
            "coefficients": mean.coefficients,
            "covariance": self.covariance,
            "shares": mean.shares,
            "values": np.concatenate(values),
            "weights": np.concatenate(weights),
            "ends": np.cumsum([len(one) for one in values]),
            "numbers": np.array([mean.basis.classes, mean.guess, self.inflation, self.length]),
            "notes": np.array(self.notes),
        }

    @classmethod
    def of_numbers(cls, kept: Numbers, space: Space) -> LogisticFit:
        """The inverse of ``numbers``."""
        tables = tuple(kept[f"table{axis}"] for axis in range(len(space.axes)))
        classes, guess, inflation, length = kept["numbers"].tolist()
        smooth, bends, guesses = (grid_features.GridFeatures(tables, kept[name]) for name in TERMS)
        basis = Basis(smooth, bends, guesses, int(classes))
        values, weights = (np.split(kept[name], kept["ends"][:-1]) for name in ("values", "weights"))
        nodes = list(zip(values, weights, strict=True))
        mean = MeanOverInputs(space, basis, kept["coefficients"], kept["shares"], nodes, guess)
        return cls(space, mean, kept["covariance"], inflation, tuple(kept["notes"].tolist()), length)


def _mean(
    data: RegressionData, basis: Basis, posterior: grouped_logistic.LogisticPosterior
) -> MeanOverInputs | MeanOverLeft:
    """The mean over all inputs; where a test applies to some only, over those."""
    every = MeanOverInputs(data.space, basis, posterior.mean, data.shares, data.nodes(posterior), data.guess)
    if data.units is None or data.left is None or data.left.inputs is None:
        return every
    parts = [
        replace(every, shares=data.shares_of(some), nodes=data.nodes(posterior, some)) if some.any() else every
        for some in data.left.inputs
    ]
    return MeanOverLeft(data.space, data.left, parts)


def _moved(data: RegressionData, positions: Sequence[FloatArray]) -> list[FloatArray]:
    """Positions of the levels, farther apart where a first fit sees a larger effect."""
    basis = Basis.of(data, positions, 6.0, PILOT_FEATURES)
    posterior = grouped_logistic.fit(basis.rows(data), turns=8)
    effects = basis.smooth.effects(posterior.mean[1 : basis.first_level], data.severities)
    own = np.split(posterior.mean[basis.first_level : basis.first_class], np.cumsum(data.space.shape)[:-1])
    return [_spaced(at, effect + extra) for at, effect, extra in zip(positions, effects, own, strict=True)]


def _spaced(at: FloatArray, effect: FloatArray) -> FloatArray:
    gaps, steps = np.diff(at), np.abs(np.diff(effect))
    if steps.sum() < 0.2:  # on the logit scale: nothing to go by
        return at
    return np.concatenate([[0.0], np.cumsum((1 - WARP) * gaps + WARP * WIDTH * steps / steps.sum())])


def _best_length(data: RegressionData, positions: Sequence[FloatArray]) -> tuple[float, FloatArray]:
    """The length with the most evidence, from the middle as long as it rises, and the prior variances there."""
    found: dict[int, grouped_logistic.LogisticPosterior] = {}

    def evidence(at: int) -> float:
        if not 0 <= at < len(LENGTHS):
            return -math.inf
        if at not in found:
            rows = Basis.of(data, positions, LENGTHS[at], PILOT_FEATURES).rows(data)
            found[at] = grouped_logistic.fit(rows, turns=10)
        return found[at].evidence

    at = LENGTHS.index(6.0)
    while max(evidence(at - 1), evidence(at + 1)) > evidence(at):
        at += 1 if evidence(at + 1) > evidence(at - 1) else -1
    return LENGTHS[at], found[at].variances
