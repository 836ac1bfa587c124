"""Any Python function that takes a batch and gives back an array."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from fieldcheck.core.errors import ModelError
from fieldcheck.models.shared.adapter import Adapter, ModelRequest
from fieldcheck.models.shared.arrays import Run, answer, as_array


@dataclass(eq=False, kw_only=True)
class CallableModel(Adapter):
    """A function: batch in; probabilities, logits or values out.

    It may give back a pair instead: the outputs, and a dictionary of activations by layer, from input to output. The
    last of them is taken as the last hidden layer.
    """

    name: ClassVar[str] = "callable"
    trusted: ClassVar[tuple[str, ...]] = ("package.module:name",)
    last: ClassVar[bool] = True
    function: Callable[[Any], Any]

    @classmethod
    def accepts(cls, model: object) -> bool:
        return callable(model) and not isinstance(model, type)

    @classmethod
    def open(cls, model: object, asked: ModelRequest) -> Self:
        if not callable(model):
            raise ModelError(f"{model!r} cannot be called", rule="a function, or package.module:name")
        draft = cls(function=model)
        return (draft if asked.batch is None or asked.outputs == "raw" else draft._seen(asked.batch)).settled(asked)

    def run(self, batch: Any, layers: tuple[str, ...]) -> Run:
        given = self.function(batch)
        shown = given[1] if _has_layers(given) else {}
        output, _ = answer(given[0] if _has_layers(given) else given)
        return as_array(output), {name: as_array(shown[name]) for name in layers}

    def raw(self, batch: Any) -> Any:
        given = self.function(batch)
        return given[0] if _has_layers(given) else given

    def _seen(self, batch: Any) -> Self:
        """This model with its layers, and with what is left out of what it gives back."""
        self._run(batch, ())
        given = self.function(batch)
        output, layers = (given[0], tuple(given[1])) if _has_layers(given) else (given, ())
        said = f"the last hidden layer is taken to be '{layers[-1]}'" if layers else ""
        notes = tuple(filter(None, (said, answer(output)[1])))
        return replace(self, layers=layers, layer=layers[-1] if layers else "", notes=notes)


def _has_layers(given: Any) -> bool:
    return isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], Mapping)
