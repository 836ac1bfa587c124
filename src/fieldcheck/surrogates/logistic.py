"""Bayesian logistic regression on smooth functions of the severities, the input's class and the input itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.rng import stream
from fieldcheck.core.space import Space
from fieldcheck.core.surrogate import Evidence
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.numerics import special
from fieldcheck.numerics.grid_features import GridFeatures, rbf_features
from fieldcheck.numerics.grouped_logistic import Posterior, Rows, fit
from fieldcheck.surrogates.smooth import SmoothFit

LENGTHS = (2.5, 4.0, 6.0, 9.0, 13.0)
"""Candidates for the length scale; an axis is 5 long, whatever its number of levels."""

WIDTH = 5.0
SEPARATE = 40_000
"""With more rows than this the input itself is left out, and rows of the same test and class are counted together."""

PILOT_ROWS, PILOT_FEATURES = 6000, 100
CLASS_COLUMNS = 250
"""Columns that classes may take."""

WARP = 0.5
"""How far levels are moved: 0 leaves them evenly spaced, 1 spaces them by their effect alone."""

CACHE = 65_536
"""Tests that are worked on at once: what fits the processor's cache."""

NODES = 60
"""Values of the input's intercept that its distribution is summed up in, all classes together."""


@dataclass(frozen=True)
class Logistic:
    """The chance that the check holds: a smooth function of the severities on the logit scale.

    The function has a Gaussian-process prior with a Gaussian kernel (Rasmussen and Williams, Gaussian processes for
    machine learning, 2006, ch. 3), as its leading terms on the grid; each level of each perturbation may deviate from
    it, which takes a cliff between two levels. The class of an input shifts and bends the function, and every input has
    an intercept of its own: labels and inputs are known, so this costs no inference, and what they explain is no longer
    noise. Robustness is the mean over the classes and inputs of the data. Prior variances and the length scale are
    chosen by evidence; levels are first moved apart where a pilot fit sees a large effect.

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

    def fit(self, evidence: Evidence, *, seed: int) -> LogisticFit:
        data = _Data.of(evidence)
        pilot = data.some(PILOT_ROWS, stream(seed, "logistic", "pilot")).counted()
        positions = _moved(pilot, [np.linspace(0, WIDTH, size) for size in data.space.shape])
        length, start = (self.length, None) if self.length else _best_length(pilot, positions)
        basis = _Basis.of(data, positions, length, self.features)
        data = data if data.units is not None else data.counted()
        rows = basis.rows(data)
        if start is not None and rows.units is not None:
            start = np.r_[start, 1.0]
        posterior = fit(rows, start=start, turns=12)
        predictor = _Predictor(data.space, basis, posterior, data.shares, data.nodes(posterior), data.floor)
        note = f"logistic: length scale {length:g} on axes of {WIDTH:g}, {len(basis.smooth)} smooth terms"
        return LogisticFit(data.space, predictor, posterior.covariance, _inflation(data), (note,), length)


@dataclass(frozen=True, eq=False)
class LogisticFit(SmoothFit):
    """A fitted regression and the length scale that it has."""

    length: float = 0.0


def _inflation(data: _Data) -> float:
    """Posterior standard deviations times this cover as they should; found on truths of nets and made-up ones."""
    return 1.4 if len(data.space.axes) <= 4 else 1.25


@dataclass(frozen=True, eq=False)
class _Data:
    """Rows of outcomes as the regression sees them.

    severities, classes, held, trials
        One per row.
    units
        Number of the input of each row, or None.
    shares
        Of each class among the inputs of the data.
    members
        Class of each unit.
    """

    space: Space
    severities: IntArray
    classes: IntArray
    held: FloatArray
    trials: FloatArray
    units: IntArray | None
    shares: FloatArray
    members: IntArray
    floor: float

    @classmethod
    def of(cls, evidence: Evidence) -> _Data:
        outcomes = evidence.outcomes
        if not len(outcomes):
            raise SpaceError("nothing was measured", rule="a surrogate learns from one outcome or more")
        members, units = _members(evidence)
        count = int(members.max()) + 1
        severities = evidence.space.severities(outcomes.tests)
        together = len(outcomes) > SEPARATE or len(outcomes) < 2 * len(members)
        return cls(
            evidence.space,
            severities,
            members[units],
            outcomes.held,
            np.ones(len(outcomes)),
            None if together else units,
            np.bincount(members, minlength=count) / len(members),
            members,
            evidence.guess if count == 1 else 0.0,
        )

    @property
    def unit_count(self) -> int:
        return 0 if self.units is None else len(self.members)

    def some(self, count: int, rng: np.random.Generator) -> _Data:
        """At most so many of the rows."""
        if len(self.held) <= count:
            return self
        rows = np.argsort(rng.bit_generator.random_raw(len(self.held)), kind="stable")[:count]
        return replace(
            self,
            severities=self.severities[rows],
            classes=self.classes[rows],
            held=self.held[rows],
            trials=self.trials[rows],
            units=None,
        )

    def counted(self) -> _Data:
        """Rows of the same test and class counted together, without their inputs."""
        keys = np.column_stack([self.severities, self.classes])
        distinct, at = np.unique(keys, axis=0, return_inverse=True)
        return replace(
            self,
            severities=distinct[:, :-1],
            classes=distinct[:, -1],
            held=_summed(at, self.held),
            trials=_summed(at, self.trials),
            units=None,
        )

    def nodes(self, posterior: Posterior) -> list[tuple[FloatArray, FloatArray]]:
        """Per class, a few values of the input's intercept with their weights."""
        if self.units is None:
            return [(np.zeros(1), np.ones(1))] * len(self.shares)
        count = int(np.clip(NODES // len(self.shares), 3, 12))
        return [
            _summed_up(posterior.intercepts[inside], posterior.intercept_variances[inside], count)
            for inside in (self.members == code for code in range(len(self.shares)))
        ]


def _summed(at: IntArray, values: FloatArray) -> FloatArray:
    return np.bincount(at, weights=values).astype(np.float64)


def _members(evidence: Evidence) -> tuple[IntArray, IntArray]:
    """Class of every input that counts, and which of them each row is about; classes are left out where too many."""
    inputs = evidence.outcomes.inputs
    if evidence.classes is None:
        distinct, units = np.unique(inputs, return_inverse=True)
        return np.zeros(len(distinct), dtype=np.int64), units.astype(np.int64)
    codes = np.unique(evidence.classes, return_inverse=True)[1].astype(np.int64)
    if int(codes.max()) + 1 > CLASS_COLUMNS:
        codes = np.zeros_like(codes)
    return codes, inputs


def _summed_up(means: FloatArray, variances: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """A mixture of normals as a few equally likely values: the means of its slices."""
    at, weights = np.polynomial.hermite_e.hermegauss(7)
    values = (means[:, None] + np.sqrt(variances)[:, None] * at).ravel()
    shares = np.tile(weights / weights.sum(), len(means)) / len(means)
    order = np.argsort(values)
    values, shares = values[order], shares[order]
    slices = np.minimum(((np.cumsum(shares) - shares / 2) * count).astype(np.int64), count - 1)
    filled = np.unique(slices, return_inverse=True)[1].astype(np.int64)
    mass = _summed(filled, shares)
    return _summed(filled, shares * values) / mass, mass


@dataclass(frozen=True, eq=False)
class _Basis:
    """Columns of the regression: a constant, the smooth terms, every level of every axis, and the classes' terms."""

    smooth: GridFeatures
    bends: GridFeatures
    classes: int

    @classmethod
    def of(cls, data: _Data, positions: Sequence[FloatArray], length: float, count: int) -> _Basis:
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

    def rows(self, data: _Data) -> Rows:
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
    return next((count for count in wanted if count * classes <= CLASS_COLUMNS), 1)


def _moved(data: _Data, positions: Sequence[FloatArray]) -> list[FloatArray]:
    """Positions of the levels, farther apart where a first fit sees a larger effect."""
    basis = _Basis.of(data, positions, 6.0, PILOT_FEATURES)
    posterior = fit(basis.rows(data), turns=8)
    effects = basis.smooth.effects(posterior.mean[1 : basis.first_level], data.severities)
    own = np.split(posterior.mean[basis.first_level : basis.first_class], np.cumsum(data.space.shape)[:-1])
    return [_spaced(at, effect + extra) for at, effect, extra in zip(positions, effects, own, strict=True)]


def _spaced(at: FloatArray, effect: FloatArray) -> FloatArray:
    gaps, steps = np.diff(at), np.abs(np.diff(effect))
    if steps.sum() < 0.2:  # on the logit scale: nothing to go by
        return at
    return np.concatenate([[0.0], np.cumsum((1 - WARP) * gaps + WARP * WIDTH * steps / steps.sum())])


def _best_length(data: _Data, positions: Sequence[FloatArray]) -> tuple[float, FloatArray]:
    """The length with the most evidence, from the middle as long as it rises, and the prior variances there."""
    found: dict[int, Posterior] = {}

    def evidence(at: int) -> float:
        if not 0 <= at < len(LENGTHS):
            return -math.inf
        if at not in found:
            rows = _Basis.of(data, positions, LENGTHS[at], PILOT_FEATURES).rows(data)
            found[at] = fit(rows, turns=10)
        return found[at].evidence

    at = LENGTHS.index(6.0)
    while max(evidence(at - 1), evidence(at + 1)) > evidence(at):
        at += 1 if evidence(at + 1) > evidence(at - 1) else -1
    return LENGTHS[at], found[at].variances


@dataclass(frozen=True, eq=False)
class _Predictor:
    """The mean over classes and inputs; see ``smooth.Predictor``."""

    space: Space
    basis: _Basis
    posterior: Posterior
    shares: FloatArray
    nodes: list[tuple[FloatArray, FloatArray]]
    floor: float

    def everywhere(self) -> FloatArray:
        shared = self._shared_grid().astype(np.float32).ravel()
        total = np.zeros(self.space.size, dtype=np.float32)
        for code, share in enumerate(self.shares):
            logits = shared if not self.basis.classes else shared + self._bend_grid(code)
            for first in range(0, len(total), CACHE):
                block = slice(first, first + CACHE)
                for value, weight in zip(*self.nodes[code], strict=True):
                    total[block] += np.float32(share * weight) * _sigmoid(logits[block] + np.float32(value))
        return np.asarray(self.floor + (1 - self.floor) * total)

    def means(self, tests: IntArray) -> FloatArray:
        total = sum(chance for chance, _ in self._by_class(tests))
        return np.asarray(self.floor + (1 - self.floor) * total)

    def gradients(self, tests: IntArray) -> FloatArray:
        severities = self.space.severities(tests)
        slopes = [slope for _, slope in self._by_class(tests)]
        parts = [self.basis.shared(severities) * np.sum(slopes, axis=0)[:, None]]
        if self.basis.classes:
            bends = self.basis.bends.rows(severities)
            parts += [bends * slope[:, None] for slope in slopes]
        return np.asarray((1 - self.floor) * np.column_stack(parts))

    def _by_class(self, tests: IntArray) -> list[tuple[FloatArray, FloatArray]]:
        """Per class, chance and its derivative in the logit, both times the share of the class."""
        severities = self.space.severities(tests)
        logits = self.basis.shared(severities) @ self.posterior.mean[: self.basis.first_class]
        bends = self.basis.bends.rows(severities)
        return [self._averaged(logits + self._bent(bends, code), code) for code in range(len(self.shares))]

    def _bent(self, bends: FloatArray, code: int) -> FloatArray | float:
        return np.asarray(bends @ self._own(code)) if self.basis.classes else 0.0

    def _averaged(self, logits: FloatArray, code: int) -> tuple[FloatArray, FloatArray]:
        values, weights = self.nodes[code]
        chances = special.expit(logits[:, None] + values)
        share = self.shares[code]
        return share * chances @ weights, share * (chances * (1 - chances)) @ weights

    def _own(self, code: int) -> FloatArray:
        """Coefficients of a class."""
        first = self.basis.first_class + code * len(self.basis.bends)
        return self.posterior.mean[first : first + len(self.basis.bends)]

    def _bend_grid(self, code: int) -> npt.NDArray[np.float32]:
        return self.basis.bends.expand(self._own(code)).astype(np.float32).ravel()

    def _shared_grid(self) -> FloatArray:
        mean = self.posterior.mean
        grid = mean[0] + self.basis.smooth.expand(mean[1 : self.basis.first_level])
        levels = np.split(mean[self.basis.first_level : self.basis.first_class], np.cumsum(self.space.shape)[:-1])
        for axis, effect in enumerate(levels):
            grid += effect.reshape([-1 if at == axis else 1 for at in range(len(levels))])
        return np.asarray(grid)


def _sigmoid(logits: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """In single precision, which is four times as fast."""
    return np.asarray(1 / (1 + np.exp(np.clip(-logits, -80, 80))), dtype=np.float32)
