"""What a model is run on: items that are read when they are needed, never all at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from fieldcheck.core.pool.column import as_column, take
from fieldcheck.core.types import IntArray

Kind = Literal["image", "text", "row"]


@runtime_checkable
class Inputs(Protocol):
    """Items in a fixed order.

    name
        The stem of the file, or the name of the folder.
    kind
        ``image``: arrays of height x width (x channels). ``text``: strings, or tuples of them where an item has
        several. ``row``: numbers, one per feature.
    ids
        One per item: relative paths with forward slashes, a column of ids, or 0, 1, ...
    labels
        One per item where the source knows them, else None: class names or codes, or numbers (regression).
    """

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> Kind: ...

    @property
    def ids(self) -> Any: ...

    @property
    def labels(self) -> npt.NDArray[Any] | None: ...

    def __len__(self) -> int: ...

    def batch(self, start: int, stop: int) -> Any:
        """Items from ``start`` up to ``stop``: one array with one row per item, or a list of texts."""
        ...


def parts_of(inputs: Inputs) -> tuple[str, ...]:
    """Names of the texts of an item, where each item is a tuple of several; else none."""
    return tuple(getattr(inputs, "parts", ()))


def gather(inputs: Inputs, positions: IntArray) -> Any:
    """Items at increasing positions; runs of neighbours are read in one go."""
    runs = np.split(positions, np.flatnonzero(np.diff(positions) > 1) + 1)
    parts = [inputs.batch(int(run[0]), int(run[-1]) + 1) for run in runs]
    return [text for part in parts for text in part] if isinstance(parts[0], list) else np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class Subset:
    """Items at increasing positions."""

    inputs: Inputs
    positions: IntArray

    @property
    def name(self) -> str:
        return self.inputs.name

    @property
    def kind(self) -> Kind:
        return self.inputs.kind

    @property
    def ids(self) -> Any:
        return take(as_column(self.inputs.ids, "id"), self.positions)

    @property
    def labels(self) -> npt.NDArray[Any] | None:
        labels = self.inputs.labels
        return None if labels is None else labels[self.positions]

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(getattr(self.inputs, "classes", ()))

    @property
    def parts(self) -> tuple[str, ...]:
        return parts_of(self.inputs)

    def __len__(self) -> int:
        return len(self.positions)

    def batch(self, start: int, stop: int) -> Any:
        return gather(self.inputs, self.positions[start:stop])


KEYS = 1 << 16
"""Ids that are read at once where all are looked at."""


def ids_in(inputs: Inputs, start: int, stop: int) -> Any:
    """Ids of some items; a source with ``known`` does not hold those of all others."""
    own = getattr(inputs, "known", None)
    return as_column(inputs.ids[start:stop] if own is None else own(start, stop)[0], "id")


def labels_in(inputs: Inputs, start: int, stop: int) -> npt.NDArray[Any] | None:
    """Labels of some items, where they are known."""
    own = getattr(inputs, "known", None)
    if own is not None:
        labels: npt.NDArray[Any] | None = own(start, stop)[1]
        return labels
    return None if inputs.labels is None else inputs.labels[start:stop]


@dataclass(frozen=True, eq=False)
class Stretch:
    """Items from ``start`` up to ``stop``."""

    inputs: Inputs
    start: int
    stop: int
    ids: Any
    labels: npt.NDArray[Any] | None = None

    @property
    def name(self) -> str:
        return self.inputs.name

    @property
    def kind(self) -> Kind:
        return self.inputs.kind

    def __len__(self) -> int:
        return self.stop - self.start

    def batch(self, start: int, stop: int) -> Any:
        return self.inputs.batch(self.start + start, self.start + stop)
