"""Exact nearest neighbours by blocked matrix products.

Single-precision products find a short list: every point whose product, give or take the largest error that rounding
can make, may belong to the nearest. The distances on that list are computed in double precision from the differences,
so the result is that of the definition, and bit for bit the same however queries are split into batches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.numerics.distance.packing import Packing, pack, row_lengths
from fieldcheck.numerics.types import FloatArray, IntArray

SingleArray = npt.NDArray[np.float32]

COLUMNS = 1_024
"""Most queries in one product."""

PRODUCT = 1 << 20
"""Entries of one product: it stays in the cache. The fewer queries, the more points it is with."""

OWN_BATCH = 256
"""Queries from which on a label is worth products of its own, without the points that it may not find."""

PENDING = 1 << 20
"""Length of a short list at which it is cut down."""

ELEMENTS = 1 << 21
"""Numbers in one block of double-precision work."""


@dataclass(frozen=True, eq=False)
class Job:
    """Queries that are compared with the same groups of points.

    queries
        Their positions.
    spans
        First group, and the one after the last.
    banned
        One label per query, whose groups do not count; None where all do.
    """

    queries: IntArray
    spans: tuple[tuple[int, int], ...]
    banned: npt.NDArray[Any] | None = None


@dataclass(frozen=True, eq=False)
class NearPairs:
    """Queries and runs of equal points that may be near each other.

    query, run
        Places in a batch of queries; runs of a packing.
    value
        The largest product that a pair may have, or its distance.
    """

    query: IntArray
    run: IntArray
    value: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.query)

    def where(self, chosen: npt.NDArray[Any]) -> NearPairs:
        return NearPairs(self.query[chosen], self.run[chosen], self.value[chosen])


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Points that can be searched, each with a label."""

    packing: Packing

    @classmethod
    def of(cls, points: SingleArray, labels: npt.NDArray[Any] | None = None) -> Neighbours:
        """Finite single-precision points, one row each; without labels all have the same."""
        return cls(pack(points, np.zeros(len(points), dtype=np.int64) if labels is None else labels))

    @property
    def columns(self) -> int:
        """Numbers in a point."""
        return int(self.packing.points.shape[1])

    def nearest(
        self, queries: npt.NDArray[Any], k: int = 1, *, within: npt.NDArray[Any] | None = None
    ) -> tuple[IntArray, FloatArray]:
        """Positions of the k nearest points and their distances: one row per query, nearest first.

        Of equally near points the first in order is the nearer one. Where there are fewer than k points, the rest is
        -1 and infinity.

        within
            One label per query: only points with this label count.
        """
        everything = ((0, int(self.packing.borders[-1])),)
        if within is None:
            return self._search(queries, k, (Job(some, everything) for some in _batches(np.arange(len(queries)))))
        return self._search(queries, k, self._inside(within))

    def nearest_other(
        self, queries: npt.NDArray[Any], labels: npt.NDArray[Any], k: int = 1
    ) -> tuple[IntArray, FloatArray]:
        """The same among the points whose label is not that of the query."""
        return self._search(queries, k, self._outside(labels))

    def _labels(self) -> Iterator[tuple[Any, int, int]]:
        """Each label with its groups."""
        yield from zip(self.packing.codes, self.packing.borders[:-1], self.packing.borders[1:], strict=True)

    def _inside(self, labels: npt.NDArray[Any]) -> Iterator[Job]:
        for code, first, last in self._labels():
            for some in _batches(np.flatnonzero(labels == code)):
                yield Job(some, ((first, last),))

    def _outside(self, labels: npt.NDArray[Any]) -> Iterator[Job]:
        """Common labels leave out their own points; rare ones share batches, in which their own points are banned."""
        rare, end = np.ones(len(labels), dtype=bool), int(self.packing.borders[-1])
        for code, first, last in self._labels():
            same = labels == code
            if np.count_nonzero(same) >= OWN_BATCH:
                rare &= ~same
                yield from (Job(some, ((0, first), (last, end))) for some in _batches(np.flatnonzero(same)))
        yield from (Job(some, ((0, end),), labels[some]) for some in _batches(np.flatnonzero(rare)))

    def _search(self, queries: npt.NDArray[Any], k: int, jobs: Iterator[Job]) -> tuple[IntArray, FloatArray]:
        index = np.full((len(queries), k), -1, dtype=np.int64)
        distance = np.full((len(queries), k), np.inf)
        buffer = np.empty(max(PRODUCT, COLUMNS * self.packing.group), dtype=np.float32)
        for job in jobs:
            found = self._short_list(queries[job.queries], k, job=job, buffer=buffer)
            source, member = self.packing.unfold(found.run, k)
            query, away = found.query[source], found.value[source]
            chosen, place = _first(query, away, member, k)
            at = job.queries[query[chosen]]
            index[at, place], distance[at, place] = member[chosen], away[chosen]
        return index, distance

    def _short_list(self, queries: npt.NDArray[Any], k: int, *, job: Job, buffer: SingleArray) -> NearPairs:
        """Pairs with their distances, among them those of the k nearest points of each query."""
        packed = self.packing.packed(queries)
        least = np.full((k, len(queries)), -np.inf, dtype=np.float32)
        pending: list[NearPairs] = []
        for first, last in self._blocks(job.spans, len(queries)):
            products = self._products(first, last, packed.rows, buffer)
            top = products.max(axis=1)
            if job.banned is not None:
                top[self.packing.owners[first:last, None] == job.banned] = -np.inf
            slack = self.packing.slack(slice(first, last), packed)
            least = _largest(least, top - slack, k)
            pending.append(self._near(products, top, slack, least=least[0], first=first))
            if sum(map(len, pending)) > PENDING:
                pending = [self._reduced(pending, queries, k, least=least[0])]
        return self._measured(_joined(pending, least[0]), queries)

    def _blocks(self, spans: tuple[tuple[int, int], ...], queries: int) -> Iterator[tuple[int, int]]:
        step = max(1, PRODUCT // (self.packing.group * queries))
        for start, stop in spans:
            for first in range(start, stop, step):
                yield first, min(first + step, stop)

    def _products(self, first: int, last: int, columns: SingleArray, buffer: SingleArray) -> SingleArray:
        """One entry per group, row of the group, and query. They lie in the buffer."""
        group = self.packing.group
        rows = self.packing.rows[first * group : last * group]
        out = buffer[: len(rows) * len(columns)].reshape(len(rows), len(columns))
        return np.matmul(rows, columns.T, out=out).reshape(last - first, group, len(columns))

    def _near(
        self, products: SingleArray, top: SingleArray, slack: SingleArray, *, least: SingleArray, first: int
    ) -> NearPairs:
        """Pairs whose product may reach the least that is needed, one number per query."""
        group, query = np.nonzero((top + slack >= least) & (top > -np.inf))
        most = products[group, :, query] + slack[group, query, None]
        hit, place = np.nonzero(most >= least[query, None])
        run = self.packing.run[(first + group[hit]) * self.packing.group + place]
        return NearPairs(query[hit], run, most[hit, place]).where(run >= 0)

    def _reduced(self, pending: list[NearPairs], queries: npt.NDArray[Any], k: int, *, least: SingleArray) -> NearPairs:
        """A list that grew long, without what cannot be among the nearest: first by products, then by distances."""
        pairs = _joined(pending, least)
        if len(pairs) <= PENDING // 2:
            return pairs
        measured = self._measured(pairs, queries)
        chosen, _ = _first(measured.query, measured.value, self.packing.first[measured.run], k)
        kept = measured.where(chosen)
        return NearPairs(kept.query, kept.run, np.full(len(kept), np.inf, dtype=np.float32))

    def _measured(self, pairs: NearPairs, queries: npt.NDArray[Any]) -> NearPairs:
        """The pairs with their distances, in double precision."""
        position, away = self.packing.first[pairs.run], np.empty(len(pairs))
        step = max(1, ELEMENTS // queries.shape[1])
        for start in range(0, len(pairs), step):
            part = slice(start, start + step)
            points = self.packing.points[position[part]].astype(np.float64)
            away[part] = row_lengths(queries[pairs.query[part]] - points)
        return NearPairs(pairs.query, pairs.run, away)


def _batches(positions: IntArray) -> Iterator[IntArray]:
    for start in range(0, len(positions), COLUMNS):
        yield positions[start : start + COLUMNS]


def _largest(known: SingleArray, further: SingleArray, k: int) -> SingleArray:
    """The k largest of each column, the least of them first."""
    if k == 1:
        return np.asarray(np.maximum(known, further.max(axis=0)))
    together = np.concatenate([known, further])
    return np.partition(together, len(together) - k, axis=0)[len(together) - k :]


def _joined(pending: list[NearPairs], least: SingleArray) -> NearPairs:
    """One list, without the pairs that fall short of the least by now."""
    if not pending:
        return NearPairs(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))
    pairs = NearPairs(
        np.concatenate([part.query for part in pending]),
        np.concatenate([part.run for part in pending]),
        np.concatenate([part.value for part in pending]),
    )
    return pairs.where(pairs.value >= least[pairs.query])


def _first(query: IntArray, distance: FloatArray, position: IntArray, k: int) -> tuple[IntArray, IntArray]:
    """The k nearest of each query, ties by position: places in the arrays, and ranks from 0."""
    order = np.lexsort((position, distance, query))
    ordered = query[order]
    rank = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    return order[rank < k], rank[rank < k]
