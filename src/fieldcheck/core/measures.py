"""From what a model said and a label to a loss."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from fieldcheck.core.errors import LabelError
from fieldcheck.core.label import Label, Missing, Outcome, Score, TrueClass, Value, plain
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.types import FloatArray


def failure_threshold(pool: Pool, given: float | None) -> float:
    """Regression: the absolute error over which an item is a failure; by default the spread of the predictions."""
    if given is not None:
        return given
    return float(np.std(pool.predictions)) if pool.predictions is not None else 0.0


def offset(label: Label, prediction: str | float | None) -> float:
    """How far off the model is: 1.0 where it names another class; infinite where there is no label to be had."""
    match label:
        case Missing():
            return math.inf
        case Outcome(right):
            return float(not right)
        case TrueClass(name):
            return float(plain(name) != plain(str(prediction)))
        case Value(number):
            return abs(number - float(prediction or 0.0))
        case Score(number):
            return 1.0 - number


def losses_of(labels: Mapping[str, Label], ids: Sequence[str], pool: Pool) -> FloatArray:
    """Losses of this pool's model, one per id: nan where there is no label, infinite where there is none to be had."""
    at = [place for place, name in enumerate(ids) if name in labels]
    said = pool.predictions_at(pool.position_of([ids[place] for place in at]).tolist())
    losses = np.full(len(ids), np.nan)
    losses[at] = [offset(labels[ids[place]], what) for place, what in zip(at, said, strict=True)]
    return losses**2 if pool.task == "regression" else losses


def refuse_outcomes(labels: Mapping[str, Label]) -> None:
    """Refuse right and wrong: they are about one model, not about the item."""
    item = next((item for item, label in labels.items() if isinstance(label, Outcome)), None)
    if item is not None:
        raise LabelError(
            f"label '{labels[item]}' of item '{item}' says whether one model was right",
            rule="labels that serve several models, or a later version, are true classes",
            hint="write the true class of every item",
        )
