"""What every quality score is: perturbed inputs against the same inputs clean, in one number."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np

from fieldcheck.core.inputs import Kind
from fieldcheck.core.types import FloatArray

Needs = Literal["features", "tokens", "inputs"]


class QualityScore(ABC):
    """How plausible perturbed inputs still are. A new one is a subclass with ``score``, and a registry line.

    name, title, paper
        The word in a space file; for people, what it is called and where it comes from.
    needs
        What it looks at: features of whole inputs, features of tokens, or the inputs themselves.
    kinds, usual
        Of data that it is for, and those that ``auto`` takes it for.
    better
        Which values mean that inputs are still plausible.
    low, high
        No score is outside, but for noise around ``low``.
    squared
        Whether it is the square of a distance; then the distance is what grows smoothly with severities.
    caution
        What must be said with every score.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    needs: ClassVar[Needs]
    kinds: ClassVar[frozenset[Kind]]
    usual: ClassVar[frozenset[Kind]] = frozenset()
    better: ClassVar[Literal["low", "high"]] = "high"
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    squared: ClassVar[bool] = False
    caution: ClassVar[str] = ""

    @abstractmethod
    def score(self, clean: Any, perturbed: Any) -> float:
        """From two views of the same inputs, one row or entry each, to the score."""

    def smoothed(self, scores: FloatArray) -> FloatArray:
        """On the scale on which scores are predicted."""
        return np.asarray(np.sign(scores) * np.sqrt(np.abs(scores))) if self.squared else scores

    def back(self, values: FloatArray) -> FloatArray:
        """The inverse of ``smoothed``, within the bounds."""
        return np.clip(values * np.abs(values) if self.squared else values, self.low, self.high)
