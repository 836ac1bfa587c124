"""What every kind of second model is trained with: which items, how often, and who is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fieldcheck.core.rng import stream
from fieldcheck.core.types import FloatArray, IntArray

Progress = Callable[[int, int], None]

HELD_OUT = 10
"""One item of so many is held out."""


@dataclass(frozen=True, eq=False)
class Lesson:
    """The labels, and a split of the items.

    learn, check
        Positions to train on, and those held out.
    """

    labels: IntArray
    classes: int
    learn: IntArray
    check: IntArray
    seed: int
    epochs: int | None
    progress: Progress | None

    @classmethod
    def of(cls, labels: IntArray, classes: int, *, seed: int, epochs: int | None, progress: Progress | None) -> Lesson:
        order = stream(seed, "member", "split").permutation(len(labels))
        held = max(1, len(labels) // HELD_OUT)
        return cls(labels, classes, np.sort(order[held:]), np.sort(order[:held]), seed, epochs, progress)

    def rng(self, purpose: str) -> np.random.Generator:
        return stream(self.seed, "member", purpose)

    def passes(self, usual: int) -> range:
        """The epochs, counted from 0."""
        return range(usual if self.epochs is None else self.epochs)

    def told(self, done: int, epochs: range) -> None:
        """One more epoch is over."""
        if self.progress is not None:
            self.progress(done + 1, len(epochs))

    def held_out_accuracy(self, inputs: Any, predict: Callable[[Any], FloatArray]) -> float:
        """Share of the held-out items that are classified as labelled."""
        said = predict(taken(inputs, self.check)).argmax(axis=1)
        return float((said == self.labels[self.check]).mean())


def taken(inputs: Any, positions: IntArray) -> Any:
    """Some items of an array or a list."""
    return inputs[positions] if isinstance(inputs, np.ndarray) else [inputs[position] for position in positions]
