"""Small pools on which a design easily goes wrong, made by whole-number arithmetic: the same everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.types import FloatArray, Task


@dataclass(frozen=True, eq=False)
class Case:
    """A small pool whose labels are known.

    values
        The auxiliary variable, one per item.
    losses
        One per item; classification: 1.0 where the model fails.
    budgets
        Numbers of labels to try.
    """

    name: str
    values: FloatArray
    losses: FloatArray
    budgets: tuple[int, ...]
    task: Task = "classification"

    def frame(self, auxiliary: str = "confidence", strangers: Sequence[str] = ()) -> Frame:
        """A frame that remembers nothing; all variables in ``a+b`` have the same values, ``auto`` finds one.

        strangers
            Further variables, which come before these and have other values.
        """
        size = len(self.values)
        names = ["confidence"] if auxiliary == "auto" else auxiliary.split("+")
        activations = np.column_stack([self.values, np.sqrt(self.values), np.arange(size) % 3, np.zeros(size)])
        predictions = np.arange(size) % 4 if self.task == "classification" else scattered(size, step=431)
        others = {name: scattered(size, step=271 + number) for number, name in enumerate(strangers)}
        variables = others | dict.fromkeys(names, self.values)
        return Frame(size, self.task, variables, activations, predictions, derived.traits(), tuple(names))


def scattered(size: int, step: int = 7919) -> FloatArray:
    """Numbers in [0, 1) without visible order, the first of them 0; they repeat after 1,009."""
    return (np.arange(size, dtype=np.int64) * step % 1009) / 1009


def cases() -> list[Case]:
    """Ordinary, constant, all-zero, tied auxiliary variables, one that dominates, 2 to 8 items, a perfect model."""
    size = 60
    values = scattered(size)
    shapes = {
        "ordinary": values,
        "constant": np.full(size, 0.4),
        "all zero": np.zeros(size),
        "ties": np.floor(values * 4) / 4,
        "one dominates": np.where(np.arange(size) == 17, 1e9, values),
    }
    large = [_case(name, values, task) for name, values in shapes.items() for task in _TASKS]
    tiny = [_case(f"{count} items", scattered(count), task) for count in range(2, 9) for task in _TASKS]
    perfect = [Case(f"nothing fails, {task}", values, np.zeros(size), (2, 10, size), task) for task in _TASKS]
    return [*large, *tiny, *perfect]


_TASKS: tuple[Task, ...] = ("classification", "regression")


def _case(name: str, values: FloatArray, task: Task) -> Case:
    """Losses that fall anywhere, items without auxiliary variable among them."""
    size = len(values)
    amount = scattered(size, step=613) ** 2 + 0.01
    losses = np.where(np.arange(size) % 3 == 0, 1.0 if task == "classification" else amount, 0.0)
    budgets = tuple(range(2, size + 1)) if size < 10 else (2, 3, 10, 31, size)
    return Case(f"{name}, {task}", values, losses, budgets, task)
