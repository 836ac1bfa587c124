"""A small second model, for those who have none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.accuracy.auxiliary.training.images import train_images
from fieldcheck.accuracy.auxiliary.training.lesson import Lesson, Progress
from fieldcheck.accuracy.auxiliary.training.rows import train_rows
from fieldcheck.accuracy.auxiliary.training.texts import train_texts
from fieldcheck.core.errors import InputsError
from fieldcheck.core.types import FloatArray

AUGMENTATIONS = ("shift", "brightness", "blur", "noise", "occlusion", "flip")
"""All that there are; ``flip`` only helps where a mirrored image keeps its label."""

SAFE = AUGMENTATIONS[:-1]


@dataclass(frozen=True, eq=False)
class TrainedMember:
    """A second model: call it with a batch of inputs, prepared as the reference was.

    held_out_accuracy
        On a tenth of the reference that it was not trained on, without augmentations.
    notes
        What it is and how it was trained.
    """

    predict: Callable[[Any], FloatArray]
    held_out_accuracy: float
    notes: tuple[str, ...]

    def __call__(self, batch: Any) -> FloatArray:
        """Probabilities: one row per item, one column per class."""
        return self.predict(batch)


def train_member(
    reference_inputs: Any,
    labels: npt.NDArray[Any],
    classes: int | Sequence[str],
    *,
    augmentations: Sequence[str] = SAFE,
    seed: int,
    epochs: int | None = None,
    progress: Progress | None = None,
) -> TrainedMember:
    """Train a small model on the reference, independent of the one under test, for the drift that is expected.

    Images get a convolutional network (PyTorch) and the augmentations that are named; rows a perceptron with one
    hidden layer, with ``noise`` and ``occlusion`` of features; texts a linear model of hashed words, with
    ``occlusion`` of words. A tenth of the reference is held out to say how good it is: a member whose error is over
    1.4 times that of the model under test is useless (see ``Member``).

    reference_inputs
        Images: an array with one image per item, with channels first, last or none. Rows: a matrix. Texts: a list.
    labels
        The truth, one per item: codes of classes.
    classes
        Their names, or how many there are.
    epochs
        Passes over the reference; left out, what usually is enough.
    progress
        Called after each pass with the number done and the number of all.
    """
    count = classes if isinstance(classes, int) else len(classes)
    labels = np.asarray(labels)
    _check(reference_inputs, labels, count, augmentations)
    lesson = Lesson.of(labels.astype(np.int64), count, seed=seed, epochs=epochs, progress=progress)
    kind, train = _trainer(reference_inputs)
    predict, used = train(reference_inputs, lesson, tuple(augmentations))
    accuracy = lesson.held_out_accuracy(reference_inputs, predict)
    words = ", ".join(used) or "none"
    note = f"member: {kind} trained on {len(lesson.learn):,} reference items, augmentations: {words}; "
    return TrainedMember(predict, accuracy, (note + f"accuracy on {len(lesson.check):,} held out: {accuracy:.3f}",))


def _trainer(inputs: Any) -> tuple[str, Callable[..., tuple[Callable[[Any], FloatArray], tuple[str, ...]]]]:
    if not isinstance(inputs, np.ndarray) or inputs.dtype.kind in "UOS":
        return "linear model of hashed words", train_texts
    if inputs.ndim == 2:
        return "perceptron", train_rows
    if inputs.ndim in (3, 4):
        return "convolutional network", train_images
    raise InputsError(
        f"member: inputs of shape {inputs.shape}", rule="images (3 or 4 dimensions), rows (2), or a list of texts"
    )


def _check(inputs: Any, labels: npt.NDArray[Any], count: int, augmentations: Sequence[str]) -> None:
    if unknown := [name for name in augmentations if name not in AUGMENTATIONS]:
        raise InputsError(f"member: no augmentation '{unknown[0]}'", rule="there are: " + ", ".join(AUGMENTATIONS))
    if len(inputs) != len(labels) or len(labels) < 2:
        raise InputsError(
            f"member: {len(inputs):,} inputs and {len(labels):,} labels", rule="one label per item, two items or more"
        )
    if labels.dtype.kind not in "iub" or labels.min() < 0 or labels.max() >= count:
        raise InputsError(
            f"member: labels from {labels.min()} to {labels.max()} for {count:,} classes",
            rule="labels are codes of classes, counted from 0",
        )
