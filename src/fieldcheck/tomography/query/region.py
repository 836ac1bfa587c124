"""Which tests a query selects.

A comparison looks at one axis, so it is a short array along that axis of the grid; ``and`` and ``or`` broadcast. Only
the result is as long as the box that holds the region. Where even that is too large, tests are drawn and looked at one
by one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core.errors import QueryError
from fieldcheck.core.space import Space
from fieldcheck.core.types import BoolArray, FloatArray, IntArray
from fieldcheck.tomography.query.selection import Box, Selection
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

Values = Callable[[str, IntArray], FloatArray]
"""From ``robustness`` or ``quality`` to its values for some tests."""


MEASURED = frozenset({"robustness", "quality"})


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

    def select(self, values: Values | None = None, *, seed: int = 0) -> Selection:
        """Its tests: all of them, or a sample where they are in a box of more than can be listed."""
        box = Box.of(self.space, _allowed(self.node, self.space))
        if not box.small:
            return box.sampled(lambda tests: self.holds(tests, values), seed=seed)
        shape = tuple(map(len, box.levels))
        found = np.broadcast_to(_Grid(self.space, values, box).select(self.node), shape)
        return Selection.whole(box.listed()[np.ascontiguousarray(found).reshape(-1)])

    def tests(self, values: Values | None = None) -> IntArray:
        """Numbers of the selected tests, in order; of a sample, where they are too many."""
        return self.select(values).tests

    def holds(self, tests: IntArray, values: Values | None = None) -> BoolArray:
        """One per test: whether it is in the region."""
        found: BoolArray = np.broadcast_to(_Points(self.space, values, tests).select(self.node), len(tests))
        return found


def _allowed(node: Node, space: Space) -> dict[str, BoolArray]:
    """By axis and for the order, the values that tests of the region may have; what is not named may be anything."""
    match node:
        case Between(name=name) | Among(name=name) if name in space.names or name == "order":
            size = len(space.axes) + 1 if name == "order" else len(space.axes[space.names.index(name)].values)
            return {name: np.broadcast_to(_Line(space, name).select(node), size)}
        case Not(part=Between() | Among() as part):
            return {name: ~own for name, own in _allowed(part, space).items()}
        case And(parts=parts):
            found: dict[str, BoolArray] = {}
            for own in (_allowed(part, space) for part in parts):
                found |= {name: found[name] & mask if name in found else mask for name, mask in own.items()}
            return found
        case Or(parts=parts):
            each = [_allowed(part, space) for part in parts]
            shared = set.intersection(*map(set, each))
            return {name: np.logical_or.reduce([own[name] for own in each]) for name in sorted(shared)}
        case _:
            return {}


class _Nodes:
    """What a query selects, wherever it looks at levels."""

    space: Space

    def select(self, node: Node) -> npt.NDArray[np.bool_]:
        match node:
            case Everything():
                return np.ones((), dtype=bool)
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
        raise NotImplementedError

    def _measured(self, name: str) -> FloatArray:
        raise NotImplementedError

    def _values(self, name: str) -> npt.NDArray[np.int32]:
        """Of an axis, one per level."""
        return np.array(self.space.axes[self.space.names.index(name)].values, dtype=np.int32)


@dataclass(frozen=True)
class _Grid(_Nodes):
    """All tests of a box at once."""

    space: Space
    values: Values | None
    box: Box

    def levels(self, name: str) -> npt.NDArray[np.int32]:
        at = self.space.names.index(name)
        shape = [1] * len(self.space.axes)
        shape[at] = len(self.box.levels[at])
        return self._values(name)[self.box.levels[at]].reshape(shape)

    def _measured(self, name: str) -> FloatArray:
        return _known(self.values)(name, self.box.listed()).reshape(tuple(map(len, self.box.levels)))


@dataclass(frozen=True, eq=False)
class _Points(_Nodes):
    """Single tests."""

    space: Space
    values: Values | None
    tests: IntArray

    @cached_property
    def _severities(self) -> IntArray:
        return self.space.severities(self.tests)

    def levels(self, name: str) -> npt.NDArray[np.int32]:
        return self._values(name)[self._severities[:, self.space.names.index(name)]]

    def _measured(self, name: str) -> FloatArray:
        return _known(self.values)(name, self.tests)


@dataclass(frozen=True)
class _Line(_Nodes):
    """The values of one axis, or all orders."""

    space: Space
    name: str

    def quantity(self, name: str) -> npt.NDArray[Any]:
        return np.arange(len(self.space.axes) + 1) if name == "order" else self._values(name)


def _known(values: Values | None) -> Values:
    if values is None:
        raise QueryError("robustness and quality are not known here", rule="they need a run that measured them")
    return values
