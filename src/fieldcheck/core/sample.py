"""The items that a design chose, and the labels they got."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fieldcheck.core.errors import LabelError
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.types import BoolArray, FloatArray, IntArray, Task


@dataclass(frozen=True, eq=False)
class Sample:
    """Items to label, with what an estimator needs to weigh them.

    items
        One per draw, in the order to label them: positions in the pool. An item may be drawn twice by designs with
        replacement; it is labelled once.
    estimator
        Name of the estimator that belongs to the design.
    per_draw
        By name, one value per draw (``probability``, ``stratum``, ...).
    constants
        By name, values of the whole design (``stratum_sizes``, ...).
    complete
        False when the design wants to see labels before it goes on (GBS).
    prefix_valid
        True when the first k draws are themselves a sample of this design with budget k.
    warnings
        What the user should know about this sample.
    frame
        What the sample was drawn from; only estimators that predict the rest of the pool need it, and it is not
        recorded.
    """

    population: int
    items: IntArray
    estimator: str
    per_draw: Mapping[str, FloatArray] = field(default_factory=dict)
    constants: Mapping[str, FloatArray] = field(default_factory=dict)
    complete: bool = True
    prefix_valid: bool = False
    warnings: tuple[str, ...] = ()
    frame: Frame | None = None

    @property
    def draws(self) -> int:
        return len(self.items)

    def to_label(self) -> IntArray:
        """The distinct items, in the order to label them."""
        _, first = np.unique(self.items, return_index=True)
        return self.items[np.sort(first)]

    def prefix(self, draws: int) -> Sample:
        """The first draws only."""
        per_draw = {name: values[:draws] for name, values in self.per_draw.items()}
        return replace(self, items=self.items[:draws], per_draw=per_draw)

    def without(self, lost: BoolArray) -> Sample:
        """The sample without some draws whose labels will never come; what they were is kept among the constants."""
        gone = {f"lost_{name}": values[lost] for name, values in self.per_draw.items()}
        return replace(
            self,
            items=self.items[~lost],
            per_draw={name: values[~lost] for name, values in self.per_draw.items()},
            constants={**self.constants, **gone, "lost": self.items[lost].astype(np.float64)},
        )

    def as_record(self) -> dict[str, Any]:
        """Plain values, for a JSON file."""
        return {
            "population": self.population,
            "items": self.items.tolist(),
            "estimator": self.estimator,
            "per_draw": {name: values.tolist() for name, values in self.per_draw.items()},
            "constants": {name: values.tolist() for name, values in self.constants.items()},
            "complete": self.complete,
            "prefix_valid": self.prefix_valid,
            "warnings": list(self.warnings),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Sample:
        """The inverse of ``as_record``."""
        return cls(
            population=int(record["population"]),
            items=np.asarray(record["items"], dtype=np.int64),
            estimator=str(record["estimator"]),
            per_draw={name: np.asarray(v, dtype=np.float64) for name, v in record["per_draw"].items()},
            constants={name: np.asarray(v, dtype=np.float64) for name, v in record["constants"].items()},
            complete=bool(record["complete"]),
            prefix_valid=bool(record["prefix_valid"]),
            warnings=tuple(record["warnings"]),
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
        if not len(self.losses) == len(self.failed) == self.sample.draws:
            raise LabelError(
                f"{len(self.losses)} losses and {len(self.failed)} outcomes for {self.sample.draws} draws",
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
