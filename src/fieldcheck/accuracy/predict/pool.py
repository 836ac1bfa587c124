"""What was kept, as a pool with notes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.accuracy.predict.needs import has_labels
from fieldcheck.accuracy.predict.passes import KeptOutputs
from fieldcheck.core import inputs as source
from fieldcheck.core.errors import InputsError
from fieldcheck.core.inputs import Inputs
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.types import Task
from fieldcheck.models import classes as naming
from fieldcheck.sources.pools import arrays


def as_pool(
    items: Inputs,
    kept: KeptOutputs,
    *,
    truth: PoolTruth,
    notes: tuple[str, ...],
) -> Pool:
    """The pool; confidence is a part of its own, the other auxiliary variables are columns."""
    classify = truth.task == "classification"
    target, more = truth.column()
    pool = arrays.from_arrays(
        ids=items.ids,
        y_pred=_named(truth.names, kept.predictions) if classify else kept.predictions,
        y_proba=kept.outputs,
        classes=truth.names if kept.outputs is not None else None,
        confidence=kept.confidence,
        y_true=target,
        auxiliary={name: values for name, values in kept.values.items() if name != "confidence"},
        metadata=_texts(items),
        task=truth.task,
        name=items.name,
    )
    return replace(pool, notes=(*notes, *more, *pool.notes))


TEXTS = 1_024
"""Texts that are read in one go."""


def _texts(items: Inputs) -> dict[str, Any]:
    """What the model read, where it was text: whoever labels must see it. Pictures are found again by their ids.

    Items of several texts have a column for each.
    """
    if items.kind != "text":
        return {}
    starts = range(0, len(items), TEXTS)
    found = [text for start in starts for text in items.batch(start, min(start + TEXTS, len(items)))]
    names = source.parts_of(items)
    return dict(zip(names, map(list, zip(*found, strict=True)), strict=True)) if names else {"text": found}


def _named(names: tuple[str, ...], codes: npt.NDArray[Any]) -> Any:
    """Class names in Arrow: a Python string for each of many items would be large."""
    import pyarrow as pa

    return pa.array(names).take(codes)


@dataclass(frozen=True, eq=False)
class PoolTruth:
    """The truth that goes into the pool: given, or known to the inputs; ``labels`` is None where nobody asked."""

    labels: Any
    items: Inputs
    names: tuple[str, ...]
    task: Task

    def check(self) -> None:
        """Refuse what is wrong before any work is done; labels that come with the items are checked afterwards."""
        if self.labels is None or self.labels is False:
            return
        if self.labels is True and not has_labels(self.items):
            raise InputsError(
                f"{self.items.name}: the truth is not known here",
                rule="the truth comes from a column of labels, or from class folders",
                hint="--label COLUMN",
            )
        if self.labels is not True and len(self.labels) != len(self.items):
            raise InputsError(f"{len(self.labels):,} labels for {len(self.items):,} items", rule="one label per item")
        if self.labels is not True or not hasattr(self.items, "labelled"):
            self.column()
        elif hasattr(self.items, "known"):
            replace(self, labels=source.labels_in(self.items, 0, min(source.KEYS, len(self.items)))).column()

    def column(self) -> tuple[Any, tuple[str, ...]]:
        """One per item, classes by name, and what to say about it."""
        if self.labels is None or self.labels is False:
            return None, ()
        values = self.items.labels if self.labels is True else np.asarray(self.labels)
        if values is None or self.task == "regression":
            return values, ()
        return naming.truth_names(values, self.names, where=self.items.name)
