"""A small linear world in which every number can be worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from fieldcheck.core.errors import ModelError
from fieldcheck.core.types import Task
from fieldcheck.models.base import Response

WEIGHTS = np.array([[1.0, 0.0, -1.0], [0.0, 1.0, -1.0]])


def softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


@dataclass
class Linear:
    """Rows of two numbers in; three classes out; the hidden layer is the rows themselves."""

    name: ClassVar[str] = "linear"
    task: Task = "classification"
    classes: tuple[str, ...] = ()
    layers: tuple[str, ...] = ("hidden",)
    layer: str = "hidden"
    notes: tuple[str, ...] = ("a linear model",)
    batches: list[int] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)

    def respond(self, batch: Any, *, layers: Sequence[str] = ()) -> Response:
        rows = np.asarray(batch, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != 2:
            raise ModelError(f"shape {rows.shape}", rule="rows of two")
        self.batches.append(len(rows))
        self.asked |= set(layers)
        shown = {name: rows.astype(np.float32) for name in layers}
        if self.task == "regression":
            return Response(rows.sum(axis=1), shown)
        return Response(softmax(rows @ WEIGHTS), shown)


def rows(size: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(size, 2))


def labelled(size: int, seed: int = 0) -> list[tuple[np.ndarray, int]]:
    """Rows with labels that the model mostly gets right."""
    found = rows(size, seed)
    noisy = found @ WEIGHTS + np.random.default_rng(seed + 1).normal(size=(size, 3))
    return [(row, int(code)) for row, code in zip(found, noisy.argmax(axis=1), strict=True)]
