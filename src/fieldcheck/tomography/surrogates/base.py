"""What every surrogate is: from measured tests to a mean and a band for every test of the space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy.typing as npt

from fieldcheck.core.space import Outcomes, Space
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.surrogates.alike import Alike
from fieldcheck.tomography.surrogates.left import ShareLeft


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a surrogate learns from.

    classes
        Code of the true class of every input of the data, in the order of the data; None where there are no classes.
        The robustness of a test is the mean over all inputs of the data, so their shares are known.
    guess
        Robustness of blind guessing, 1 / number of classes; 0 where the check has no such floor.
    left
        Which inputs have an object left, where the robustness of a test is the mean over those only.
    alike
        Which tests make the same of an input; the outcomes are then there for all of them.
    """

    space: Space
    outcomes: Outcomes
    classes: IntArray | None = None
    guess: float = 0.0
    left: ShareLeft | None = None
    alike: Alike | None = None


@runtime_checkable
class FittedSurrogate(Protocol):
    """Knows a mean and an uncertainty for every test."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know: parameters that were chosen, how it did on held-out tests."""
        ...

    def predict(self, tests: IntArray) -> tuple[FloatArray, FloatArray]:
        """Robustness of each test and its standard deviation; both in [0, 1]."""
        ...

    def region(self, tests: IntArray, weights: FloatArray) -> tuple[float, float]:
        """Weighted mean of the robustness over some tests and its standard deviation; weights sum to 1."""
        ...


@runtime_checkable
class Surrogate(Protocol):
    """A way to predict the tests that were not run."""

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]

    def fit(self, evidence: Evidence, *, seed: int) -> FittedSurrogate: ...


Numbers = Mapping[str, npt.NDArray[Any]]
"""A fit as plain arrays, by name."""


@runtime_checkable
class Storable(Surrogate, Protocol):
    """A surrogate whose fits can be kept in a file, so that the next question need not wait for the fit."""

    def numbers_of(self, fitted: FittedSurrogate) -> Numbers | None:
        """A fit of this surrogate as plain arrays; None where it cannot be kept."""
        ...

    def of_numbers(self, numbers: Numbers, space: Space) -> FittedSurrogate:
        """The inverse of ``numbers_of``."""
        ...
