"""What a design may look at: everything that is known about the pool before any label."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from fieldcheck.core.errors import DesignError
from fieldcheck.core.pool.trait import Trait
from fieldcheck.core.types import FloatArray, IntArray, Task

T = TypeVar("T")


C = TypeVar("C")


R = TypeVar("R")


BLOCK = 1 << 15
"""Items of a part: what is worked out about them stays in the cache of a processor."""


FEW = 1 << 20
"""Up to so many items, what parts remember is kept."""


class KeptColumns(Protocol):
    """Where parts keep columns that the next steps will want again."""

    def get(self, slot: str, key: str, start: int, make: Callable[[], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """A column of the part that begins at ``start``; made, where another one or none is in this place.

        slot
            What it is. Each slot holds one column of all parts: the last one.
        key
            By what it was made.
        """
        ...


class KeptInMemory(KeptColumns):
    """In this memory: eight bytes an item and slot."""

    def __init__(self) -> None:
        self._slots: dict[str, tuple[str, dict[int, npt.NDArray[Any]]]] = {}

    def get(self, slot: str, key: str, start: int, make: Callable[[], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        if slot not in self._slots or self._slots[slot][0] != key:
            self._slots[slot] = (key, {})
        parts = self._slots[slot][1]
        if start not in parts:
            parts[start] = make()
        return parts[start]


@dataclass(frozen=True, eq=False)
class Frame:
    """The sampling frame.

    size
        Number of items, N.
    auxiliary
        By name, one value per item: zero or more, larger where a failure is more likely.
    predictions
        What the model said: code of the predicted class, or value; None where only outcomes are known.
    activations
        One row per item, one column per neuron; only CES looks at it.
    traits
        What is known of some auxiliary variables beside their values; of the others, what is believed of any column.
    worthwhile
        Auxiliary variables that ``auto`` takes, in its order; None: all of them.
    constant
        Those that ``auto`` left out, since they are the same for all items.
    start
        Of a part: the position of its first item.
    """

    size: int
    task: Task = "classification"
    auxiliary: Mapping[str, FloatArray] = field(default_factory=dict)
    activations: npt.NDArray[Any] | None = None
    predictions: npt.NDArray[Any] | None = None
    traits: Mapping[str, Trait] = field(default_factory=dict)
    worthwhile: tuple[str, ...] | None = None
    constant: tuple[str, ...] = ()
    start: int = 0
    _kept: KeptColumns | None = field(default_factory=KeptInMemory, repr=False)
    _memo: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    def values(self, name: str) -> FloatArray:
        """The auxiliary variable as it was given, one per item."""
        if name in self.auxiliary:
            return self.auxiliary[name]
        if "+" in name or name == "auto":
            raise DesignError(
                f"several auxiliary variables at once: '{name}'",
                rule="this technique takes one auxiliary variable",
                hint="write them with a comma to try one after the other",
            )
        have = ", ".join(sorted(self.auxiliary)) or "none"
        raise DesignError(
            f"no auxiliary variable '{name}' in this pool",
            rule=f"the pool has: {have}",
            hint="--auxiliary with one of these, or --design srs, which needs none",
        )

    def trait(self, name: str) -> Trait:
        """What is known of the auxiliary variable beside its values."""
        return self.traits.get(name, Trait())

    def size_measure(self, name: str) -> FloatArray:
        """The auxiliary variable as a size to draw in proportion to (surprise in classification: min-max scaled)."""
        values = self.values(name)
        if self.task == "regression" or not self.trait(name).surprise:
            return values
        low, high = float(values.min()), float(values.max())
        return (values - low) / (high - low) if high > low else np.ones_like(values)

    def helpful(self) -> tuple[str, ...]:
        """What ``auto`` stands for here."""
        wanted = self.auxiliary if self.worthwhile is None else self.worthwhile
        return tuple(name for name in wanted if name in self.auxiliary)

    def only(self, names: Sequence[str]) -> Frame:
        """The same items with these auxiliary variables and no others, in this order; what it remembers is its own."""
        if list(names) == list(self.auxiliary):
            return self
        return self.memo(("only", *names), lambda: self._own(auxiliary={name: self.values(name) for name in names}))

    def part(self, items: IntArray) -> Frame:
        """Some of the items; what it remembers is its own."""
        return self._some(items, len(items))

    def take(self, items: IntArray) -> Frame:
        """Some of the items, to be looked at once."""
        return replace(self.part(items), _kept=None)

    def reader(self) -> Callable[[int, int], Frame]:
        """What is sent to where steps of another frame run, to look at the same items of this one there: from two
        positions to the items from the one up to that before the other."""
        return self._own()._between

    def _between(self, first: int, last: int) -> Frame:
        return replace(self._some(slice(first, last), last - first), start=first, _kept=None)

    def map(self, step: Callable[[Frame, C], R], given: C) -> Iterator[R]:
        """A step for some items after the other, as many as a processor has at hand."""
        parts = self.memo("parts", lambda: list(self._parts())) if self.size <= FEW else self._parts()
        return (step(part, given) for part in parts)

    def _parts(self) -> Iterator[Frame]:
        for first in range(0, self.size, BLOCK):
            last = min(first + BLOCK, self.size)
            some = self._some(slice(first, last), last - first)
            yield replace(some, start=self.start + first, _kept=self._kept)

    def _some(self, which: slice | IntArray, size: int) -> Frame:
        return self._own(
            size=size,
            auxiliary={name: values[which] for name, values in self.auxiliary.items()},
            predictions=None if self.predictions is None else self.predictions[which],
            activations=None if self.activations is None else self.activations[which],
        )

    def _own(self, **changed: Any) -> Frame:
        """With something changed; what it remembers is its own."""
        return replace(self, **changed, _memo={}, _kept=KeptInMemory())

    def kept(self, slot: str, key: str, make: Callable[[], FloatArray]) -> FloatArray:
        """Of a part: a column that the next steps will want again; ``KeptColumns`` has the words."""
        return make() if self._kept is None else self._kept.get(slot, key, self.start, make)

    def memo(self, key: Hashable, make: Callable[[], T]) -> T:
        """A value derived from this frame alone, computed once."""
        if key not in self._memo:
            self._memo[key] = make()
        value: T = self._memo[key]
        return value
