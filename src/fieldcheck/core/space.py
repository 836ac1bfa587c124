"""What a query gets: the robustness of a region, how sure that is, and what it rests on."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import FloatArray, IntArray


@dataclass(frozen=True)
class Condition:
    """One test and what is known about it.

    severities
        By perturbation, only those at work.
    inputs
        How many inputs it was run on; 0 where it is only predicted.
    """

    severities: Mapping[str, int]
    robustness: float
    low: float
    high: float
    inputs: int = 0

    def __str__(self) -> str:
        return ", ".join(f"{name} {level}" for name, level in self.severities.items()) or "unperturbed"


@dataclass(frozen=True)
class Answer:
    """The aggregate robustness of the tests that a query selects.

    tests, measured
        Tests in the region, and those of them that were run on at least one input; the others are predicted.
    rows
        Inferences that fell into the region.
    robustness, low, high, level
        Mean over the region, plain or weighted by the profile, and its interval.
    base, base_inputs
        Robustness without any perturbation, and on how many inputs that was measured; the drop is the difference.
    audit, audit_error
        The same from the rows in the region alone, corrected for how they were drawn: right on average whatever the
        surrogate believes, but noisier. nan where the plan was not random or too few rows fell into the region.
    worst
        The weakest tests of the region, weakest first.
    not_applicable, left
        Tests of the region in which too few inputs have an object left, which are left out; and the mean share of
        the inputs that have one in the others. 0 and 1 where the truth is no boxes.
    recall, precision
        Of single objects in the rows of the region: share found, and average precision; nan where there are none.
    drawn, drawn_error
        Where the region is too large to list: tests of it that were drawn, which stand for all, and the standard error
        that comes from drawing; the interval includes it, and ``tests`` is an estimate. Else 0.
    """

    query: str
    tests: int
    measured: int
    rows: int
    robustness: float
    low: float
    high: float
    level: float
    base: float
    audit: float = math.nan
    audit_error: float = math.nan
    worst: tuple[Condition, ...] = ()
    profile: str = ""
    notes: tuple[str, ...] = ()
    not_applicable: int = 0
    left: float = 1.0
    base_inputs: int = 0
    recall: float = math.nan
    precision: float = math.nan
    drawn: int = 0
    drawn_error: float = 0.0

    @property
    def inferred(self) -> int:
        """Tests that were never run."""
        return self.tests - self.measured

    @property
    def drop(self) -> float:
        """How much robustness the region costs."""
        return self.base - self.robustness

    def of_drawn(self) -> str:
        """What a sample of the region is, in words."""
        return (
            f"{self.drawn:,} of its tests at random stand for all, which are too many to list: this adds "
            f"±{196 * self.drawn_error:.2g} points, included"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; nan is null."""
        found = asdict(self) | {"inferred": self.inferred, "drop": self.drop}
        return {
            name: None if isinstance(value, float) and math.isnan(value) else value for name, value in found.items()
        }


NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*(-[A-Za-z0-9_]+)*\Z")

RESERVED = ("order", "severity_sum", "robustness", "quality")
"""Names that mean something else in queries."""

LARGEST = 2**53
"""Tests that a space may have: their numbers stay exact as floats."""

BINS = 16
"""Amounts within a range that a level stands for: an item draws one of them."""


@dataclass(frozen=True)
class Axis:
    """One perturbation of the space with its severities 0, 1, ..., ``levels``; 0 leaves the input as it is.

    name
        The word in queries.
    perturbation
        What is applied, as the registry of perturbations knows it, with parameters; by default the name.
    words
        Severities by name: ``{"low": (1, 2), "high": (4, 5)}`` stands for the first and the last level meant.
    amounts
        What the levels mean to the perturbation, instead of its own amounts: a number each, or the ends of a range
        from which every item draws its own.
    of
        Where items have several texts: the names of those that are perturbed, each apart; empty: all.
    chosen
        Which severities of the perturbation the levels are, from level 1 on; empty: 1, 2, ...
    """

    name: str
    levels: int
    perturbation: str = ""
    words: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    chosen: tuple[int, ...] = ()
    of: tuple[str, ...] = ()
    amounts: tuple[tuple[float, float], ...] = ()

    def __post_init__(self) -> None:
        if not NAME.match(self.name):
            raise SpaceError(
                f"a perturbation called '{self.name}'", rule="a name has letters, digits, _ and -, a letter first"
            )
        if not 1 <= self.levels <= 1000:
            raise SpaceError(f"{self.name} has {self.levels} levels", rule="1 to 1,000 levels above 0")
        for word, (low, high) in self.words.items():
            if not 0 <= low <= high <= self.highest:
                raise SpaceError(f"{self.name}: '{word}' means {low} to {high}", rule=f"levels are 0 to {self.highest}")
        if self.amounts and (self.chosen or len(self.amounts) != self.levels):
            raise SpaceError(f"{self.name}: {len(self.amounts)} amounts", rule="amounts or levels, one for each level")
        if self.chosen and (len(self.chosen) != self.levels or sorted({0, *self.chosen}) != [0, *self.chosen]):
            raise SpaceError(f"{self.name}: levels {[0, *self.chosen]}", rule="0 and then each higher than before")

    def every_amount(self) -> tuple[float, ...]:
        """All amounts that the perturbation needs: several within a range."""
        if not self._drawn:
            return tuple(low for low, _ in self.amounts)
        parts = (np.arange(BINS) + 0.5) / BINS
        return tuple(float(low + (high - low) * part) for low, high in self.amounts for part in parts)

    @property
    def _drawn(self) -> bool:
        return any(low != high for low, high in self.amounts)

    @property
    def highest(self) -> int:
        """The largest severity of the perturbation that is asked for."""
        return self.chosen[-1] if self.chosen else self.levels

    @property
    def values(self) -> tuple[int, ...]:
        """Levels as people name them, 0 included: by the severities of the perturbation where some were chosen."""
        return (0, *self.chosen) if self.chosen else tuple(range(self.levels + 1))

    def severities(self, levels: IntArray, items: IntArray) -> IntArray:
        """The severities of the perturbation behind levels above 0; where levels are ranges, each item draws its own.

        items
            Their places in the data: an item draws the same amount in every test.
        """
        if self._drawn:
            drawn = ItemStreams.of(0, f"amounts/{self.name}", items, levels).below(BINS)[:, 0]
            return np.asarray((levels - 1) * BINS + 1 + drawn)
        return np.array(self.chosen, dtype=np.int64)[levels - 1] if self.chosen else levels


