"""What the adapters share: from a model that answers somehow to one that answers as ``models.base.Model`` says."""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from fieldcheck.core.errors import FieldcheckError, ModelError
from fieldcheck.core.types import Task
from fieldcheck.models.base import LAYOUTS, Layout, Response
from fieldcheck.models.shared.arrays import Array, Run, describe, flat, one_by_one
from fieldcheck.models.shared.loading import first_line
from fieldcheck.models.shared.outputs import SLACK, Head, Outputs, decide, stated

T = TypeVar("T")

SAME = 1e-5
"""How far two runs of one batch may differ, relative to the largest output."""

ALONE = 1e-3
"""How far an item's output may depend on its neighbours in the batch before it is said, relative to the largest."""

UNKNOWN = Head("probabilities")
"""Of a model that is being opened, until it is settled."""


@dataclass(frozen=True, eq=False)
class ModelRequest:
    """What the caller of ``open_model`` said; see there."""

    task: Task | None = None
    outputs: Outputs = "auto"
    layer: str | None = None
    trust: bool = False
    batch: Any = None
    threads: int | None = None

    def sample(self, why: str) -> Any:
        """The sample batch, which the caller had to give."""
        if self.batch is None or not len(self.batch):
            raise ModelError(
                f"a sample batch is needed to see {why}",
                rule="the model is run once before it is used",
                hint="open_model(model, batch=the first items)",
            )
        return self.batch


