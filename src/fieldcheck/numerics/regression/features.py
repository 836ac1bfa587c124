"""Features of items: what a risk model multiplies its coefficients with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from fieldcheck.numerics import special
from fieldcheck.numerics.order import Column
from fieldcheck.numerics.scores import Scores
from fieldcheck.numerics.types import FloatArray


class Features(Protocol):
    """How features are made: small, so that it can be sent to where the items are."""

    def __hash__(self) -> int: ...

    def columns(self, part: Any) -> list[FloatArray]:
        """One per feature but the first one, which is 1: one value per item."""
        ...

    @property
    def key(self) -> str:
        """Tells them from other features of the same population."""
        ...


@dataclass(frozen=True, eq=False)
class AsGiven:
    """Features that are auxiliary variables as they stand."""

    key: ClassVar[str] = "as given"

    def columns(self, part: Any) -> list[FloatArray]:
        return list(part.auxiliary.values())


@dataclass(frozen=True)
class Plain:
    """No features: all items are alike."""

    key: ClassVar[str] = "plain"

    def columns(self, part: Any) -> list[FloatArray]:
        return []


@dataclass(frozen=True, eq=False)
class Made:
    """Features of a population by what was found out about the whole of it.

    doubt
        Scale and mean of the log odds of 1 - confidence, and where its square is centred; None: there is none.
    ranked
        Columns that enter by rank, their scores, and where each is centred.
    """

    doubt: tuple[float, float, float] | None
    ranked: tuple[tuple[Column, Scores, float], ...] = ()

    @cached_property
    def key(self) -> str:
        return f"{self.doubt} {[(column, centre) for column, _, centre in self.ranked]}"

    def columns(self, part: Any) -> list[FloatArray]:
        found = []
        if self.doubt is not None:
            scale, mean, bend = self.doubt
            scaled = doubt_of(part) / scale
            found = [scaled, (scaled - mean) ** 2 - bend]
        return found + [scores.of(column(part)) - centre for column, scores, centre in self.ranked]


def doubt_of(part: Any) -> FloatArray:
    """The log odds of 1 - confidence, one per item."""
    return np.asarray(special.logit(np.clip(part.auxiliary["confidence"], 1e-6, 0.999)))


@dataclass(frozen=True)
class SignalColumn:
    """An auxiliary variable, as a column."""

    name: str

    def __call__(self, part: Any) -> FloatArray:
        return np.asarray(part.auxiliary[self.name], dtype=np.float64)


@dataclass(frozen=True)
class Extreme:
    """How far the prediction is from the middle of all."""

    middle: float

    def __call__(self, part: Any) -> FloatArray:
        return np.abs(predicted(part) - self.middle)


def predicted(part: Any) -> FloatArray:
    """What the model said, as a number, one per item."""
    return np.asarray(part.predictions, dtype=np.float64)
