"""Cutting a population into groups along one variable: optimal one-dimensional k-means."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from fieldcheck.numerics.types import FloatArray, IntArray

_COARSE = 700
"""Points of the coarse problem that is solved exactly; the cuts are then moved to a local optimum of the full one."""


@dataclass(frozen=True, eq=False)
class Partition:
    """Non-empty groups of a population, numbered along the variable.

    members
        One array per group: positions of its items, in the order of the variable (ties by position).
    """

    members: tuple[IntArray, ...]

    def __len__(self) -> int:
        return len(self.members)

    @property
    def sizes(self) -> IntArray:
        """Number of items, one per group."""
        return np.array([len(group) for group in self.members], dtype=np.int64)


def cut(order: IntArray, ends: list[int]) -> Partition:
    """Groups from an order of the population and the end of each group in it; empty ones are left out."""
    starts = [0, *ends[:-1]]
    return Partition(tuple(order[a:b] for a, b in zip(starts, ends, strict=True) if b > a))


def kmeans(values: FloatArray, k: int) -> Partition:
    """Groups with the smallest sum of squared distances to their means; fewer than k where there are fewer values.

    The sorted values are first thinned to a few hundred weighted points, on which the best cuts are found by dynamic
    programming; Lloyd's steps then move the cuts on all values. Only sequential sums are used: the result is the same
    on every machine.
    """
    order = np.argsort(values, kind="stable").astype(np.int64, copy=False)
    ordered = values[order]
    distinct = np.concatenate([[0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1])
    if len(distinct) <= k:
        return cut(order, [*distinct[1:].tolist(), len(values)])
    ordered = ordered - ordered[len(ordered) // 2]  # squares of values far from zero would drown their differences
    sums = np.concatenate([[0.0], np.cumsum(ordered)])
    ends = _lloyd(ordered, sums, _best_cuts(ordered, sums, distinct, k))
    return cut(order, ends)


def _best_cuts(ordered: FloatArray, sums: FloatArray, distinct: IntArray, k: int) -> list[int]:
    """End position of each group of the best partition among those that cut at a coarse point."""
    starts = _coarse_starts(ordered, distinct)
    edges = np.concatenate([starts, [len(ordered)]])
    weight = np.diff(edges).astype(np.float64)
    total = np.diff(sums[edges])
    mass = np.concatenate([[0.0], np.cumsum(weight)])
    first = np.concatenate([[0.0], np.cumsum(total)])
    points = len(weight)
    # Minimising the spread within groups is maximising Σ (sum of group)² / size; gain[i, j] is that of points i..j-1.
    size = mass[None, :] - mass[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.where(size > 0, (first[None, :] - first[:, None]) ** 2 / size, -np.inf)
    best, back = gain[0], []
    for _ in range(k - 1):
        candidates = best[:, None] + gain
        choice = np.argmax(candidates, axis=0)
        back.append(choice)
        best = candidates[choice, np.arange(points + 1)]
    ends, at = [points], points
    for choice in reversed(back):
        at = int(choice[at])
        ends.append(at)
    return [int(edges[e]) for e in reversed(ends)]


def _coarse_starts(ordered: FloatArray, distinct: IntArray) -> IntArray:
    """Where coarse points start: by rank and by value, so that neither a crowd nor an outlier is blurred."""
    if len(distinct) <= _COARSE:
        return distinct
    by_rank = distinct[np.linspace(0, len(distinct) - 1, _COARSE // 2).astype(np.int64)]
    grid = np.linspace(ordered[0], ordered[-1], _COARSE // 2)
    by_value = np.searchsorted(ordered, grid)
    return np.unique(np.concatenate([by_rank, by_value]))


def _lloyd(ordered: FloatArray, sums: FloatArray, ends: list[int]) -> list[int]:
    for _ in range(200):
        starts = [0, *ends[:-1]]
        means = [(sums[b] - sums[a]) / (b - a) for a, b in zip(starts, ends, strict=True) if b > a]
        middles = [(low + high) / 2 for low, high in pairwise(means)]
        moved = [*np.searchsorted(ordered, middles, side="right").tolist(), len(ordered)]
        if moved == ends:
            break
        ends = moved
    return ends
