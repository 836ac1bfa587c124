"""The tests of orders 0, 1 and 2 as tables, measured or smoothed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from fieldcheck.core.space import Space
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.surrogates.counts import Counts
from fieldcheck.tomography.surrogates.gp import smoother

ENOUGH = 200
"""Inputs from which on the rate of a test is taken as it is; with fewer, low orders are smoothed first."""


@dataclass(frozen=True, eq=False)
class LowOrders:
    """Rates by severity.

    base
        Of the unperturbed test.
    singles
        Per axis, one per severity; the first is the base.
    pairs
        Per pair of axes, severities of the first by severities of the second.
    inputs
        Of a test of low order: how many it saw, at least; what a rate of 0 is worth.
    """

    base: float
    singles: tuple[FloatArray, ...]
    pairs: dict[tuple[int, int], FloatArray]
    inputs: float

    @classmethod
    def of(cls, counts: Counts) -> LowOrders:
        space = counts.space
        low = counts.select(counts.orders <= 2)
        numbers = _numbers(space)
        wanted = np.unique(np.concatenate([tests.ravel() for tests in numbers.values()]))
        known = len(low.tests) == len(wanted) and low.inputs.min() >= ENOUGH
        rates = low.rates if known else smoother(low if len(low.tests) > 2 else counts)(wanted)
        pairs = {axes: rates[np.searchsorted(wanted, tests)] for axes, tests in numbers.items()}
        singles = tuple(_along(pairs, axis) for axis in range(len(space.axes)))
        inputs = float(low.inputs.min()) if known else float(max(low.inputs.sum() / len(wanted), 1.0)) * 10
        return cls(float(rates[0]), singles, pairs, inputs)


def _numbers(space: Space) -> dict[tuple[int, int], IntArray]:
    """Per pair of axes, the numbers of its tests, severity 0 included; a single axis is a pair with itself."""
    steps = space.numbers(np.eye(len(space.axes), dtype=np.int64))
    axes = list(combinations(range(len(space.axes)), 2)) or [(0, 0)]
    return {
        (a, b): np.arange(space.shape[a])[:, None] * steps[a]
        + (np.arange(space.shape[b])[None, :] * steps[b] if a != b else 0)
        for a, b in axes
    }


def _along(pairs: dict[tuple[int, int], FloatArray], axis: int) -> FloatArray:
    (a, _), table = next((axes, table) for axes, table in pairs.items() if axis in axes)
    return table[:, 0] if a == axis else table[0, :]
