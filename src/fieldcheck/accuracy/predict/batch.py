"""One batch through everything that is asked about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck import models
from fieldcheck.accuracy.auxiliary.base import Trace
from fieldcheck.accuracy.predict.symmetry import Symmetry
from fieldcheck.core.errors import ModelError
from fieldcheck.models.base import Model

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Second:
    """Another model that is asked about the same items; ``ask`` gives one row per item."""

    steps: models.Steps
    ask: Callable[[Any], Array]


@dataclass(frozen=True, eq=False)
class Ready:
    """A batch, prepared for everyone who is asked; None for those who are not."""

    inputs: Any
    mirrored: Any = None
    member: Any = None
    features: Any = None


@dataclass(frozen=True, eq=False)
class Runner:
    """The model, and what else traces are made of.

    layer
        Whose activations are looked at; empty: none.
    parts
        Parts of a trace that somebody needs; nothing else is computed.
    """

    model: Model
    steps: models.Steps
    layer: str = ""
    parts: frozenset[str] = frozenset()
    symmetry: Symmetry | None = None
    member: Second | None = None
    features: Second | None = None

    def ready(self, raw: Any) -> Ready:
        """A batch as it was read, prepared: the part of the work that needs no model."""
        return Ready(
            inputs=self.steps(raw),
            mirrored=self.steps(self.symmetry(raw)) if self.symmetry and "mirrored" in self.parts else None,
            member=self.member.steps(raw) if self.member and "member" in self.parts else None,
            features=self.features.steps(raw) if self.features and "features" in self.parts else None,
        )

    def trace(self, batch: Ready) -> Trace:
        """What the models say about a prepared batch."""
        response = self.model.respond(batch.inputs, layers=[self.layer] if self.layer else [])
        classify = self.model.task == "classification"
        return Trace(
            task=self.model.task,
            predictions=response.outputs.argmax(axis=1) if classify else response.outputs,
            probabilities=response.outputs if classify else None,
            activations=response.activations[self.layer] if self.layer else None,
            inputs=batch.inputs if "inputs" in self.parts else None,
            mirrored=None if batch.mirrored is None else self.model.respond(batch.mirrored).outputs,
            member=None if batch.member is None or self.member is None else self.member.ask(batch.member),
            features=self._features(batch) if "features" in self.parts else None,
        )

    def _features(self, batch: Ready) -> Array:
        if self.features is not None:
            return np.asarray(self.features.ask(batch.features))
        return np.asarray(batch.inputs).reshape(len(batch.inputs), -1)


def member_of(model: Model, steps: models.Steps, classes: tuple[str, ...]) -> Second:
    """A second model whose probabilities are put into the order of the first one's classes."""
    order = _order(model.classes, classes) if model.classes else None

    def ask(batch: Any) -> Array:
        outputs = model.respond(batch).outputs
        if outputs.ndim != 2 or outputs.shape[1] != len(classes):
            raise ModelError(
                f"the member gives outputs of shape {outputs.shape}, the model has {len(classes)} classes",
                rule="the second model knows the same classes",
            )
        return outputs if order is None else outputs[:, order]

    return Second(steps, ask)


def _order(theirs: tuple[str, ...], ours: tuple[str, ...]) -> list[int]:
    """Where our classes are among theirs. Where the names have nothing in common, the order is the same."""
    if set(theirs) == set(ours):
        return [theirs.index(name) for name in ours]
    if set(theirs) & set(ours):
        raise ModelError(
            "the member knows other classes than the model",
            rule="both know: " + ", ".join(ours[:12]),
            hint="a second model for the same classes",
        )
    return list(range(len(theirs)))


def extractor_of(model: Model, steps: models.Steps) -> Second:
    """A model as a maker of features: its last hidden layer, or its outputs where it shows none."""

    def ask(batch: Any) -> Array:
        if not model.layer:
            return model.respond(batch).outputs
        return model.respond(batch, layers=[model.layer]).activations[model.layer]

    return Second(steps, ask)
