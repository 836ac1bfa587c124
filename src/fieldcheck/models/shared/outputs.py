"""What the numbers of a model mean: probabilities, logits, or values. Found out once, checked ever after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from fieldcheck.core.errors import ModelError
from fieldcheck.core.types import BoolArray, FloatArray, Task
from fieldcheck.models.shared.arrays import Array, matrix

Kind = Literal["probabilities", "logits", "values", "raw"]

Outputs = Literal["auto", "probabilities", "logits", "values", "raw"]
"""``raw``: nothing is found out about the outputs and nothing is done to them; they are for others to read."""

KINDS = ("auto", "probabilities", "logits", "values", "raw")

SLACK = 1e-3
"""How far the sum of a row of probabilities may be from 1: what half precision leaves."""


@dataclass(frozen=True)
class Head:
    """The meaning of a model's outputs.

    columns
        How many the model gives back; 0 where it has not been seen at work yet.
    found
        Whether the kind was found out from a batch, and not said by the user or by the model.
    slack
        How far the sum of a row of probabilities may be from 1.
    """

    kind: Kind
    columns: int = 0
    found: bool = False
    slack: float = SLACK

    @property
    def task(self) -> Task:
        return "regression" if self.kind == "values" else "classification"

    def outputs(self, raw: Array, items: int) -> FloatArray:
        """Probabilities, one column per class, or one value per item, of what the model gave back for a batch.

        Softmax and sigmoid are taken in float64: in float32 every confident item would have the confidence 1.
        The sigmoid is the softmax of two columns, the first of them 0.
        """
        given = numeric(matrix(raw, items))
        self._check_columns(given)
        check_finite(given, below=self.kind == "logits" and given.shape[1] > 1)
        if self.kind == "values":
            return given[:, 0]
        if given.shape[1] == 1:
            given = np.hstack([np.zeros_like(given) if self.kind == "logits" else 1.0 - given, given])
        return softmax(given) if self.kind == "logits" else self._probabilities(given)

    def _check_columns(self, given: FloatArray) -> None:
        if self.kind == "values" and given.shape[1] != 1:
            raise ModelError(
                f"the model gives back {given.shape[1]} numbers per item, and the task is regression",
                rule="a regression has one value per item",
                hint="task classification, or a function around the model that chooses one column",
            )
        if self.columns and given.shape[1] != self.columns:
            raise ModelError(
                f"the model gives back {given.shape[1]} columns; for the first batch it gave {self.columns}",
                rule="the same columns for every batch",
            )

    def _probabilities(self, given: FloatArray) -> FloatArray:
        """Checked, and scaled to sum to 1: the check allows for rounding."""
        wrong = ~probable(given, self.slack)
        if wrong.any():
            where = int(np.argmax(wrong))
            found = "; those of the first batch were" if self.found else ""
            raise ModelError(
                f"the outputs of item {where} of the batch, {_shorten(given[where])}, are no probabilities{found}",
                rule="between 0 and 1, and each row sums to 1",
                hint="outputs logits, or task regression",
            )
        inside = np.clip(given, 0.0, 1.0)
        return np.asarray(inside / inside.sum(axis=1, keepdims=True))


def decide(raw: Array, *, items: int, task: Task | None, outputs: Outputs, slack: float = SLACK) -> tuple[Head, str]:
    """The head of a model that gave ``raw`` for a sample of ``items``, and how that was found out, in words."""
    given = numeric(matrix(raw, items))
    known = stated(task, outputs)
    columns = given.shape[1]
    if known is not None:
        return Head(known.kind, columns, slack=slack), _said(known.kind, columns, why="as asked for")
    check_finite(given, below=columns > 1)
    _check_no_codes(raw, columns)
    kind, why = _found_single(given, task) if columns == 1 else _found_row(given, slack)
    return Head(kind, columns, found=True, slack=slack), _said(kind, columns, why=why)


def stated(task: Task | None, outputs: Outputs) -> Head | None:
    """The head where the user said enough to know it without a look at the outputs."""
    if outputs not in KINDS:
        raise ModelError(f"no outputs '{outputs}'", rule="outputs are: " + ", ".join(KINDS))
    if outputs == "auto":
        return Head("values") if task == "regression" else None
    head = Head(outputs)
    if outputs == "raw":
        return head
    if task is not None and task != head.task:
        raise ModelError(
            f"the task is {task} and the outputs are said to be {outputs}",
            rule="classification has probabilities or logits, regression has values",
        )
    return head


def probable(given: FloatArray, slack: float) -> BoolArray:
    """One per row of two columns or more: whether it may be a row of probabilities."""
    inside = np.all((given >= -slack) & (given <= 1 + slack), axis=1)
    return np.asarray(inside & (np.abs(given.sum(axis=1) - 1.0) <= slack))


def softmax(logits: FloatArray) -> FloatArray:
    """By row."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def numeric(given: Array) -> FloatArray:
    if given.dtype.kind not in "fiub":
        raise ModelError(
            f"the model gives back {given.dtype}, such as {given.ravel()[0]!r}",
            rule="probabilities, logits or values",
            hint="use what it gives back before it becomes a class name, such as predict_proba",
        )
    return given.astype(np.float64)


