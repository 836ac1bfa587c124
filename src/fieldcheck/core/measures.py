"""Labels that belong to items: with the true class, or value, any model can be judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fieldcheck.core.errors import LabelError, PoolError
from fieldcheck.core.label import PLAIN, RIGHT, WRONG, SheetLabel, classification_losses, is_lost, regression_offsets
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.types import FloatArray, IntArray


def failure_threshold(pool: Pool, given: float | None) -> float:
    """Regression: the absolute error over which an item is a failure; by default the spread of the predictions."""
    if given is not None:
        return given
    return float(np.std(pool.predictions)) if pool.predictions is not None else 0.0


def losses_of(
    answers: Mapping[str, SheetLabel], ids: Sequence[str], pool: Pool, *, classes: Sequence[str]
) -> tuple[FloatArray, tuple[str, ...]]:
    """Losses of this pool's model, one per id, and what to tell the user. nan: no label; infinite: cannot be labelled.

    ids
        Items of the pool.
    classes
        All that a label may name; others count as failures, and are named.
    """
    lost = {name for name in ids if name in answers and is_lost(answers[name], classes)}
    at = [place for place, name in enumerate(ids) if name in answers and name not in lost]
    given = [answers[ids[place]] for place in at]
    said = predictions_at(pool, pool.position_of([ids[place] for place in at]))
    losses = np.array([np.inf if name in lost else np.nan for name in ids])
    if pool.task == "regression":
        losses[at] = np.square(regression_offsets(given, [float(value) for value in said]))
        return losses, ()
    refuse_outcomes(given, classes)
    losses[at], notes = classification_losses(given, [str(name) for name in said], classes)
    return losses, notes


def predictions_at(pool: Pool, items: IntArray) -> tuple[str | float, ...]:
    """What the model said about some items: names of classes, or values."""
    if pool.predictions is None:
        raise PoolError(f"'{pool.name}' has no predictions", rule="a label is compared with what the model said")
    if pool.task == "regression":
        return tuple(float(pool.predictions[item]) for item in items)
    return tuple(pool.classes[int(pool.predictions[item])] for item in items)


def refuse_outcomes(answers: Sequence[SheetLabel], classes: Sequence[str]) -> None:
    """Refuse right and wrong: they judge one model, not the item."""
    words = {answer.text.lower() for answer in answers}
    if not words or not words <= (RIGHT | WRONG) - PLAIN or {name.lower() for name in classes} & words:
        return
    first = answers[0]
    raise LabelError(
        f"label '{first.text}' of item '{first.id}' on line {first.line} says whether one model was right",
        rule="labels that serve several models, or a later version, are true classes",
        hint="write the true class of every item",
    )
