"""A second model for rows of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.accuracy.auxiliary.traces.parts import SingleArray
from fieldcheck.accuracy.auxiliary.training.lesson import Lesson
from fieldcheck.accuracy.auxiliary.training.scaling import Scaling
from fieldcheck.core.types import FloatArray

USUAL = 40

NOISE, HIDDEN_SHARE = 0.2, 0.1
"""Standard deviation of the noise on scaled features; share of features that are set to their mean."""


def train_rows(
    inputs: npt.NDArray[Any], lesson: Lesson, augmentations: tuple[str, ...]
) -> tuple[Callable[[Any], FloatArray], tuple[str, ...]]:
    """A perceptron with one hidden layer (Rumelhart, Hinton and Williams, Nature 1986), and what it was taught with."""
    from sklearn.neural_network import MLPClassifier

    scaling = Scaling.of(inputs[lesson.learn])
    rows, labels = scaling.rows(inputs[lesson.learn], by="member"), lesson.labels[lesson.learn]
    used = tuple(name for name in augmentations if name in ("noise", "occlusion"))
    rng = lesson.rng("rows")
    network = MLPClassifier((128,), batch_size=min(128, len(rows)), random_state=int(rng.integers(2**31)))
    epochs = lesson.passes(USUAL)
    for epoch in epochs:
        network.partial_fit(_disturbed(rows, used, rng), labels, classes=np.arange(lesson.classes))
        lesson.told(epoch, epochs)

    def predict(batch: Any) -> FloatArray:
        return np.asarray(network.predict_proba(scaling.rows(batch, by="member")), dtype=np.float64)

    return predict, used


def _disturbed(rows: SingleArray, used: tuple[str, ...], rng: np.random.Generator) -> SingleArray:
    if "noise" in used:
        rows = rows + NOISE * rng.standard_normal(rows.shape, dtype=np.float32)
    if "occlusion" in used:
        rows = np.where(rng.random(rows.shape, dtype=np.float32) < HIDDEN_SHARE, np.float32(0), rows)
    return rows
