"""Opening a model for inputs: the layout of images and the meaning of the outputs are found out on the first items."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast, get_args

from fieldcheck.core.errors import ModelError
from fieldcheck.core.inputs import Inputs
from fieldcheck.core.types import Task
from fieldcheck.models.base import Model
from fieldcheck.models.open import RecognisedModel, find_adapter
from fieldcheck.models.prepare import Preparation, Steps, said, settle, steps_without_layout
from fieldcheck.models.shared.adapter import ModelRequest
from fieldcheck.models.shared.outputs import KINDS, Outputs

SAMPLE = 64
"""Items that the model is tried on when it is opened."""


@dataclass(frozen=True)
class Opening:
    """How models are opened; the same words as in ``models.open_model``."""

    adapter: str | None = None
    task: Task | None = None
    outputs: Outputs = "auto"
    layer: str = "auto"
    trust: bool = False
    threads: int | None = None

    def __post_init__(self) -> None:
        for what, given, known in (("task", self.task, (None, *get_args(Task))), ("outputs", self.outputs, KINDS)):
            if given not in known:
                raise ModelError(f"no {what} '{given}'", rule=", ".join(one for one in known if one))


@dataclass(frozen=True, eq=False)
class Opened:
    """A model with the steps that its inputs go through."""

    model: Model
    steps: Steps
    notes: tuple[str, ...]


def opened(model: Any, inputs: Inputs, *, opening: Opening, preparation: Preparation) -> Opened:
    """The model behind an object or a path, and the first usual layout that it takes."""
    if isinstance(model, Model):
        steps, notes = settle(preparation, inputs, model)
        return Opened(model, steps, (*model.notes, *notes))
    found = find_adapter(model, adapter=opening.adapter, trust=opening.trust)
    takes = found.adapter.picture(found.subject) if preparation.fit != "none" else None
    steps = steps_without_layout(preparation, inputs, takes=takes)
    if steps.kind != "image":
        return _open(found, inputs, steps, opening=opening, tried=False)
    asked = preparation.layouts(found.adapter.layouts)
    refused: ModelError | None = None
    for layout in asked:
        try:
            return _open(found, inputs, replace(steps, layout=layout), opening=opening, tried=len(asked) > 1)
        except ModelError as error:
            refused = refused or error
    raise cast(ModelError, refused)


def _open(found: RecognisedModel, inputs: Inputs, steps: Steps, *, opening: Opening, tried: bool) -> Opened:
    asked = ModelRequest(
        task=opening.task,
        outputs=opening.outputs,
        layer=None if opening.layer == "auto" else opening.layer,
        trust=opening.trust,
        batch=steps(inputs.batch(0, min(SAMPLE, len(inputs)))),
        threads=opening.threads,
    )
    ready = found.open(asked)
    return Opened(ready, steps, (*ready.notes, *said(steps, tried=tried)))
