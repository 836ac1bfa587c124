"""Rows of a pool with the same rows of others beside them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Protocol


class SomeRows(Protocol):
    """Of a pool; the first of them is at the position ``start``."""

    @property
    def start(self) -> int: ...

    def __len__(self) -> int: ...


class RowReader(Protocol):
    """Rows of a pool, wherever they are; it is sent to where steps run."""

    def between(self, first: int, last: int, *, needs: Collection[str]) -> SomeRows:
        """From the position ``first`` on, up to that before ``last``; ``needs`` as ``Pool.map`` has it."""
        ...


@dataclass(frozen=True, eq=False)
class Beside:
    """A step for rows of several pools as one for those of the first."""

    readers: tuple[RowReader, ...]
    step: Callable[..., Any]
    needs: tuple[str, ...]

    def __call__(self, rows: SomeRows, given: Any) -> Any:
        first, last = rows.start, rows.start + len(rows)
        others = (reader.between(first, last, needs=self.needs) for reader in self.readers)
        return self.step((rows, *others), given)
