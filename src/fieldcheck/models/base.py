"""What every model adapter is: batches in; probabilities or values, and the activations of named layers, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy.typing as npt

from fieldcheck.core.types import Task

Layout = Literal["first", "last", "flat", "plain"]
"""Of images: channels first or last, flattened, or as read."""

LAYOUTS: tuple[Layout, ...] = ("last", "first", "flat", "plain")
"""In the order in which they are tried where a kind of model says nothing else."""


@dataclass(frozen=True, eq=False)
class Response:
    """What a model says about a batch. All arrays have one row per item, in the order of the batch.

    outputs
        Classification: probabilities, one column per class, each row sums to 1. Regression: one value per item.
    activations
        By layer, one row per item, one column per neuron (feature maps are flattened), float32.
    """

    outputs: npt.NDArray[Any]
    activations: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)


@runtime_checkable
class Model(Protocol):
    """A trained model behind one small interface.

    name
        The word on the command line, for those who name the adapter themselves.
    task
        What ``outputs`` are.
    classes
        Names of the columns of the probabilities; empty where nobody named them (then 0, 1, ...), and in regression.
    layers
        Names of the layers that it can show, from input to output; empty where it shows none.
    layer
        The one that ``auto`` means: the last hidden layer; empty where there is none.
    notes
        What was found out about the model and is worth saying: that its outputs were logits, which layer was taken.
    """

    name: ClassVar[str]
    task: Task
    classes: tuple[str, ...]
    layers: tuple[str, ...]
    layer: str
    notes: tuple[str, ...]

    def respond(self, batch: Any, *, layers: Sequence[str] = ()) -> Response:
        """Run one batch: an array with one row per item, or a list of texts. The same batch gives the same answer."""
        ...
