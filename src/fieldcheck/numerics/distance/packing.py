"""Points laid out so that one single-precision matrix product compares many of them with many queries."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.numerics.types import FloatArray, IntArray

SingleArray = npt.NDArray[np.float32]

LARGEST_GROUP = 64
"""Most rows in a group; a power of two, as all sizes of groups are."""

BLOCK = 2_048
"""Points that are turned to double precision at a time."""


@dataclass(frozen=True, eq=False)
class Queries:
    """Queries as a packing compares them, one row ``t (x, 1)`` each, with t such that none is long.

    along, one
        The lengths of ``t x`` and of ``t``.
    blur
        By how much products may differ whose distances are the same number in double precision.
    """

    rows: SingleArray
    along: SingleArray
    one: SingleArray
    blur: SingleArray


@dataclass(frozen=True, eq=False)
class Packing:
    """Rows sorted by label and by distance from the centre, and cut into groups of one label each.

    Equal points with equal labels share a row. The product of a row with a packed query grows as their distance
    falls. The last rows of a label may be padding: copies of a row of the same group, which change no maximum.

    points
        As given, one row per point.
    codes, borders
        The labels in ascending order; the one at place i has the groups from ``borders[i]`` up to ``borders[i + 1]``.
    group
        Rows in a group.
    rows
        Centred, scaled into the unit ball, and with a last column: minus half the squared length.
    radius
        Of each group, the largest length.
    run
        Of each row, the run of ``members`` that it stands for; -1 for padding.
    members, starts
        Positions of the points, ascending within a run of equal ones; where each run begins, and the total.
    """

    points: SingleArray
    codes: npt.NDArray[Any]
    borders: IntArray
    group: int
    rows: SingleArray
    radius: SingleArray
    run: IntArray
    members: IntArray
    starts: IntArray
    centre: FloatArray
    scale: float

    @cached_property
    def owners(self) -> npt.NDArray[Any]:
        """The label of each group."""
        return np.repeat(self.codes, np.diff(self.borders))

    @cached_property
    def first(self) -> IntArray:
        """The first point of each run."""
        return self.members[self.starts[:-1]]

    def packed(self, queries: npt.NDArray[Any]) -> Queries:
        """The queries, centred and scaled as the points are."""
        centred = (queries.astype(np.float64) - self.centre) / self.scale
        length = row_lengths(centred)
        shrink = 1 / np.maximum(length, 1.0)
        rows = np.column_stack([centred * shrink[:, None], shrink]).astype(np.float32)
        blur = np.minimum((rows.shape[1] + 16) * 2.0**-52 * (1 + length), 1e30)
        return Queries(rows, *(part.astype(np.float32) for part in (length * shrink, shrink, blur)))

    def slack(self, groups: slice, queries: Queries) -> SingleArray:
        """By group and query, the most that rounding can change a product, or a distance beside it.

        A sum of m products errs by at most m units of rounding times the lengths of the factors (Higham, Accuracy and
        Stability of Numerical Algorithms, 2002, section 3.1); the further units are for the rounding of the factors
        and of what is computed from the products, the constant for numbers too small for single precision.
        """
        units = np.float32((self.rows.shape[1] + 16) * 2.0**-24)
        radius = self.radius[groups, None]
        error = units * (radius * queries.along + 0.5 * radius**2 * queries.one)
        return np.asarray(error + queries.blur + np.float32(1e-35))

    def unfold(self, run: IntArray, most: int) -> tuple[IntArray, IntArray]:
        """The points of each run, ``most`` of them or fewer: places in ``run``, and positions of points."""
        count = np.minimum(self.starts[run + 1] - self.starts[run], most)
        source = np.repeat(np.arange(len(run)), count)
        place = np.arange(len(source)) - np.repeat(np.cumsum(count) - count, count)
        return source, self.members[self.starts[run[source]] + place]


def pack(points: SingleArray, labels: npt.NDArray[Any]) -> Packing:
    """Lay out the points, one label each."""
    centre = points.mean(axis=0, dtype=np.float64)
    length, mark = _by_row(points, centre)
    codes, label = np.unique(labels, return_inverse=True)
    members = np.lexsort((mark, length, label)).astype(np.int64)
    starts = np.append(_run_starts(points, label, (length, mark), members), len(members))
    first = members[starts[:-1]]
    counts = np.bincount(label[first], minlength=len(codes))
    group = _group_size(counts)
    borders = np.concatenate([[0], np.cumsum(-(-counts // group))])
    row = np.arange(len(first)) + np.repeat(borders[:-1] * group - np.cumsum(counts) + counts, counts)
    run = np.full(borders[-1] * group, -1, dtype=np.int64)
    run[row] = np.arange(len(first))
    scale = float(length.max()) or 1.0
    radius = np.zeros(len(run))
    radius[row] = length[first] / scale
    return Packing(
        points=points,
        codes=codes,
        borders=borders,
        group=group,
        rows=_rows(points, run, first, centre, scale),
        radius=radius.reshape(-1, group).max(axis=1).astype(np.float32),
        run=run,
        members=members,
        starts=starts,
        centre=centre,
        scale=scale,
    )


def coincide(points: SingleArray, labels: npt.NDArray[Any]) -> bool:
    """Whether two equal points have different labels."""
    length, mark = _by_row(points, points.mean(axis=0, dtype=np.float64))
    order = np.lexsort((labels, mark, length)).astype(np.int64)
    alike = np.ones(len(order), dtype=bool)
    alike[_run_starts(points, np.zeros_like(order), (length, mark), order)] = False
    return bool((alike[1:] & (labels[order[1:]] != labels[order[:-1]])).any())


def row_lengths(rows: FloatArray) -> FloatArray:
    """Euclidean length of each row; it does not depend on the other rows."""
    return np.asarray(np.sqrt(np.square(rows).sum(axis=1)))


def _by_row(points: SingleArray, centre: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The distance of each point from the centre, and a number that tells points of equal distance apart."""
    length, mark = np.empty(len(points)), np.empty(len(points))
    weights = np.cos(np.arange(points.shape[1]))
    for start in range(0, len(points), BLOCK):
        part = slice(start, start + BLOCK)
        centred = points[part] - centre
        length[part] = row_lengths(centred)
        mark[part] = (centred * weights).sum(axis=1)
    return length, mark


def _run_starts(
    points: SingleArray, label: IntArray, marks: tuple[FloatArray, FloatArray], order: IntArray
) -> IntArray:
    """Where, in this order, a point differs from the one before."""
    length, mark = marks
    before, after = order[:-1], order[1:]
    alike = (label[before] == label[after]) & (length[before] == length[after]) & (mark[before] == mark[after])
    at = np.flatnonzero(alike)
    for start in range(0, len(at), BLOCK):
        part = at[start : start + BLOCK]
        alike[part] = (points[before[part]] == points[after[part]]).all(axis=1)
    return np.flatnonzero(np.concatenate([[True], ~alike]))


def _group_size(counts: IntArray) -> int:
    """Such that padding is a small part of an average label."""
    size = LARGEST_GROUP
    while size > 4 and size * len(counts) > counts.sum():
        size //= 2
    return size


def _rows(points: SingleArray, run: IntArray, first: IntArray, centre: FloatArray, scale: float) -> SingleArray:
    rows = np.empty((len(run), points.shape[1] + 1), dtype=np.float32)
    source = first[np.maximum.accumulate(run)]
    for start in range(0, len(run), BLOCK):
        part = slice(start, start + BLOCK)
        centred = (points[source[part]] - centre) / scale
        rows[part, :-1] = centred
        rows[part, -1] = -0.5 * np.square(centred).sum(axis=1)
    return rows
