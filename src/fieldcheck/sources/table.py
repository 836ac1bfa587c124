"""A table as it was found: columns, matrices, and what can be said about its form, before any of it has a part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fieldcheck.core.pool.column import Column
from fieldcheck.core.pool.origin import Origin


@dataclass(frozen=True, eq=False)
class RawTable:
    """What a file or an object in memory holds.

    columns
        One value per item each, by name.
    matrices
        One row of numbers per item each, by name.
    names
        By a column of whole numbers, or by a matrix: the classes that they count.
    form
        How it is written: ``semicolons, UTF-8 with BOM``.
    rows
        A column that only numbers or names the rows: the index of a data frame, row names of R.
    """

    columns: Mapping[str, Column]
    origin: Origin = field(default_factory=Origin)
    matrices: Mapping[str, Any] = field(default_factory=dict)
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    form: str = ""
    rows: str | None = None
    notes: tuple[str, ...] = ()


def check_names(names: Iterable[str], origin: Origin) -> None:
    """Refuse a name that two columns have."""
    counts = Counter(name.strip() for name in names)
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        raise origin.error(
            f"the column '{twice[0]}' is there {counts[twice[0]]} times",
            rule="every column has its own name",
            hint="rename or drop one of them",
        )
