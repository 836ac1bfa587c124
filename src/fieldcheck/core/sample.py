"""The items that a design chose, and the labels they got."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from fieldcheck.core.draws import Draws, draws_from
from fieldcheck.core.errors import LabelError, SampleError
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.types import BoolArray, FloatArray, IntArray, Task

D = TypeVar("D", bound=Draws)

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Sample:
    """Items to label, with what an estimator needs to weigh them.

    items
        One per draw, in the order to label them: positions in the pool. An item may be drawn twice by designs with
        replacement; it is labelled once.
    estimator
        Name of the estimator that belongs to the design.
    draws
        How they were drawn: what may be claimed follows from it.
    complete
        False when the design wants to see labels before it goes on (GBS).
    warnings
        What the user should know about this sample.
    frame
        What the sample was drawn from; only estimators that predict the rest of the pool need it, and it is not
        recorded.
    train
        One per draw: True where the label is to train the next version with, and never says how good that one is;
        None where all labels are kept.
    """

    population: int
    items: IntArray
    estimator: str
    draws: Draws
    complete: bool = True
    warnings: tuple[str, ...] = ()
    frame: Frame | None = None
    train: BoolArray | None = None

    def __post_init__(self) -> None:
        for name in self.draws.columns:
            if len(getattr(self.draws, name)) != len(self.items):
                raise SampleError(
                    f"{len(getattr(self.draws, name))} values of '{name}' for {len(self.items)} draws",
                    rule="one per draw, in draw order",
                )

    def __len__(self) -> int:
        """Number of draws."""
        return len(self.items)

    def drawn_as(self, *kinds: type[D]) -> D:
        """The draws, which must be of one of these kinds."""
        if not isinstance(self.draws, kinds):
            raise SampleError(
                f"an estimator for {' or '.join(kind.__name__ for kind in kinds)}, and these are "
                f"{type(self.draws).__name__}",
                rule="a sample is estimated by the chances it was drawn with",
                hint=f"estimator '{self.estimator}', which belongs to the design",
            )
        return self.draws

    def to_label(self) -> IntArray:
        """The distinct items, in the order to label them."""
        _, first = np.unique(self.items, return_index=True)
        return self.items[np.sort(first)]

    def prefix(self, draws: int) -> Sample:
        """The first draws only."""
        return replace(
            self, items=self.items[:draws], draws=self.draws.part(slice(draws)), train=self._roles(slice(draws))
        )

    def after(self, draws: int) -> Sample:
        """All but the first draws: what was added to them."""
        rest = slice(draws, None)
        return replace(self, items=self.items[rest], draws=self.draws.part(rest), train=self._roles(rest))

    def _roles(self, which: slice | BoolArray) -> BoolArray | None:
        return None if self.train is None else self.train[which]

    def without(self, lost: BoolArray) -> Sample:
        """The sample without some draws whose labels will never come."""
        return replace(
            self, items=self.items[~lost], draws=self.draws.without(lost, self.items), train=self._roles(~lost)
        )

    def as_record(self) -> dict[str, Any]:
        """Plain values, for a JSON file."""
        return {
            "population": self.population,
            "items": self.items.tolist(),
            "estimator": self.estimator,
            "draws": self.draws.as_record(),
            "complete": self.complete,
            "warnings": list(self.warnings),
            "train": None if self.train is None else self.train.tolist(),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Sample:
        """The inverse of ``as_record``."""
        return cls(
            population=int(record["population"]),
            items=np.asarray(record["items"], dtype=np.int64),
            estimator=str(record["estimator"]),
            draws=draws_from(record["draws"]),
            complete=bool(record["complete"]),
            warnings=tuple(record["warnings"]),
            train=None if record["train"] is None else np.asarray(record["train"], dtype=bool),
        )


@dataclass(frozen=True, eq=False)
class Labelled:
    """A sample whose items have labels.

    losses
        One per draw, in draw order. Classification: 1.0 where the model fails, else 0.0. Regression: squared (or
        absolute) error.
    failed
        One per draw: True where the item counts as a failure.
    """

    sample: Sample
    losses: FloatArray
    failed: BoolArray
    task: Task = "classification"

    def __post_init__(self) -> None:
        if not len(self.losses) == len(self.failed) == len(self.sample):
            raise LabelError(
                f"{len(self.losses)} losses and {len(self.failed)} outcomes for {len(self.sample)} draws",
                rule="one label per draw, in draw order",
            )
        if not np.all(np.isfinite(self.losses)):
            raise LabelError("a drawn item has no label", rule="every draw needs a label to be estimated from")

    @property
    def labels(self) -> int:
        """Number of distinct items labelled."""
        return len(np.unique(self.sample.items))

    @property
    def failures(self) -> int:
        """Number of distinct failing items found."""
        return len(np.unique(self.sample.items[self.failed]))

    def memo(self, key: Hashable, make: Callable[[], T]) -> T:
        """A value that follows from these labels alone, computed once."""
        held: dict[Hashable, Any] = self.__dict__.setdefault("_memo", {})
        if key not in held:
            held[key] = make()
        value: T = held[key]
        return value