@dataclass(frozen=True)
class Space:
    """An ordered list of perturbations. A test is one severity for each; tests are numbered, the last axis fastest.

    Test 0 is the unperturbed one. Arrays of numbers are ``int64``; arrays of severities have one row per test and
    one column per axis.
    """

    axes: tuple[Axis, ...]

    def __post_init__(self) -> None:
        names = [axis.name.lower().replace("_", "-") for axis in self.axes]
        taken = {name.replace("_", "-") for name in (*RESERVED, "and", "or", "not", "in", "all")} & set(names)
        twice = [name for name in names if names.count(name) > 1]
        if not names:
            raise SpaceError("a space without perturbations", rule="one perturbation or more")
        if taken:
            raise SpaceError(f"a perturbation called '{min(taken)}'", rule="the word means something in queries")
        if twice:
            raise SpaceError(f"two perturbations are called '{twice[0]}'", rule="each has its own name")
        if math.prod(self.shape) > LARGEST:
            raise SpaceError(f"{math.prod(self.shape):.1e} tests", rule=f"at most {LARGEST:.0e}", hint="fewer levels")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self.axes)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Severities of each axis, 0 included."""
        return tuple(axis.levels + 1 for axis in self.axes)

    @property
    def size(self) -> int:
        """Number of tests, the unperturbed one included."""
        return math.prod(self.shape)

    def severities(self, tests: npt.ArrayLike) -> IntArray:
        """From numbers of tests to their severities."""
        at = np.unravel_index(np.asarray(tests, dtype=np.int64), self.shape)
        return np.stack(at, axis=-1).astype(np.int64)

    def numbers(self, severities: npt.ArrayLike) -> IntArray:
        """From severities to numbers of tests."""
        rows = np.atleast_2d(np.asarray(severities, dtype=np.int64))
        wrong = (rows < 0) | (rows >= np.array(self.shape))
        if rows.shape[1] != len(self.axes) or wrong.any():
            raise SpaceError("severities outside the space", rule=f"0 up to {tuple(n - 1 for n in self.shape)}")
        return np.asarray(np.ravel_multi_index(tuple(rows.T), self.shape), dtype=np.int64)

    def named(self, test: int) -> dict[str, int]:
        """The perturbations at work in a test, with their levels as people name them."""
        levels = zip(self.axes, self.severities(test).tolist(), strict=True)
        return {axis.name: axis.values[level] for axis, level in levels if level}

    def orders(self, tests: npt.ArrayLike) -> IntArray:
        """How many perturbations are at work in each test."""
        return np.asarray(np.count_nonzero(self.severities(tests), axis=-1), dtype=np.int64)

    def __contains__(self, name: object) -> bool:
        return name in self.names


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What was measured: one row per (test, input).

    tests
        Number of the test.
    inputs
        Position of the input in the data.
    held
        1.0 where the check held, 0.0 where it did not; nan where nothing was left that could be found.
    chance
        Probability with which the plan chose the test of this row, nan where it was not random.
    """

    tests: IntArray
    inputs: IntArray
    held: FloatArray
    chance: FloatArray | None = None

    def __post_init__(self) -> None:
        if not len(self.tests) == len(self.inputs) == len(self.held):
            raise SpaceError("columns of outcomes differ in length", rule="one row per test and input")

    def __len__(self) -> int:
        return len(self.tests)

    def counts(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Distinct tests in order, how many inputs each saw, and on how many the check held."""
        tests, at = np.unique(self.tests, return_inverse=True)
        held: FloatArray = np.bincount(at, weights=self.held).astype(np.float64)
        return tests, np.bincount(at).astype(np.int64), held

    @property
    def applicable(self) -> Outcomes:
        """Without the rows in which nothing was left that could be found."""
        gone = np.isnan(self.held)
        return self.select(~gone) if gone.any() else self

    def select(self, rows: npt.NDArray[np.bool_] | IntArray) -> Outcomes:
        chance = None if self.chance is None else self.chance[rows]
        return Outcomes(self.tests[rows], self.inputs[rows], self.held[rows], chance)