def check_finite(given: FloatArray, *, below: bool) -> None:
    """Refuse what is not finite; ``below``: minus infinity may stand for a class that cannot be."""
    if np.isfinite(given).all():
        return
    fine = np.isfinite(given) | (np.isneginf(given) if below else False)
    wrong = ~fine.all(axis=1) | ~np.isfinite(given).any(axis=1)
    if wrong.any():
        where = int(np.argmax(wrong))
        raise ModelError(
            f"the output of item {where} of the batch is not finite: {_shorten(given[where])}",
            rule="every output is a finite number",
            hint="look at that item: NaN in the input, or numbers that the model was not trained on (scale)",
        )


def _found_single(given: FloatArray, task: Task | None) -> tuple[Kind, str]:
    low, high = float(given.min()), float(given.max())
    why = f"a single column between {low:.3g} and {high:.3g}"
    if low >= 0.0 and high <= 1.0:
        return "probabilities", why
    if task == "classification":
        return "logits", why
    raise ModelError(
        f"the model gives back {why}: logits of a binary classifier, or values of a regression",
        rule="where both are possible, the task must be said",
        hint="task classification, or task regression",
    )


def _found_row(given: FloatArray, slack: float) -> tuple[Kind, str]:
    if probable(given, slack).all():
        return "probabilities", "rows sum to 1"
    if np.all((given >= 0) & (given <= 1)):
        return "logits", "rows do not sum to 1, yet lie between 0 and 1: independent sigmoids would be misread"
    return "logits", "rows do not sum to 1"


def _check_no_codes(raw: Array, columns: int) -> None:
    if columns == 1 and raw.dtype.kind in "iub":
        raise ModelError(
            f"the model gives back one whole number per item ({raw.dtype}): classes, or values of a regression",
            rule="a classifier gives back probabilities or logits",
            hint="task regression; or a function that gives back probabilities; or adapter predictions",
        )


def _said(kind: Kind, columns: int, *, why: str) -> str:
    if kind == "values":
        return f"outputs are values, one per item ({why})"
    if columns == 1:
        what = "the probability of class 1" if kind == "probabilities" else "logits of class 1, sigmoid applied"
        return f"outputs are {what} ({why})"
    what = "probabilities" if kind == "probabilities" else "logits, softmax applied"
    return f"outputs are {what}: {columns} classes ({why})"


def _shorten(row: FloatArray) -> str:
    shown = ", ".join(f"{value:.4g}" for value in row[:4])
    return f"({shown}{', ...' if len(row) > 4 else ''})"
