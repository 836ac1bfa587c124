"""Outcomes as the logistic regression sees them: with the class of the input, and the input itself."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.space import Space
from fieldcheck.core.types import BoolArray, FloatArray, IntArray
from fieldcheck.numerics.regression import grouped_logistic
from fieldcheck.tomography.surrogates.base import Evidence
from fieldcheck.tomography.surrogates.left import ShareLeft

SEPARATE = 40_000
"""With more rows than this the input itself is left out, and rows of the same test and class are counted together."""


MOST_INPUTS = 5000
"""With more inputs than this they are left out, too: so few rows each gain nothing and take most of the time."""


DEEP = 5
"""Perturbations from which on most tests leave nothing to recognise, so that guesses are worth terms of their own."""


MOST_CLASSES = 250
"""With more classes than this they are left out: each needs a column."""


NODES = 80
"""Values of the input's intercept that its distribution is summed up in, all classes together."""


@dataclass(frozen=True, eq=False)
class RegressionData:
    """Rows of outcomes as the regression sees them.

    severities, classes, held, trials
        One per row.
    units
        Number of the input of each row, or None.
    shares
        Of each class among the inputs of the data.
    members
        Class of each unit.
    guess
        Chance of a right guess before anything was seen; 0 where guesses are left out.
    left
        Which units have an object left, where not all have; without it, units are left out: their mean would be that of
        all of them.
    """

    space: Space
    severities: IntArray
    classes: IntArray
    held: FloatArray
    trials: FloatArray
    units: IntArray | None
    shares: FloatArray
    members: IntArray
    guess: float
    left: ShareLeft | None = None

    @classmethod
    def of(cls, evidence: Evidence) -> RegressionData:
        outcomes = evidence.outcomes
        if not len(outcomes):
            raise SpaceError("nothing was measured", rule="a surrogate learns from one outcome or more")
        if evidence.alike is not None:
            outcomes = evidence.alike.distinct(outcomes)
        members, units = _members(evidence, outcomes.inputs)
        count = int(members.max()) + 1
        severities = evidence.space.severities(outcomes.tests)
        left = None if evidence.left is None else _left(evidence, len(members))
        together = len(outcomes) > SEPARATE or len(outcomes) < 2 * len(members) or len(members) > MOST_INPUTS
        guessed = count == 1 or len(evidence.space.axes) >= DEEP
        return cls(
            evidence.space,
            severities,
            members[units],
            outcomes.held,
            np.ones(len(outcomes)),
            None if together or (evidence.left is not None and left is None) else units,
            np.bincount(members, minlength=count) / len(members),
            members,
            evidence.guess if guessed else 0.0,
            left,
        )

    @property
    def unit_count(self) -> int:
        return 0 if self.units is None else len(self.members)

    def some(self, count: int, rng: np.random.Generator) -> RegressionData:
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

    def counted(self) -> RegressionData:
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

    def nodes(
        self, posterior: grouped_logistic.LogisticPosterior, some: BoolArray | None = None
    ) -> list[tuple[FloatArray, FloatArray]]:
        """Per class, a few values of the intercept of its inputs, or of some of them, with their weights."""
        nothing = (np.zeros(1), np.ones(1))
        if self.units is None:
            return [nothing] * len(self.shares)
        count = int(np.clip(NODES // len(self.shares), 3, 12))
        every = np.ones(len(self.members), dtype=np.bool_) if some is None else some
        inside = [posterior.intercepts[(self.members == code) & every] for code in range(len(self.shares))]
        return [summed_up(values, count) if len(values) else nothing for values in inside]

    def shares_of(self, some: BoolArray) -> FloatArray:
        """Of each class among some of the inputs."""
        return np.bincount(self.members[some], minlength=len(self.shares)) / np.count_nonzero(some)


def _left(evidence: Evidence, count: int) -> ShareLeft | None:
    """Which of so many units have an object left; None where that was not kept."""
    left = evidence.left
    if left is None or left.inputs is None:
        return None
    if evidence.classes is None:
        return replace(left, inputs=left.inputs[:, np.unique(evidence.outcomes.inputs)])
    return left if left.inputs.shape[1] == count else None


def _summed(at: IntArray, values: FloatArray) -> FloatArray:
    return np.bincount(at, weights=values).astype(np.float64)


def _members(evidence: Evidence, inputs: IntArray) -> tuple[IntArray, IntArray]:
    """Class of every input that counts, and which of them each row is about; classes are left out where too many."""
    if evidence.classes is None:
        distinct, units = np.unique(inputs, return_inverse=True)
        return np.zeros(len(distinct), dtype=np.int64), units.astype(np.int64)
    codes = np.unique(evidence.classes, return_inverse=True)[1].astype(np.int64)
    if int(codes.max()) + 1 > MOST_CLASSES:
        codes = np.zeros_like(codes)
    return codes, inputs


def summed_up(values: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Many values as a few: the means of slices of them, thin ones at both ends, and the share of each.

    The ends matter: where nearly all inputs pass, the few that do not decide. Intercepts are taken at their mode, where
    the regression is calibrated: with their uncertainty added, inputs that always pass and inputs that never do would
    both be drawn to the middle.
    """
    bounds = np.round(len(values) * (1 - np.cos(np.pi * np.arange(count + 1) / count)) / 2).astype(np.int64)
    parts = [part for part in np.split(np.sort(values), bounds[1:-1]) if len(part)]
    return np.array([part.mean() for part in parts]), np.array([len(part) for part in parts]) / len(values)
