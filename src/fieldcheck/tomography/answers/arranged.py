"""Where the order of perturbations matters: the rows of a run in which they were applied in an order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np

from fieldcheck.core.errors import QueryError
from fieldcheck.core.space import Outcomes, Space
from fieldcheck.core.types import BoolArray, FloatArray, IntArray
from fieldcheck.tomography.setup.executor import orders_of

Orders = Sequence[tuple[int, int]]
"""Axes of which the first is applied before the second."""


def in_order(space: Space, outcomes: Outcomes, arrangements: IntArray, orders: Orders) -> Outcomes:
    """The rows that agree with the orders, or in which one of the two is not at work, with the chances that they had.

    arrangements
        Rank of the order of each row.
    """
    if not _share(_named(orders), orders):
        names = ", ".join(f"{space.names[first]} before {space.names[second]}" for first, second in orders)
        raise QueryError(f"no order of perturbations is so: {names}", rule="orders agree with each other")
    places = np.argsort(orders_of(len(space.axes), arrangements), axis=1)
    active = space.severities(outcomes.tests) > 0
    kept = np.ones(len(outcomes), dtype=np.bool_)
    for first, second in orders:
        kept &= ~(active[:, first] & active[:, second]) | (places[:, first] < places[:, second])
    found = outcomes.select(kept)
    if found.chance is None:
        return found
    return Outcomes(found.tests, found.inputs, found.held, found.chance * _shares(active[kept], orders))


def _shares(active: BoolArray, orders: Orders) -> FloatArray:
    """One per row: of all orders of the perturbations at work, the share that agrees."""
    named = _named(orders)
    patterns, which = np.unique(active[:, named], axis=0, return_inverse=True)
    shares = [_share([axis for axis, on in zip(named, pattern, strict=True) if on], orders) for pattern in patterns]
    return np.array(shares)[which]


def _named(orders: Orders) -> list[int]:
    return sorted({axis for pair in orders for axis in pair})


def _share(axes: Sequence[int], orders: Orders) -> float:
    bound = [(first, second) for first, second in orders if first in axes and second in axes]
    every = list(permutations(axes))
    return sum(all(one.index(a) < one.index(b) for a, b in bound) for one in every) / len(every)
