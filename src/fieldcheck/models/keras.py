"""Keras 3: ``.keras`` files, loaded in safe mode, and models from Python."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Self

from fieldcheck.core.errors import ModelError
from fieldcheck.models.base import Layout
from fieldcheck.models.shared.adapter import Adapter, ModelRequest
from fieldcheck.models.shared.arrays import Array, Run, as_array, cast_note, numbers
from fieldcheck.models.shared.loading import loaded, package, reading, require_release, require_trust

SUFFIXES = (".keras", ".h5", ".hdf5")

SAFE_SINCE = (3, 14)
"""Before it, a crafted ``.keras`` file could leave safe mode: CVE-2025-1550, CVE-2025-8747, CVE-2026-1462."""


@dataclass(eq=False, kw_only=True)
class KerasModel(Adapter):
    """A model with one input. Functional and sequential models show the outputs of their layers.

    tensors
        By layer, its symbolic output.
    showing
        Models that give back layers too, by the names of these; made when they are asked for.
    """

    name: ClassVar[str] = "keras"
    opens: ClassVar[tuple[str, ...]] = (".keras",)
    trusted: ClassVar[tuple[str, ...]] = (".h5", ".hdf5")
    layouts: ClassVar[tuple[Layout, ...]] = ("last", "plain", "flat", "first")
    model: Any
    dtype: str
    shape: tuple[Any, ...]
    tensors: dict[str, Any]
    showing: dict[tuple[str, ...], Any] = field(default_factory=dict)

    @classmethod
    def accepts(cls, model: object) -> bool:
        if isinstance(model, Path):
            return model.suffix.lower() in SUFFIXES
        keras = loaded("keras")
        return keras is not None and isinstance(model, keras.Model)

    @classmethod
    def open(cls, model: object, asked: ModelRequest) -> Self:
        keras = _keras()
        found = _load(model, trust=asked.trust) if isinstance(model, Path) else model
        entries = list(getattr(found, "inputs", None) or [])
        if len(entries) > 1:
            raise ModelError(
                f"the model has {len(entries)} inputs: {', '.join(one.name for one in entries)}",
                rule="one input: the items",
                hint="wrap it in a function, and open that",
            )
        tensors = _tensors(found) if entries else {}
        layer = _last_hidden(found, tensors)
        dtype = str(entries[0].dtype) if entries else keras.config.floatx()
        if dtype == "string":
            raise ModelError("the model takes texts", rule="numbers", hint="wrap it in a function, and open that")
        made = cls(
            model=found,
            dtype=dtype,
            shape=tuple(entries[0].shape) if entries else (),
            tensors=tensors,
            layers=tuple(tensors),
            layer=layer,
            notes=(*_said(found, tensors, layer), *(cast_note(asked.batch, dtype) if asked.batch is not None else ())),
        )
        return made.settled(asked)

    def run(self, batch: Any, layers: tuple[str, ...]) -> Run:
        rows = numbers(batch, self.dtype)
        found = _forward(self._showing(layers), rows)
        parts = [as_array(one) for one in (found if isinstance(found, (list, tuple)) else [found])]
        return parts[0], dict(zip(layers, parts[len(parts) - len(layers) :], strict=True))

    def expects(self) -> str:
        return f"shape {self.shape} {self.dtype}" if self.shape else self.dtype

    def _showing(self, layers: tuple[str, ...]) -> Any:
        if not layers:
            return self.model
        if layers not in self.showing:
            outputs = [self.model.outputs[0], *(self.tensors[name] for name in layers)]
            self.showing[layers] = loaded("keras").Model(self.model.inputs[0], outputs)
        return self.showing[layers]


def _forward(model: Any, rows: Array) -> Any:
    """The outputs in evaluation mode. On torch the model is called itself: Keras' way back to numpy warns there."""
    if loaded("keras").backend.backend() != "torch":
        return model.predict_on_batch(rows)
    import torch

    with torch.inference_mode():
        return model(rows, training=False)


def _keras() -> Any:
    """Keras, on the backend that is there: it takes TensorFlow where nobody chose."""
    if loaded("keras") is None and find_spec("tensorflow") is None:
        os.environ.setdefault("KERAS_BACKEND", "torch")
    return package("keras", "keras")


def _load(path: Path, *, trust: bool) -> Any:
    keras = _keras()
    if path.suffix.lower() != ".keras":
        require_trust(trust, f"{path} is in the old HDF5 format: loading it", hint="model.save('model.keras')")
    require_release(trust, "keras", SAFE_SINCE, path)
    with reading(
        path,
        "a complete file without code of its own: no Lambda layers, unless you trust it",
        hint="--trust if you wrote it; or build the model in Python, load its weights, and open that",
    ):
        return keras.saving.load_model(path, compile=False, safe_mode=not trust)


def _tensors(model: Any) -> dict[str, Any]:
    """Outputs of the layers, from input to output; a layer that is used twice has ``name`` and ``name#2``."""
    times: Counter[str] = Counter()
    found = {}
    for node in _nodes(model):
        name = node.operation.name
        times[name] += 1
        if len(node.outputs) == 1 and node.outputs[0] is not model.outputs[0]:
            found[name if times[name] == 1 else f"{name}#{times[name]}"] = node.outputs[0]
    return found


def _nodes(model: Any) -> list[Any]:
    """Uses of layers inside the model, inputs left out, the deepest first."""
    graph = getattr(model, "_functional", None) or model
    by_depth = getattr(graph, "_nodes_by_depth", {})
    return [node for depth in sorted(by_depth, reverse=True) for node in by_depth[depth] if not node.is_input]


def _last_hidden(model: Any, tensors: dict[str, Any]) -> str:
    """What the last layer with a matrix of weights takes, by the layer that made it."""
    for node in reversed(_nodes(model)):
        weights = getattr(node.operation, "weights", [])
        if any(len(one.shape) >= 2 for one in weights) and "Embedding" not in type(node.operation).__name__:
            given = node.input_tensors[0]
            return next((name for name, one in tensors.items() if one is given), "")
    return ""


def _said(model: Any, tensors: dict[str, Any], layer: str) -> tuple[str, ...]:
    more = len(getattr(model, "outputs", None) or [0]) - 1
    said = (f"it gives back {more + 1} things: the first is taken",) if more else ()
    if not tensors:
        return (*said, "it is neither functional nor sequential: no layers can be shown")
    return (*said, f"the last hidden layer is '{layer}'" if layer else "no hidden layer was found")
