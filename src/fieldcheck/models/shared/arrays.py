"""Whatever models take and give back, as arrays with one row per item. No framework is imported here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core import words
from fieldcheck.core.errors import ModelError

Array = npt.NDArray[Any]

Run = tuple[Array, Mapping[str, Array]]
"""The outputs as the model gave them, and the activations of the layers that were asked for, by name."""

SPOKEN = ("logits", "probabilities", "probs", "scores", "outputs", "output", "predictions", "values")
"""Keys under which models that answer with a dictionary keep their answer; the first that is there counts."""


def as_array(value: Any) -> Array:
    """An array of a tensor of any framework; half precision becomes float32, which holds it exactly."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        if str(value.dtype) == "torch.bfloat16":
            value = value.float()
        value = value.numpy()
    array = np.asarray(value)
    return array.astype(np.float32) if array.dtype == np.float16 else array


def answer(output: Any) -> tuple[Any, str]:
    """The part of a model's output that is its answer, and what was left out, in words (empty: nothing)."""
    if isinstance(output, Mapping):
        return _of_mapping(output)
    if isinstance(output, tuple) and output and not np.isscalar(output[0]):
        left = len(output) - 1
        return output[0], f"it gives back {left + 1} things: the first is taken" if left else ""
    return output, ""


def _of_mapping(output: Mapping[str, Any]) -> tuple[Any, str]:
    keys = list(output)
    key = keys[0] if len(keys) == 1 else next((one for one in SPOKEN if one in output), None)
    if key is None:
        raise ModelError(
            "the model gives back a dictionary with the keys " + ", ".join(map(str, keys)),
            rule="one key, or one of " + ", ".join(SPOKEN),
            hint="wrap the model in a function that gives back one array",
        )
    return output[key], f"it gives back {', '.join(map(str, keys))}: '{key}' is taken" if len(keys) > 1 else ""


def matrix(raw: Array, items: int) -> Array:
    """The outputs as items x columns; axes of length 1 behind the first are left out."""
    if raw.ndim == 0 or len(raw) != items:
        raise ModelError(
            f"the model gives back an array of shape {raw.shape} for {items} items",
            rule="one row per item, in the order of the batch",
        )
    wide = [length for length in raw.shape[1:] if length != 1]
    if len(wide) > 1:
        raise ModelError(
            f"the model gives back an array of shape {raw.shape}: {len(wide)} axes per item",
            rule="one answer per item: a row of classes, or a value",
            hint="wrap the model in a function that gives back items x classes",
        )
    return raw.reshape(items, -1)


def one_by_one(given: Any, items: int) -> Array:
    """What a model gave back for a batch, untouched, as an array of objects with one entry per item.

    Several outputs, in a dictionary or a tuple of arrays, become a dictionary or a tuple per item.
    """
    if isinstance(given, Mapping):
        columns = {name: one_by_one(part, items) for name, part in given.items()}
        return _objects([{name: column[at] for name, column in columns.items()} for at in range(items)])
    if isinstance(given, tuple) and all(hasattr(part, "shape") and len(part) == items for part in given):
        return _objects(list(zip(*map(as_array, given), strict=True)))
    entries = list(given) if isinstance(given, (list, tuple)) else list(np.atleast_1d(as_array(given)))
    if len(entries) != items:
        shape = getattr(given, "shape", f"a list of {len(entries)}")
        raise ModelError(
            f"the model gives back {shape} for {items} items", rule="one entry per item, in the order of the batch"
        )
    return _objects(entries)


def _objects(entries: list[Any]) -> Array:
    found = np.empty(len(entries), dtype=object)
    for at, entry in enumerate(entries):
        found[at] = as_array(entry) if hasattr(entry, "detach") else entry
    return found


def flat(activations: Array, *, items: int, layer: str) -> Array:
    """Activations as float32, items x neurons."""
    if activations.ndim == 0 or len(activations) != items:
        raise ModelError(
            f"layer '{layer}' has the shape {activations.shape} for {items} items",
            rule="a layer has one row per item",
            hint="choose another layer",
        )
    return np.ascontiguousarray(activations.reshape(items, -1), dtype=np.float32)


def numbers(batch: Any, dtype: npt.DTypeLike) -> Array:
    """The batch with the type that the model computes in; the same memory where it has it already."""
    array = np.asarray(batch)
    if array.dtype.kind not in "fiub":
        what = "texts" if array.dtype.kind in "UOST" else str(array.dtype)
        raise ModelError(
            f"the items are {what}, and the model computes with numbers",
            rule="an array of numbers with one row per item",
            hint="a folder of transformers reads texts; or wrap model and tokenizer in a function",
        )
    return np.ascontiguousarray(array, dtype=dtype)


def cast_note(batch: Any, dtype: npt.DTypeLike) -> tuple[str, ...]:
    """What happens to the type of the items, where something does."""
    given, wanted = np.asarray(batch).dtype, np.dtype(dtype)
    if given == wanted:
        return ()
    return (f"inputs are {given} and are cast to {wanted} as they are, not scaled",)


def describe(batch: Any) -> str:
    """Shape and type of a batch, in words."""
    if isinstance(batch, list):
        return f"{len(batch)} texts" if batch and isinstance(batch[0], str) else f"a list of {len(batch)}"
    shape, dtype = getattr(batch, "shape", None), getattr(batch, "dtype", "")
    return f"shape {tuple(shape)} {dtype}".rstrip() if shape is not None else type(batch).__name__


def in_portions(run: Callable[[Array], list[Array]], batch: Array, size: int) -> list[Array]:
    """Run a batch through something that takes exactly ``size`` items; the last portion is filled up with copies."""
    portions: list[list[Array]] = []
    for start in range(0, len(batch), size):
        part = batch[start : start + size]
        filled = np.concatenate([part, np.repeat(part[-1:], size - len(part), axis=0)]) if len(part) < size else part
        portions.append([whole[: len(part)] for whole in run(filled)])
    return [np.concatenate(pieces) for pieces in zip(*portions, strict=True)]


def one_hot(predictions: Any, classes: Sequence[str]) -> Array:
    """Probabilities 0 and 1 for those who give no more than a class; one row per item."""
    codes = {name: code for code, name in enumerate(classes)}
    said = [str(one) for one in np.asarray(predictions).ravel()]
    unknown = next((one for one in said if one not in codes), None)
    if unknown is not None:
        raise ModelError(
            f"'{unknown}' at position {said.index(unknown)} of the batch is not one of the {len(classes)} classes",
            rule="classes: " + words.some(classes, 10),
        )
    return np.eye(len(classes))[[codes[one] for one in said]]
