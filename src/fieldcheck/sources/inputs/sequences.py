"""Items that come one by one: sequences and data sets, asked for some positions at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core.errors import InputsError
from fieldcheck.core.inputs import Kind
from fieldcheck.sources.inputs.images import Form
from fieldcheck.sources.inputs.options import LABELS, TEXTS, Wanted, label_in, named

ITEM_KEYS = ("image", "img", "pixel_values", "x", "input", "inputs", "features", *TEXTS)
"""Keys of the input in items that are dictionaries, in order of preference."""


def as_numpy(value: Any) -> npt.NDArray[Any]:
    """An array, a tensor of torch, or numbers as an array."""
    return np.asarray(value.detach().cpu().numpy() if hasattr(value, "detach") else value)


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
        return _known_labels(self.source) is not None or parts_of(self.source[0], self.keys)[1] is not None

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
        given, label = parts_of(self.source[at], self.keys)
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


def parts_of(item: Any, keys: tuple[str, str | None] | None) -> tuple[Any, Any]:
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


def item_kind(given: Any) -> Kind:
    """What one item looks like."""
    if isinstance(given, str):
        return "text"
    return "image" if hasattr(given, "convert") or as_numpy(given).ndim in (2, 3) else "row"


def keys_of(item: Mapping[str, Any], wanted: Wanted) -> tuple[str, str | None]:
    asked = wanted.one_text() or (wanted.columns[0] if wanted.columns else None)
    found = named(asked, ITEM_KEYS, item, where="items")
    if found is None:
        raise InputsError("which key of an item is the input?", rule="keys: " + ", ".join(item), hint="columns=[...]")
    return found, label_in(wanted, LABELS, item, where="items")
