"""Which tests a query selects.

A comparison looks at one axis, so it is a short array along that axis of the grid; ``and`` and ``or`` broadcast. Only
the result is as long as the space.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core.errors import QueryError
from fieldcheck.core.space import Space
from fieldcheck.core.types import BoolArray, FloatArray, IntArray
from fieldcheck.tomography.query.tree import (
    Among,
    And,
    Before,
    Between,
    Compared,
    Everything,
    Node,
    Not,
    Or,
    names_in,
    orders_in,
)

Values = Callable[[str], FloatArray]
"""From ``robustness`` or ``quality`` to its values, one per test of the space, in the order of the tests."""


MEASURED = frozenset({"robustness", "quality"})


LARGEST = 20_000_000
"""Tests of a space that a query is answered over: each takes some bytes."""


SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, "=": operator.eq, "!=": operator.ne, ">=": operator.ge, ">": operator.gt,
}  # fmt: skip


@dataclass(frozen=True)
class Query:
    """A region of a space, as the user wrote it and as it was understood."""

    text: str
    node: Node
    space: Space

    @property
    def needs(self) -> frozenset[str]:
        """What has to be known about every test: ``robustness``, ``quality``, or nothing."""
        return names_in(self.node) & MEASURED

    @property
    def orders(self) -> tuple[tuple[int, int], ...]:
        """Axes of which the first is applied before the second."""
        at = self.space.names.index
        return tuple((at(one.first), at(one.second)) for one in orders_in(self.node) or ())

    def mask(self, values: Values | None = None) -> BoolArray:
        """One per test of the space: True where the query selects it."""
        if self.space.size > LARGEST:
            raise QueryError(
                f"the space has {self.space.size:,} tests", rule=f"queries look at up to {LARGEST:,}", hint="fewer axes"
            )
        grid = _Grid(self.space, values)
        found = np.broadcast_to(grid.select(self.node), self.space.shape)
        return np.ascontiguousarray(found).reshape(-1)

    def tests(self, values: Values | None = None) -> IntArray:
        """Numbers of the selected tests, in order."""
        return np.flatnonzero(self.mask(values)).astype(np.int64)


@dataclass(frozen=True)
class _Grid:
    space: Space
    values: Values | None

    def select(self, node: Node) -> npt.NDArray[np.bool_]:
        match node:
            case Everything():
                return np.ones((1,) * len(self.space.axes), dtype=bool)
            case Between():
                return self._between(node)
            case Among(name=name, values=values):
                return np.isin(self.quantity(name), list(values))
            case Compared() | Before():
                return self._two(node)
            case Not(part=part):
                return ~self.select(part)
            case And(parts=parts) | Or(parts=parts):
                join = np.logical_and if isinstance(node, And) else np.logical_or
                return reduce(join, map(self.select, parts))

    def _two(self, node: Compared | Before) -> npt.NDArray[np.bool_]:
        found: npt.NDArray[np.bool_]
        if isinstance(node, Before):
            found = (self.levels(node.first) > 0) & (self.levels(node.second) > 0)
        else:
            found = SIGNS[node.sign](self.quantity(node.left), self.quantity(node.right))
        return found

    def _between(self, node: Between) -> npt.NDArray[np.bool_]:
        value = self.quantity(node.name)
        above = SIGNS[">=" if node.with_low else ">"](value, node.low)
        below = SIGNS["<=" if node.with_high else "<"](value, node.high)
        found: npt.NDArray[np.bool_] = above & below
        return found

    def quantity(self, name: str) -> npt.NDArray[Any]:
        """Its values on the grid, in a shape that broadcasts to it."""
        match name:
            case "order":
                return reduce(np.add, ((levels > 0).astype(np.int16) for levels in map(self.levels, self.space.names)))
            case "severity_sum":
                return reduce(np.add, map(self.levels, self.space.names))
            case "robustness" | "quality":
                return self._measured(name)
            case _:
                return self.levels(name)

    def levels(self, name: str) -> npt.NDArray[np.int32]:
        at = self.space.names.index(name)
        shape = [1] * len(self.space.axes)
        shape[at] = self.space.shape[at]
        return np.array(self.space.axes[at].values, dtype=np.int32).reshape(shape)

    def _measured(self, name: str) -> FloatArray:
        if self.values is None:
            raise QueryError(f"'{name}' is not known here", rule="it needs a run that measured it")
        return self.values(name).reshape(self.space.shape)
