"""What an auxiliary variable is computed from, and what every one of them is."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.pool.trait import Trait
from fieldcheck.core.types import FloatArray, Task


@dataclass(frozen=True, eq=False)
class Trace:
    """What is known about some items: a batch of the pool, or the whole reference. One row per item.

    predictions
        Classification: codes of the predicted classes. Regression: values.
    probabilities
        One column per class.
    activations
        Of the chosen layer, float32, one column per neuron.
    inputs
        As the model gets them: an array with one row per item, or a list of texts.
    mirrored
        Probabilities that the model gives to the same items under a symmetry of the data, such as a flip.
    member
        Probabilities that a second model gives to the same items.
    features
        Of an extractor that knows nothing of the model, one row per item; the flattened inputs where there is none.
    labels
        The truth, coded as the predictions; only the reference has it.
    """

    task: Task
    predictions: npt.NDArray[Any]
    probabilities: npt.NDArray[Any] | None = None
    activations: npt.NDArray[Any] | None = None
    inputs: Any = None
    mirrored: npt.NDArray[Any] | None = None
    member: npt.NDArray[Any] | None = None
    features: npt.NDArray[Any] | None = None
    labels: npt.NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.predictions)

    def has(self) -> frozenset[str]:
        """The parts that are there, by name."""
        return frozenset(one.name for one in fields(self) if getattr(self, one.name) is not None)


@runtime_checkable
class FittedAuxiliary(Protocol):
    """An auxiliary variable that knows the reference.

    notes
        What the user should know: neurons that were dropped, the bandwidth, classes that the reference lacks.
    """

    @property
    def notes(self) -> tuple[str, ...]: ...

    def values(self, trace: Trace) -> FloatArray:
        """One per item: finite, larger where a failure is more likely. Batches may come in any size and order."""
        ...

    def finish(self, values: FloatArray) -> FloatArray:
        """The values of the whole pool, made zero or more: min-max scaled, shifted, or as they are.

        Of the others it looks at the smallest and the largest only: some items with these two beside them give the
        same as the whole, so that a pool is finished shard by shard.
        """
        ...


@runtime_checkable
class Auxiliary(Protocol):
    """A way to tell how suspicious an item is. Small parameters are the fields of a frozen dataclass.

    name, title, paper
        The word on the command line; for people, what it is called and where it comes from.
    tasks
        Those that it makes sense for.
    needs
        Parts of a trace that it looks at (names of the fields of ``Trace``).
    needs_reference
        Parts of the reference's trace that it is fitted on; empty where it needs no reference.
    helpful
        ``auto`` takes it where the pool has it: measured to lower the error beside the others.
    from_probabilities
        A pool that has probabilities has it too, by ``of_pool``.
    trait
        What designs and the risk model may know of it before any label.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    tasks: ClassVar[frozenset[Task]]
    needs: ClassVar[frozenset[str]]
    needs_reference: ClassVar[frozenset[str]]
    helpful: ClassVar[bool]
    from_probabilities: ClassVar[bool]
    trait: ClassVar[Trait]

    @classmethod
    def of_pool(cls, pool: Pool) -> FloatArray | None:
        """Its values for a pool, one per item: a column, or derived from what the pool holds; None: not there."""
        ...

    def fit(self, reference: Trace | None, *, seed: int) -> FittedAuxiliary:
        """Learn from the reference; the same reference and seed give the same values on the same machine."""
        ...


class Variable:
    """What is true of an auxiliary variable unless it says otherwise."""

    name: ClassVar[str]
    helpful: ClassVar[bool] = False
    from_probabilities: ClassVar[bool] = False
    trait: ClassVar[Trait] = Trait()

    @classmethod
    def of_pool(cls, pool: Pool) -> FloatArray | None:
        """The column of its name."""
        return pool.numeric(cls.name)


@dataclass(frozen=True)
class AsIs:
    """The part of a fitted variable that leaves values as they are."""

    notes: tuple[str, ...] = ()

    def finish(self, values: FloatArray) -> FloatArray:
        return np.maximum(values, 0.0)
