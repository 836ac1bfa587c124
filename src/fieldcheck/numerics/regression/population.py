"""Items as regression sees them, whole or in parts: their auxiliary variables, and steps that are mapped over parts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from fieldcheck.numerics.exact import blocks
from fieldcheck.numerics.types import FloatArray, IntArray

T = TypeVar("T")


C = TypeVar("C")


R = TypeVar("R")


class Known(Protocol):
    """What is known of an auxiliary variable beside its values: its prior slopes, and whether it echoes the doubt."""

    @property
    def slope(self) -> tuple[float, float]: ...

    @property
    def error_slope(self) -> float: ...

    @property
    def echo(self) -> bool: ...


class Population(Protocol):
    """What a risk model is made of, and what steps are mapped over; a frame is one, and so is each part of it."""

    @property
    def size(self) -> int: ...

    @property
    def task(self) -> str: ...

    @property
    def auxiliary(self) -> Mapping[str, FloatArray]: ...

    @property
    def predictions(self) -> npt.NDArray[Any] | None: ...

    @property
    def traits(self) -> Mapping[str, Known]: ...

    @property
    def start(self) -> int: ...

    def map(self, step: Callable[[Any, C], R], given: C) -> Iterator[R]: ...

    def take(self, items: IntArray) -> Population: ...

    def only(self, names: Sequence[str]) -> Population: ...

    def memo(self, key: Hashable, make: Callable[[], T]) -> T: ...

    def kept(self, slot: str, key: str, make: Callable[[], FloatArray]) -> FloatArray: ...


@dataclass(frozen=True, eq=False)
class Arrays:
    """A population in memory.

    start
        Of a part: the position of its first item.
    """

    size: int
    auxiliary: Mapping[str, FloatArray]
    predictions: npt.NDArray[Any] | None = None
    task: str = "classification"
    traits: Mapping[str, Known] = field(default_factory=dict)
    start: int = 0

    def map(self, step: Callable[[Any, C], R], given: C) -> Iterator[R]:
        return (step(replace(self._some(slice(*both)), start=both[0]), given) for both in blocks(self.size))

    def take(self, items: IntArray) -> Arrays:
        return self._some(items)

    def only(self, names: Sequence[str]) -> Arrays:
        return replace(self, auxiliary={name: self.auxiliary[name] for name in names})

    def _some(self, which: slice | IntArray) -> Arrays:
        some = {name: values[which] for name, values in self.auxiliary.items()}
        size = len(which) if isinstance(which, np.ndarray) else which.stop - which.start
        said = None if self.predictions is None else self.predictions[which]
        return replace(self, size=size, auxiliary=some, predictions=said)

    def memo(self, key: Hashable, make: Callable[[], T]) -> T:
        return make()

    def kept(self, slot: str, key: str, make: Callable[[], FloatArray]) -> FloatArray:
        return make()
