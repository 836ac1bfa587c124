"""Objects from Python: arrays, lists of texts, data frames, torch Datasets and other sequences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from fieldcheck.core.errors import InputsError
from fieldcheck.core.inputs import Inputs, Kind
from fieldcheck.sources.inputs.arrays import from_array
from fieldcheck.sources.inputs.images import Form
from fieldcheck.sources.inputs.options import Wanted
from fieldcheck.sources.inputs.sequences import SequenceInputs, as_numpy, item_kind, keys_of, parts_of


def from_object(source: Any, wanted: Wanted) -> Inputs:
    """Whatever Python users hold: recognised by what it can do, so that no framework is imported for it."""
    if _is_inputs(source):
        return cast(Inputs, source)
    family = type(source).__module__.split(".")[0]
    if family == "datasets":
        from fieldcheck.sources.inputs import huggingface

        return huggingface.from_dataset(source, wanted)
    if family in ("pandas", "pyarrow"):
        from fieldcheck.sources.inputs import tables

        return tables.from_table(source, wanted, name="inputs")
    if _is_array(source):
        return from_array(as_numpy(source), wanted)
    if not (hasattr(source, "__len__") and hasattr(source, "__getitem__")):
        raise InputsError(
            f"inputs cannot be read from {type(source).__name__}",
            rule="something with a length whose items can be asked for by number",
            hint="list(...) for an iterable",
        )
    return _from_sequence(source, wanted)


def _is_inputs(source: Any) -> bool:
    """Not asked with ``isinstance``, which would read the labels."""
    has = {*dir(type(source)), *getattr(source, "__dict__", ())}
    return {"batch", "kind", "ids"} <= has


def _is_array(value: Any) -> bool:
    """Also a tensor, but not a list."""
    return hasattr(value, "__array__") and hasattr(value, "ndim")


def from_texts(texts: Sequence[str], wanted: Wanted, *, name: str = "inputs") -> Inputs:
    """A list of texts, one an item."""
    if not texts:
        raise InputsError(f"{name}: there is no item", rule="at least one item")
    return TextInputs(name, list(texts), np.arange(len(texts)))


@dataclass(frozen=True, eq=False)
class TextInputs:
    """Texts that are in memory already."""

    name: str
    texts: list[str]
    ids: Any
    labels: npt.NDArray[Any] | None = None
    classes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    kind: Kind = "text"

    def __len__(self) -> int:
        return len(self.texts)

    def batch(self, start: int, stop: int) -> list[str]:
        return self.texts[start:stop]


def _from_sequence(source: Any, wanted: Wanted) -> Inputs:
    if not len(source):
        raise InputsError("the inputs are empty", rule="at least one item")
    if isinstance(source, (list, tuple)) and all(isinstance(one, str) for one in source):
        return from_texts(source, wanted)
    first = source[0]
    keys = keys_of(first, wanted) if isinstance(first, Mapping) else None
    given, _ = parts_of(first, keys)
    form = Form.of(wanted, given, "item 0") if hasattr(given, "convert") else None
    return SequenceInputs(
        name=type(source).__name__.lower(),
        kind=wanted.kind or item_kind(given),
        source=source,
        form=form,
        keys=keys,
        classes=tuple(str(one) for one in getattr(source, "classes", ()) or ()),
        notes=() if form is None else form.notes(),
    )