@dataclass(eq=False, kw_only=True)
class Adapter(ABC):
    """A model of one framework. A new one is a subclass with ``accepts``, ``open`` and ``run``, and a registry line.

    opens, trusted
        For people: the files and folders that it opens, and those that it opens only where the user trusts them.
    layouts
        Of images, in the order in which they are tried; the first that the model takes is used.
    as_given
        Its model is taken as it is: no file is opened for it, no name imported.
    last
        It is asked after all others, because it takes nearly anything.
    slack
        How far rows of probabilities may be from 1.
    """

    name: ClassVar[str]
    opens: ClassVar[tuple[str, ...]] = ()
    trusted: ClassVar[tuple[str, ...]] = ()
    layouts: ClassVar[tuple[Layout, ...]] = LAYOUTS
    as_given: ClassVar[bool] = False
    last: ClassVar[bool] = False

    task: Task = "classification"
    classes: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    layer: str = ""
    notes: tuple[str, ...] = ()
    head: Head = UNKNOWN
    slack: float = SLACK

    @classmethod
    @abstractmethod
    def accepts(cls, model: object) -> bool:
        """Whether this object, or the file or folder at this path, is for this adapter. Imports no framework."""

    @classmethod
    @abstractmethod
    def open(cls, model: object, asked: ModelRequest) -> Self:
        """The model, ready to respond."""

    @abstractmethod
    def run(self, batch: Any, layers: tuple[str, ...]) -> Run:
        """Outputs as the model gives them, and the activations of ``layers`` with one row per item."""

    def raw(self, batch: Any) -> Any:
        """Everything that the model gives back for a batch, as it comes."""
        return self.run(batch, ())[0]

    @classmethod
    def picture(cls, model: object) -> tuple[int, int] | None:
        """Width and height of the images that this model takes; None where it does not say."""
        return None

    def expects(self) -> str:
        """What the model takes, in words; empty where nobody knows."""
        return ""

    def respond(self, batch: Any, *, layers: Sequence[str] = ()) -> Response:
        """See ``models.base.Model.respond``."""
        wanted = tuple(self._known(name) for name in layers)
        items = len(batch)
        if self.head.kind == "raw" and not wanted:
            return Response(one_by_one(self._guarded(lambda: self.raw(batch), batch), items))
        raw, shown = self._run(batch, wanted)
        found = {name: flat(shown[name], items=items, layer=name) for name in wanted}
        return Response(one_by_one(raw, items) if self.head.kind == "raw" else self.head.outputs(raw, items), found)

    def settled(self, asked: ModelRequest) -> Self:
        """This model with its head found out, and with the layer that was asked for."""
        layer = self.layer if asked.layer in (None, "", "auto") else self._known(str(asked.layer))
        head, notes = self._decided(asked)
        ready = replace(self, head=head, task=head.task, layer=layer, notes=(*self.notes, *notes))
        if ready.classes and head.columns and len(ready.classes) != max(2, head.columns):
            raise ModelError(
                f"the model names {len(ready.classes)} classes and gives back {head.columns} columns",
                rule="one column per class, or a single one for two classes",
            )
        return ready

    def _decided(self, asked: ModelRequest) -> tuple[Head, tuple[str, ...]]:
        known = stated(asked.task, asked.outputs)
        if known is not None and asked.batch is None:
            return replace(known, slack=self.slack), ()
        if known is not None and known.kind == "raw":
            one_by_one(self._guarded(lambda: self.raw(asked.batch[:1]), asked.batch[:1]), 1)
            return known, ()
        batch = asked.sample("whether the outputs are probabilities, logits or values")
        raw, _ = self._run(batch, ())
        head, said = decide(raw, items=len(batch), task=asked.task, outputs=asked.outputs, slack=self.slack)
        head.outputs(raw, len(batch))
        return head, (said, *self._consistency(raw, batch))

    def _consistency(self, raw: Array, batch: Any) -> tuple[str, ...]:
        """Refuse a model that answers differently each time; say when an answer depends on the rest of the batch."""
        part = batch[: max(1, len(batch) // 2)]
        first, second = (self._run(part, ())[0].astype(np.float64) for _ in range(2))
        size = float(np.max(np.abs(first), initial=1e-12, where=np.isfinite(first)))
        if not np.allclose(first, second, rtol=0, atol=SAME * size):
            raise ModelError(
                "the model answers the same batch differently each time",
                rule="the same batch, the same answer",
                hint="switch off dropout and augmentation (evaluation mode), and fix the seed inside the model",
            )
        if np.allclose(first, raw[: len(part)].astype(np.float64), rtol=0, atol=ALONE * size):
            return ()
        return ("the answer to an item depends on the others in its batch (batch normalisation in training mode?)",)

    def _run(self, batch: Any, layers: tuple[str, ...]) -> Run:
        return self._guarded(lambda: self.run(batch, layers), batch)

    def _guarded(self, run: Callable[[], T], batch: Any) -> T:
        """What a run of the batch gives; whatever goes wrong in it is said in words."""
        if not len(batch):
            raise ModelError("the batch is empty", rule="at least one item")
        try:
            return run()
        except (FieldcheckError, MemoryError):
            raise
        except Exception as error:
            expected = self.expects()
            raise ModelError(
                f"the {self.name} model cannot run a batch of {describe(batch)}: {first_line(error)}",
                rule=f"it expects {expected}" if expected else "inputs as the model was trained on",
                hint=_shape_hint(batch),
            ) from error

    def _known(self, layer: str) -> str:
        if layer in self.layers:
            return layer
        close = difflib.get_close_matches(layer, self.layers, n=1)
        raise ModelError(
            f"no layer '{layer}'",
            rule="layers: " + ", ".join(self.layers[-20:])
            if self.layers
            else f"this {self.name} model shows no layers",
            hint=close[0] if close else "",
        )


def _shape_hint(batch: Any) -> str:
    shape = tuple(getattr(batch, "shape", ()))
    if len(shape) == 4 and shape[3] in (1, 3, 4):
        return "channels come last here; many networks want them first: layout first"
    if len(shape) == 4 and shape[1] in (1, 3):
        return "where the model takes images of another size: fit letterbox, or fit stretch"
    if len(shape) == 3:
        return "there is no axis of channels; networks for images want one: batch[:, None], layout first"
    return "compare shape and type with those in training"
