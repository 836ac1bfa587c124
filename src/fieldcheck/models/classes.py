"""Classes by name and by code: the columns of the model, the labels of the inputs."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core import words
from fieldcheck.core.errors import InputsError
from fieldcheck.core.inputs import Inputs
from fieldcheck.core.types import IntArray
from fieldcheck.models.base import Model

Labels = npt.NDArray[Any]


def class_names(
    model: Model, sources: Sequence[Inputs], *, given: Sequence[str] | None, width: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the model's outputs, and what to say: given ones, the model's, those of the inputs, else 0, 1, ..."""
    if given is not None:
        if len(given) != width:
            raise InputsError(f"{len(given)} class names for {width} outputs", rule="one name per output, in order")
        return tuple(given), ()
    if model.classes:
        return model.classes, ()
    for source in sources:
        names = tuple(getattr(source, "classes", ()))
        if names and len(names) == width:
            shown = words.some(names, 6)
            return names, (f"the model's outputs were taken for the classes of {source.name}, in order: {shown}",)
    return tuple(str(code) for code in range(width)), ()


KEYS = ("names", "classes", "class_names", "labels", "id2label")
"""Where the metadata of a model names its classes."""


def names_in(metadata: Mapping[str, str]) -> tuple[str, ...]:
    """The classes that a model's own metadata names, in the order of its outputs; none where it names none."""
    return next((names for key in KEYS if (names := read_names(metadata.get(key, "")))), ())


def read_names(text: str) -> tuple[str, ...]:
    """Class names from a text: one a line, a list, or a mapping from numbers to names, as JSON or Python write it."""
    plain = text.strip()
    if not plain.startswith(("[", "{", "(")):
        parts = plain.splitlines() if "\n" in plain else plain.split(",")
        return tuple(part.strip() for part in parts if part.strip())
    try:
        found = ast.literal_eval(plain)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ()
    found = next((found[key] for key in KEYS if key in found), found) if isinstance(found, dict) else found
    if isinstance(found, dict):
        ordered = sorted(found.items(), key=lambda pair: int(pair[0]) if str(pair[0]).isdecimal() else -1)
        return tuple(str(name) for _, name in ordered)
    return tuple(str(name) for name in found) if isinstance(found, list | tuple) else ()


def as_names(labels: Labels, classes: Sequence[str]) -> list[str]:
    """Labels in the words of the classes: whole numbers that are no names count as positions in ``classes``."""
    said = [_word(label) for label in labels.tolist()]
    unknown = set(said) - set(classes)
    codes = {str(code): name for code, name in enumerate(classes)}
    return [codes[word] for word in said] if unknown and set(said) <= set(codes) else said


def _word(label: Any) -> str:
    """A class as text; 3.0 is the class 3, True the class 1."""
    whole = isinstance(label, bool) or (isinstance(label, float) and label.is_integer())
    return str(int(label)) if whole else str(label)


def truth_names(labels: Labels, classes: Sequence[str], *, where: str) -> tuple[list[str], tuple[str, ...]]:
    """The truth in the words of the classes, and what to say about classes that the model does not know."""
    names = as_names(labels, classes)
    strange = sorted(set(names) - set(classes))
    if strange and not set(names) & set(classes):
        raise _not_a_class(strange[0], classes, where=where)
    return names, tuple(f"the label '{name}' is not a class of the model: it is always wrong there" for name in strange)


def _not_a_class(name: str, classes: Sequence[str], *, where: str) -> InputsError:
    return InputsError(
        f"{where}: the label '{name}' is not a class of the model",
        rule="classes: " + words.some(classes, 12),
        hint="--classes with one name per output of the model, in order; or another --label",
    )


def as_codes(labels: Labels, classes: Sequence[str], *, where: str) -> IntArray:
    """Labels as positions in the classes; the reference must have no other."""
    position = {name: code for code, name in enumerate(classes)}
    names = as_names(labels, classes)
    strange = sorted(set(names) - set(position))
    if strange:
        raise _not_a_class(strange[0], classes, where=where)
    return np.array([position[name] for name in names], dtype=np.int64)
