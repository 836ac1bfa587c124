"""Predictions only: no model at all. A batch is itself what a model said about the items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from fieldcheck.core.errors import ModelError
from fieldcheck.models.shared.adapter import Adapter, ModelRequest
from fieldcheck.models.shared.arrays import Array, Run, one_hot

WORDS = ("none", "predictions")


@dataclass(eq=False, kw_only=True)
class Predictions(Adapter):
    """Rows of probabilities, logits or values, or a column of predicted classes, passed on under the same checks.

    A column of classes has no probabilities: the predicted class gets 1, and nothing can be said about confidence.

    hard
        Whether the batches hold classes.
    """

    name: ClassVar[str] = "predictions"
    opens: ClassVar[tuple[str, ...]] = ("none (predictions only)",)
    as_given: ClassVar[bool] = True
    hard: bool = False

    @classmethod
    def accepts(cls, model: object) -> bool:
        return isinstance(model, str) and model in WORDS

    @classmethod
    def open(cls, model: object, asked: ModelRequest) -> Self:
        """``model``: a word for nothing, or the names of the classes in the order of the columns."""
        classes = () if cls.accepts(model) else _names(model)
        if asked.batch is None or not _holds_classes(np.asarray(asked.batch), asked):
            return cls(classes=classes).settled(asked)
        notes: tuple[str, ...] = ("predicted classes only: each gets the probability 1, confidence says nothing",)
        if not classes:
            classes = tuple(str(one) for one in np.unique(np.asarray(asked.batch)))
            notes = (*notes, f"the {len(classes)} classes are those of the first batch")
        return cls(classes=classes, hard=True, notes=notes).settled(asked)

    def run(self, batch: Any, layers: tuple[str, ...]) -> Run:
        return one_hot(batch, self.classes) if self.hard else np.asarray(batch), {}

    def expects(self) -> str:
        return "rows of probabilities, logits or values"


def _names(model: object) -> tuple[str, ...]:
    if isinstance(model, str) or not isinstance(model, Sequence):
        raise ModelError(
            f"predictions only need no model, and {type(model).__name__} was given",
            rule="'none', or the names of the classes in the order of the columns",
        )
    return tuple(map(str, model))


def _holds_classes(batch: Array, asked: ModelRequest) -> bool:
    """Texts, or whole numbers where no regression was asked for, in a single column."""
    if asked.task == "regression" or asked.outputs != "auto" or batch.size != len(batch):
        return False
    return batch.dtype.kind in "OUTiub"
