"""Which adapter a model belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
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
    error=ModelError,
    hint="",
)
"""In the order in which they are asked, but for those that are always last."""


def possible() -> str:
    """What a model can be, in words."""
    plain = (word for _, adapter in registry.items() for word in adapter.opens)
    trusted = (word for _, adapter in registry.items() for word in adapter.trusted)
    return f"a model is: {'; '.join(plain)}; and, trusted only: {', '.join(trusted)}"


def is_model_file(path: Path) -> bool:
    """Whether a file is named as a model is, by its ending."""
    return path.suffix.lower() in PICKLES or any(adapter.accepts(path) for _, adapter in registry.items())


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
    return find_adapter(model, adapter=adapter, trust=trust).open(asked)


@dataclass(frozen=True, eq=False)
class RecognisedModel:
    """A model that was found, unpickled or imported, and the adapter that it is for."""

    adapter: type[Adapter]
    subject: object

    def open(self, asked: ModelRequest) -> Model:
        """The model, ready to respond."""
        try:
            return self.adapter.open(self.subject, asked)
        except OSError as error:
            raise ModelError(
                f"{self.subject} cannot be read: {first_line(error)}",
                rule="a file that can be read",
                hint="look at its rights: ls -l",
            ) from error


def find_adapter(model: object, *, adapter: str | None, trust: bool) -> RecognisedModel:
    """The adapter that is named, else the first that takes the model."""
    given = WORDS[0] if model is None else model
    if adapter is None:
        subject = _resolved(given, trust=trust)
        return RecognisedModel(_recognised(subject), subject)
    entry = registry[adapter]
    if entry.as_given:
        return RecognisedModel(entry, given)
    subject = _resolved(given, trust=trust)
    if not isinstance(subject, Path) and not entry.accepts(subject):
        raise ModelError(
            f"the adapter {adapter} does not take {type(subject).__name__}", rule="an adapter for the kind of model"
        )
    return RecognisedModel(entry, subject)


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
        raise ModelError(f"{path}: there is no such file or folder", rule=possible())
    return path


def _recognised(subject: object) -> type[Adapter]:
    for adapter in sorted((adapter for _, adapter in registry.items()), key=attrgetter("last")):
        if adapter.accepts(subject):
            return adapter
    what = str(subject) if isinstance(subject, Path) else f"an object of type {type(subject).__name__}"
    raise ModelError(
        f"{what} is no model that is known here",
        rule=possible(),
        hint="a function that takes a batch and gives back an array",
    )
