"""Opening a model for inputs: the layout of images and the meaning of the outputs are found out on the first items."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast, get_args

from fieldcheck.core.errors import ModelError
from fieldcheck.core.inputs import Inputs
from fieldcheck.core.types import Task
from fieldcheck.models.base import Model
from fieldcheck.models.open import open_model
from fieldcheck.models.prepare import Preparation, Steps, candidates, said, settle, steps_without_layout

SAMPLE = 64
"""Items that the model is tried on when it is opened."""


SUFFIXES = {
    ".onnx": "onnx",
    ".pt": "torch",
    ".pth": "torch",
    ".pt2": "torch",
    ".safetensors": "torch",
    ".keras": "keras",
    ".joblib": "sklearn",
    ".pkl": "sklearn",
    ".skops": "sklearn",
}


FAMILIES = {"onnxruntime": "onnx"}


OUTPUTS = ("auto", "logits", "probabilities", "values")


@dataclass(frozen=True)
class Opening:
    """How models are opened; the same words as in ``models.open_model``."""

    adapter: str | None = None
    task: Task | None = None
    outputs: Literal["auto", "logits", "probabilities", "values"] = "auto"
    layer: str = "auto"
    trust: bool = False
    threads: int | None = None

    def __post_init__(self) -> None:
        for what, given, known in (("task", self.task, (None, *get_args(Task))), ("outputs", self.outputs, OUTPUTS)):
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
    steps = steps_without_layout(preparation, inputs)
    if steps.kind != "image":
        return _open(model, inputs, steps, opening=opening, tried=False)
    asked = candidates(guess(model, opening.adapter)) if preparation.layout == "auto" else (preparation.layout,)
    refused: ModelError | None = None
    for layout in asked:
        try:
            return _open(model, inputs, replace(steps, layout=layout), opening=opening, tried=len(asked) > 1)
        except ModelError as error:
            refused = refused or error
    raise cast(ModelError, refused)


def _open(model: Any, inputs: Inputs, steps: Steps, *, opening: Opening, tried: bool) -> Opened:
    ready = open_model(
        model,
        adapter=opening.adapter,
        task=opening.task,
        outputs=opening.outputs,
        layer=None if opening.layer == "auto" else opening.layer,
        trust=opening.trust,
        batch=steps(inputs.batch(0, min(SAMPLE, len(inputs)))),
        threads=opening.threads,
    )
    return Opened(ready, steps, (*ready.notes, *said(steps, tried=tried)))


def guess(model: Any, adapter: str | None) -> str:
    """The kind of model, by what it is called: enough to know which layout to try first."""
    if adapter is not None:
        return adapter
    if isinstance(model, (str, Path)):
        return "torch" if "@" in str(model) else SUFFIXES.get(Path(model).suffix.lower(), "")
    families = [kind.__module__.split(".")[0] for kind in type(model).__mro__]
    return next((FAMILIES.get(name, name) for name in families if name in ("torch", "keras", "sklearn", *FAMILIES)), "")
