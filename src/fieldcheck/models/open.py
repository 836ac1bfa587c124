"""Which adapter a model belongs to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fieldcheck.core.errors import ModelError
from fieldcheck.core.registry import Registry
from fieldcheck.core.types import Task
from fieldcheck.models.base import Model
from fieldcheck.models.callable import CallableModel
from fieldcheck.models.keras import KerasModel
from fieldcheck.models.onnx import OnnxModel
from fieldcheck.models.predictions import WORDS, Predictions
from fieldcheck.models.shared.adapter import Adapter, ModelRequest
from fieldcheck.models.shared.loading import BUILT, OBJECT, PICKLES, Weights, first_line, named_object, unpickled
from fieldcheck.models.shared.outputs import Outputs
from fieldcheck.models.sklearn import SklearnModel
from fieldcheck.models.torch.modules import TorchModel
from fieldcheck.models.transformers import TransformersModel

registry: Registry[Adapter] = Registry(
    "model adapter",
    "fieldcheck.models",
    Predictions,
    TransformersModel,
    OnnxModel,
    KerasModel,
    TorchModel,
    SklearnModel,
    CallableModel,
)
"""In the order in which they are asked; ``callable`` is always the last, because nearly everything can be called."""


POSSIBLE = (
    ".onnx; .keras; a folder of transformers; .skops; none (predictions only); and, trusted only: .pt (TorchScript), "
    ".pt2, .h5, .pkl, .joblib, package.module:name, MODULE:NAME@FILE with weights in safetensors or a state_dict"
)


def open_model(
    model: object,
    *,
    adapter: str | None = None,
    task: Task | None = None,
    outputs: Outputs = "auto",
    layer: str | None = None,
    trust: bool = False,
    batch: Any = None,
    threads: int | None = None,
) -> Model:
    """The model behind an object, a file, a folder, or a name.

    model
        An object of a framework, or any function; a path; ``package.module:name``, which is imported;
        ``MODULE:NAME@FILE``, where ``NAME()`` builds the torch network that the weights in the file belong to;
        ``none`` or None, for items that are themselves predictions.
    adapter
        Which one to use, by name; left out, it is recognised.
    task, outputs
        What the model does and gives back. Left out, it is found out from ``batch``, and said in ``notes``.
    layer
        The layer that ``auto`` will mean; left out, the last hidden one.
    trust
        Whether code may be run that comes with the model: pickles, TorchScript, imported modules, Lambda layers.
    batch
        A sample of the items, as ``respond`` will get them. Needed where the model must be seen at work.
    threads
        How many threads the framework may use for one batch.
    """
    asked = ModelRequest(task=task, outputs=outputs, layer=layer, trust=trust, batch=batch, threads=threads)
    given = WORDS[0] if model is None else model
    subject = _resolved(given, trust=trust) if adapter != Predictions.name else given
    entry = _named(adapter, subject) if adapter else _recognised(subject)
    try:
        return entry.open(subject, asked)
    except OSError as error:
        raise ModelError(
            f"{subject} cannot be read: {first_line(error)}",
            rule="a file that can be read",
            hint="look at its rights: ls -l",
        ) from error


def _resolved(model: object, *, trust: bool) -> object:
    """What a text stands for: an object, a path that exists, weights with their factory; pickles are opened."""
    if isinstance(model, str) and model not in WORDS:
        built = BUILT.fullmatch(model)
        if built and not Path(model).exists():
            return Weights(_existing(Path(built["file"])), f"{built['module']}:{built['name']}")
        if OBJECT.fullmatch(model) and not Path(model).exists():
            return named_object(model, trust=trust)
        model = Path(model)
    if isinstance(model, Path):
        path = _existing(model)
        return unpickled(path, trust=trust) if path.suffix.lower() in PICKLES else path
    return model


def _existing(path: Path) -> Path:
    if not path.exists():
        raise ModelError(f"{path}: there is no such file or folder", rule="a model is: " + POSSIBLE)
    return path


def _named(adapter: str, subject: object) -> type[Adapter]:
    """The adapter of that name; it must know the object, but a file may have any suffix."""
    if adapter not in set(registry):
        raise ModelError(f"no model adapter '{adapter}'", rule="there are: " + ", ".join(registry))
    entry = registry[adapter]
    if adapter != Predictions.name and not isinstance(subject, Path) and not entry.accepts(subject):
        raise ModelError(
            f"the adapter {adapter} does not take {type(subject).__name__}", rule="an adapter for the kind of model"
        )
    return entry


def _recognised(subject: object) -> type[Adapter]:
    for name in sorted(registry, key=CallableModel.name.__eq__):
        if registry[name].accepts(subject):
            return registry[name]
    what = str(subject) if isinstance(subject, Path) else f"an object of type {type(subject).__name__}"
    raise ModelError(
        f"{what} is no model that is known here",
        rule="a model is: " + POSSIBLE,
        hint="a function that takes a batch and gives back an array",
    )
