"""When a test has seen enough inputs. Rules look after every batch, at the outcomes in the order in which they came."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.registry import Registry
from fieldcheck.core.types import FloatArray
from fieldcheck.tomography.surrogates import anytime_interval, measured_interval


@runtime_checkable
class Stopping(Protocol):
    """A rule.

    of_bands
        Whether its width can also be asked of the bands of a surrogate, in a plan whose rows are drawn.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    of_bands: ClassVar[bool]

    @property
    def batch(self) -> int:
        """Inputs between two looks."""
        ...

    @property
    def width(self) -> float | None:
        """The half-width that it waits for; None where it waits for something else."""
        ...

    def enough(self, held: FloatArray, population: int) -> bool:
        """Whether to stop after these outcomes (1.0 where the check held) of inputs of ``population`` in all."""
        ...

    def reached(self, held: FloatArray, population: int) -> float:
        """The half-width by now; nan where it waits for something else."""
        ...


@dataclass(frozen=True)
class NarrowInterval:
    """Stop once the interval of the test is narrow: Wilson's, corrected for the share of the data that was seen.

    With at least ``least`` inputs the looks before hardly harm: the width is nearly fixed by then, not the rate.
    """

    name: ClassVar[str] = "half-width"
    title: ClassVar[str] = "Half-width of Wilson's interval"
    paper: ClassVar[str] = "Wilson, JASA 1927"
    of_bands: ClassVar[bool] = True

    width: float = 0.02
    level: float = 0.95
    least: int = 200
    batch: int = 100

    def __post_init__(self) -> None:
        _check(self.width, self.level, self.batch)

    def enough(self, held: FloatArray, population: int) -> bool:
        return len(held) >= min(self.least, population) and self.reached(held, population) <= self.width

    def reached(self, held: FloatArray, population: int) -> float:
        """The half-width of the interval by now."""
        low, high = measured_interval(int(held.sum()), len(held), population=population, level=self.level)
        return (high - low) / 2


@dataclass(frozen=True)
class Sequence:
    """Stop once a confidence sequence is narrow. Its bounds hold however often one looks."""

    name: ClassVar[str] = "sequence"
    title: ClassVar[str] = "Half-width of a confidence sequence"
    paper: ClassVar[str] = "Waudby-Smith and Ramdas, NeurIPS 2020"
    of_bands: ClassVar[bool] = False

    width: float = 0.02
    level: float = 0.95
    batch: int = 100

    def __post_init__(self) -> None:
        _check(self.width, self.level, self.batch)

    def enough(self, held: FloatArray, population: int) -> bool:
        return self.reached(held, population) <= self.width

    def reached(self, held: FloatArray, population: int) -> float:
        """The half-width of the bounds by now."""
        low, high = anytime_interval(int(held.sum()), len(held), population=population, level=self.level)
        return (high - low) / 2


@dataclass(frozen=True)
class Published:
    """Stop once the last ``window`` changes between successive batch accuracies are all under ``delta``.

    As published. It looks at noise: the accuracy of a batch of 100 is a multiple of .01, so a delta of .005 asks for
    equal counts. It states no guarantee and saves little.
    """

    name: ClassVar[str] = "published"
    title: ClassVar[str] = "Stable batch accuracies"
    paper: ClassVar[str] = "Arif et al., TestifAI, ICSE 2026, algorithm 1"
    of_bands: ClassVar[bool] = False
    width: ClassVar[None] = None

    batch: int = 100
    window: int = 3
    delta: float = 0.005

    def enough(self, held: FloatArray, population: int) -> bool:
        batches = len(held) // self.batch
        accuracies = held[: batches * self.batch].reshape(batches, self.batch).mean(axis=1)
        changes = np.abs(np.diff(accuracies))[-self.window :]
        return len(changes) == self.window and bool(np.all(changes < self.delta))

    def reached(self, held: FloatArray, population: int) -> float:
        return math.nan


registry: Registry[Stopping] = Registry(
    "stopping rule",
    "fieldcheck.stopping",
    NarrowInterval,
    Sequence,
    Published,
    error=SpaceError,
    hint="fieldcheck tomography list rules",
)


def width_of(rule: Stopping | None) -> float | None:
    """The half-width that a rule waits for; None where it waits for something else."""
    return None if rule is None else rule.width


def with_width(rule: Stopping, width: float | None) -> Stopping:
    """The same rule, waiting for another half-width."""
    return rule if rule.width is None or width is None else replace(rule, width=width)  # type: ignore[type-var]


def inputs_used(rule: Stopping, held: FloatArray) -> int:
    """How many of these outcomes, all that there are, the rule would have waited for."""
    for seen in range(rule.batch, len(held), rule.batch):
        if rule.enough(held[:seen], len(held)):
            return seen
    return len(held)


def _check(width: float, level: float, batch: int) -> None:
    if not (0 < width < 0.5 and 0.5 <= level < 1 and batch >= 1):
        raise SpaceError(
            f"width={width}, level={level}, batch={batch}", rule="0 < width < 0.5, 0.5 <= level < 1, batch >= 1"
        )
