"""Right, loss and failure, for both questions. A new measure is a file here and a line in the registry."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fieldcheck.core.errors import LabelError
from fieldcheck.core.label import Label, Missing, Outcome, Score, TrueClass, Value
from fieldcheck.core.measures.accuracy import Accuracy
from fieldcheck.core.measures.base import Measure
from fieldcheck.core.measures.cost import Cost
from fieldcheck.core.measures.detection import Detection, DetectionF1
from fieldcheck.core.measures.error import Error
from fieldcheck.core.measures.generation import Generation
from fieldcheck.core.measures.score import MeanScore
from fieldcheck.core.measures.tolerance import Tolerance
from fieldcheck.core.registry import Registry
from fieldcheck.core.types import FloatArray, Loss, Task

__all__ = [
    "Accuracy",
    "Cost",
    "Detection",
    "DetectionF1",
    "Error",
    "Generation",
    "MeanScore",
    "Tolerance",
    "label_losses",
    "measure_of",
    "refuse_outcomes",
    "registry",
]

registry: Registry[Measure] = Registry(
    "measure",
    "fieldcheck.measures",
    *(Accuracy, Tolerance, Error, Cost, MeanScore, Detection, DetectionF1, Generation),
    hint="",
)


def measure_of(task: Task, loss: Loss = "squared", threshold: float = math.inf) -> Measure:
    """The usual measure of a task; an error above the threshold is a failure."""
    return Accuracy() if task == "classification" else Error(loss, threshold)


def label_losses(measure: Measure, predictions: Sequence[Any], labels: Sequence[Label | None]) -> FloatArray:
    """Losses, one per item: nan where there is no label yet, infinite where there is none to be had."""
    losses = np.array([_loss_said(label) for label in labels], dtype=np.float64)
    truths = {at: truth for at, label in enumerate(labels) if (truth := _truth(label)) is not None}
    if truths:
        losses[list(truths)] = measure.losses([predictions[at] for at in truths], list(truths.values()))
    return losses


def _truth(label: Label | None) -> str | float | None:
    match label:
        case TrueClass(truth) | Value(truth) | Score(truth):
            return truth
    return None


def _loss_said(label: Label | None) -> float:
    """The loss that a label says itself."""
    match label:
        case Missing():
            return math.inf
        case Outcome(right):
            return float(not right)
    return math.nan


def refuse_outcomes(labels: Mapping[str, Label]) -> None:
    """Refuse right and wrong: they are about one model, not about the item."""
    item = next((item for item, label in labels.items() if isinstance(label, Outcome)), None)
    if item is not None:
        raise LabelError(
            f"label '{labels[item]}' of item '{item}' says whether one model was right",
            rule="labels that serve several models, or a later version, are true classes",
            hint="write the true class of every item",
        )
