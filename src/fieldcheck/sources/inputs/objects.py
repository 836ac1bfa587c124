"""Objects from Python: arrays, lists of texts, data frames, torch Datasets and other sequences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from fieldcheck.core.errors import InputsError
from fieldcheck.core.inputs import Inputs, Kind
from fieldcheck.sources.inputs.arrays import from_array
from fieldcheck.sources.inputs.images import Form
from fieldcheck.sources.inputs.wanted import LABELS, TEXTS, Wanted, label_in, named

ITEM_KEYS = ("image", "img", "pixel_values", "x", "input", "inputs", "features", *TEXTS)
"""Keys of the input in items that are dictionaries, in order of preference."""


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


def as_numpy(value: Any) -> npt.NDArray[Any]:
    """An array, a tensor of torch, or numbers as an array."""
    return np.asarray(value.detach().cpu().numpy() if hasattr(value, "detach") else value)


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


@dataclass(eq=False)
class SequenceInputs:
    """Items that are asked for one by one: the input, or input and label, or a dictionary with both.

    Labels are remembered while the items go by, so that nothing is read twice for them; those that nobody has asked
    for yet are read when ``labels`` is.
    """

    name: str
    kind: Kind
    source: Any
    form: Form | None = None
    keys: tuple[str, str | None] | None = None
    classes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    _seen: dict[int, Any] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.source)

    @property
    def ids(self) -> npt.NDArray[np.int64]:
        return np.arange(len(self))

    @property
    def labelled(self) -> bool:
        """Whether there are labels, by the first item: ``labels`` may have to read all of them."""
        return _known_labels(self.source) is not None or _parts(self.source[0], self.keys)[1] is not None

    @property
    def labels(self) -> npt.NDArray[Any] | None:
        if (known := _known_labels(self.source)) is not None:
            return known
        for at in range(len(self)):
            if at not in self._seen:
                self._item(at)
        found = [self._seen[at] for at in range(len(self))]
        return None if any(one is None for one in found) else np.array(found)

    def batch(self, start: int, stop: int) -> Any:
        items = [self._item(at) for at in range(start, min(stop, len(self)))]
        return items if self.kind == "text" else np.stack(items)

    def _item(self, at: int) -> Any:
        given, label = _parts(self.source[at], self.keys)
        self._seen[at] = label.item() if hasattr(label, "item") else label
        return given if self.kind == "text" else pixels(given, self.form, f"item {at}")


def pixels(given: Any, form: Form | None, name: str) -> npt.NDArray[Any]:
    """An input as an array; images of Pillow in the common form, channels last."""
    if form is not None:
        return form.pixels(given, name)
    array = as_numpy(given)
    return np.moveaxis(array, 0, -1) if array.ndim == 3 and channels_lead(array.shape) else array


def channels_lead(shape: tuple[int, ...]) -> bool:
    """Whether the first axis of one image is that of the channels."""
    return shape[0] in (1, 3) and shape[-1] not in (1, 3, 4)


def _parts(item: Any, keys: tuple[str, str | None] | None) -> tuple[Any, Any]:
    """Input and label of an item; None where it has no label."""
    if keys is not None:
        return item[keys[0]], None if keys[1] is None else item[keys[1]]
    if isinstance(item, (tuple, list)) and len(item) > 1 and not isinstance(item[0], (int, float)):
        return item[0], item[1]
    return (item[0] if isinstance(item, tuple) else item), None


def _known_labels(source: Any) -> npt.NDArray[Any] | None:
    """Labels that a dataset holds beside its items, as those of torchvision do."""
    targets = getattr(source, "targets", None)
    return None if targets is None or len(targets) != len(source) else as_numpy(targets)


def _from_sequence(source: Any, wanted: Wanted) -> Inputs:
    if not len(source):
        raise InputsError("the inputs are empty", rule="at least one item")
    if isinstance(source, (list, tuple)) and all(isinstance(one, str) for one in source):
        return from_texts(source, wanted)
    first = source[0]
    keys = _keys(first, wanted) if isinstance(first, Mapping) else None
    given, _ = _parts(first, keys)
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


def item_kind(given: Any) -> Kind:
    """What one item looks like."""
    if isinstance(given, str):
        return "text"
    return "image" if hasattr(given, "convert") or as_numpy(given).ndim in (2, 3) else "row"


def _keys(item: Mapping[str, Any], wanted: Wanted) -> tuple[str, str | None]:
    asked = wanted.text or (wanted.columns[0] if wanted.columns else None)
    found = named(asked, ITEM_KEYS, item, where="items")
    if found is None:
        raise InputsError("which key of an item is the input?", rule="keys: " + ", ".join(item), hint="columns=[...]")
    return found, label_in(wanted, LABELS, item, where="items")
