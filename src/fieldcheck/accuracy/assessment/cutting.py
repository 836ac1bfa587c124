"""A pool cut into slices: by what the model said, by its confidence, or by any column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, TypeVar

import numpy as np

from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.column import Column, closest, is_numeric, is_text, numbers
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.numerics import exact, order

C = TypeVar("C")


R = TypeVar("R")


DISTINCT = 20
"""A column of whole numbers with more different values is cut at its quartiles."""


MANY = 1_000
"""More slices than this are a column of names, not of groups."""


LOOKED_AT = 256
"""Rows of a part from which it is mostly told that numbers are not few whole ones."""


MISSING = "(missing)"
"""Name of the slice of items without a value."""


class CutRule(Protocol):
    """From rows of a pool to the slices that they are in; it is sent to where the rows are.

    needs
        What it looks at, as ``Pool.map`` has it.
    """

    @property
    def needs(self) -> tuple[str, ...]: ...

    def codes(self, rows: Pool) -> IntArray:
        """One per row: the number of its slice."""
        ...


@dataclass(frozen=True, eq=False)
class Cut:
    """A pool in parts.

    names, sizes
        One per slice; how many items are in it.
    rule
        Which items these are.
    """

    by: str
    names: tuple[str, ...]
    sizes: IntArray
    rule: CutRule
    note: str = ""

    def codes(self, pool: Pool, items: IntArray) -> IntArray:
        """The slices of some items, one per item."""
        return self.rule.codes(pool.fetched(items, needs=self.rule.needs))


def cut(pool: Pool, by: str) -> Cut:
    """The pool cut by what the model said (``prediction``), by its confidence, or by a column.

    Numbers with many different values are cut at their quartiles. Items without a value are a slice of their own.
    """
    return pool.memo(("cut", by), lambda: _cut(pool, _source(pool, by)))


def uncut(pool: Pool) -> Cut:
    """The whole pool as one slice."""
    return Cut("", ("all",), np.array([len(pool)]), _Whole())


@dataclass(frozen=True)
class _Source:
    """What is cut by: a column, or a part of the pool.

    part
        Which it is; empty: a column.
    """

    name: str
    part: str = ""

    @property
    def needs(self) -> tuple[str, ...]:
        return (self.name.strip().lower(),)

    def column(self, rows: Pool) -> Column:
        return getattr(rows, self.part) if self.part else rows.columns[self.name]

    def values(self, rows: Pool) -> FloatArray:
        """Numbers."""
        return numbers(self.column(rows), self.name, origin=rows.origin) + 0.0  # so that -0 is 0

    def __call__(self, rows: Pool) -> FloatArray:
        """Those of them that are finite."""
        values = self.values(rows)
        return values[np.isfinite(values)]


def _source(pool: Pool, by: str) -> _Source:
    special = {"prediction": "predictions", "confidence": "confidence"}
    known = {role: part for role, part in special.items() if getattr(pool, part) is not None}
    for role, part in known.items():
        if by.strip().lower() in (role, pool.origin.column(role).lower()):
            return _Source(role, part)
    named = [role for role in known if role not in pool.columns]
    return _Source(closest(by, [*named, *pool.columns], origin=pool.origin))


def _cut(pool: Pool, source: _Source) -> Cut:
    if source.part == "predictions" and pool.task == "classification":
        return _cut_classes(pool, source)
    first = pool.fetched(np.zeros(1, dtype=np.int64), needs=source.needs)
    return (_cut_numbers if is_numeric(source.column(first)) else _cut_names)(pool, source)


def _compact(by: str, names: list[str], counts: IntArray, rule: Callable[[IntArray], CutRule], note: str = "") -> Cut:
    """Without the slices that have no item.

    rule
        Made from the number of each slice among those that are left.
    """
    used = np.flatnonzero(counts)
    place = np.cumsum(counts > 0) - 1
    return Cut(by, tuple(names[code] for code in used.tolist()), counts[used], rule(place), note)


@dataclass(frozen=True)
class _Whole:
    needs: tuple[str, ...] = ()

    def codes(self, rows: Pool) -> IntArray:
        return np.zeros(len(rows), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class _ByClass:
    """By the predicted class; ``place``: one per class, the number of its slice."""

    source: _Source
    place: IntArray

    @property
    def needs(self) -> tuple[str, ...]:
        return self.source.needs

    def codes(self, rows: Pool) -> IntArray:
        return self.place[self.source.column(rows)]


def _cut_classes(pool: Pool, source: _Source) -> Cut:
    codes, some = exact.merged(pool.map(_class_counts, source, needs=source.needs)).columns
    counts = np.bincount(codes, some, len(pool.classes)).astype(np.int64)
    return _compact(source.name, list(pool.classes), counts, lambda place: _ByClass(source, place))


def _class_counts(rows: Pool, source: _Source) -> exact.GatheredRows:
    counts = np.bincount(source.column(rows))
    used = np.flatnonzero(counts)
    return exact.GatheredRows((used, counts[used]))


@dataclass(frozen=True, eq=False)
class _ByNumber:
    """By a number: slices end at ``edges``, and begin after the one before.

    place
        One per slice, and one for items without a number: its number.
    """

    source: _Source
    edges: FloatArray
    place: IntArray

    @property
    def needs(self) -> tuple[str, ...]:
        return self.source.needs

    def codes(self, rows: Pool) -> IntArray:
        values = self.source.values(rows)
        at = np.searchsorted(self.edges, values)
        return self.place[np.where(np.isfinite(values), at, len(self.place) - 1)]


@dataclass(frozen=True, eq=False)
class _Distinct:
    """Different whole numbers in their order; None: there are more than ``DISTINCT``, or some are not whole."""

    values: FloatArray | None

    @classmethod
    def of(cls, values: FloatArray) -> _Distinct:
        for some in (values[:LOOKED_AT], values):
            if np.any(some != np.trunc(some)) or len(found := np.unique(some)) > DISTINCT:
                return cls(None)
        return cls(found)

    def __add__(self, other: _Distinct) -> _Distinct:
        if self.values is None or other.values is None:
            return _Distinct(None)
        return _Distinct.of(np.concatenate([self.values, other.values]))


def _cut_numbers(pool: Pool, source: _Source) -> Cut:
    distinct, leading = exact.merged(pool.map(_first_look, source, needs=source.needs))
    if distinct.values is not None:
        edges, names, note = distinct.values, [f"{value:.0f}" for value in distinct.values.tolist()], ""
    else:
        edges = np.unique(order.quantiles(_Mapped(pool, source.needs), source, [0.25, 0.5, 0.75], leading))
        shown = [f"{edge:.4g}" for edge in edges.tolist()]
        names = [f"up to {shown[0]}", *(f"over {low}" for low in shown)]
        names[1:-1] = [f"{low} to {high}" for low, high in pairwise(shown)]
        note = f"'{source.name}' is cut at its quartiles"
    whole = _ByNumber(source, edges, np.arange(len(names) + 1))
    counts = exact.merged(pool.map(_sizes, whole, needs=source.needs))
    return _compact(source.name, [*names, MISSING], counts, lambda place: _ByNumber(source, edges, place), note)


@dataclass(frozen=True, eq=False)
class _Mapped:
    """A pool of whose parts one column is looked at."""

    pool: Pool
    needs: tuple[str, ...]

    def map(self, step: Callable[[Any, C], R], given: C) -> Iterator[R]:
        return self.pool.map(step, given, needs=self.needs)


def _first_look(rows: Pool, source: _Source) -> tuple[_Distinct, IntArray]:
    values = source(rows)
    return _Distinct.of(values), order.leading_counts(values)


def _sizes(rows: Pool, rule: _ByNumber) -> IntArray:
    return np.bincount(rule.codes(rows), minlength=len(rule.place))


@dataclass(frozen=True, eq=False)
class _ByName:
    """By a value as text, from the names in order."""

    source: _Source
    names: tuple[str, ...]

    @property
    def needs(self) -> tuple[str, ...]:
        return self.source.needs

    def codes(self, rows: Pool) -> IntArray:
        place = {name: code for code, name in enumerate(self.names)}
        texts, which = _texts(self.source.column(rows))
        return np.array([place[text] for text in texts], dtype=np.int64)[which]


@dataclass(frozen=True)
class _NameCounts:
    """How often each name is there; None: there are more than ``MANY``."""

    counts: Counter[str] | None

    def __add__(self, other: _NameCounts) -> _NameCounts:
        if self.counts is None or other.counts is None:
            return _NameCounts(None)
        both = self.counts + other.counts
        return _NameCounts(both if len(both) <= MANY else None)


def _cut_names(pool: Pool, source: _Source) -> Cut:
    found = exact.merged(pool.map(_name_counts, source, needs=source.needs)).counts
    if found is None:
        raise PoolError(
            f"column '{source.name}' has more than {MANY:,} different values",
            rule=f"slices are at most {MANY:,} groups of items",
            hint="a column of groups, or of numbers",
        )
    names = tuple(sorted(found))
    return Cut(source.name, names, np.array([found[name] for name in names]), _ByName(source, names))


def _name_counts(rows: Pool, source: _Source) -> _NameCounts:
    texts, which = _texts(source.column(rows))
    counts = Counter[str]()
    for text, count in zip(texts, np.bincount(which, minlength=len(texts)).tolist(), strict=True):
        counts[text] += count
    return _NameCounts(counts if len(counts) <= MANY else None)


def _texts(column: Column) -> tuple[list[str], IntArray]:
    """The different values as text, and one per row which of them it is."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        different = column.unique()
        which = np.asarray(pc.index_in(column, value_set=different))
        values = different.to_pylist()
    except pa.ArrowNotImplementedError:  # lists and the like
        values, which = column.to_pylist(), np.arange(len(column))
    gone = (None, "") if is_text(column) else (None,)
    return [MISSING if value in gone else str(value) for value in values], which.astype(np.int64)
