"""Which auxiliary variables are computed, and whether everything that they need is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fieldcheck.accuracy import auxiliary as variables
from fieldcheck.accuracy.auxiliary.base import Auxiliary
from fieldcheck.core.errors import DesignError, FieldcheckError
from fieldcheck.core.inputs import Inputs
from fieldcheck.core.types import Task

WAYS = {
    "activations": ("activations", "a model that shows its layers"),
    "mirrored": ("a symmetry of the data", "--symmetry flip, where flips keep the label"),
    "member": ("a second model", "--member MODEL, or --member train"),
    "features": ("numbers for its features", "--features MODEL"),
    "inputs": ("the inputs", "a model and inputs, not predictions only"),
    "probabilities": ("probabilities", "a classifier that gives them"),
    "labels": ("labels of the reference", "--label COLUMN"),
}
"""By part of a trace, what it is called and how to come by it."""


def chosen(names: Sequence[str] | None, task: Task, *, extra: Sequence[str] = ()) -> dict[str, Auxiliary]:
    """The auxiliary variables by name; by default confidence, where there is one. ``extra`` come with other options."""
    asked = list(names) if names is not None else (["confidence"] if task == "classification" else [])
    have = {one.partition(":")[0].strip().lower() for one in asked}
    specs = variables.expand([*asked, *(one for one in extra if one not in have)])
    built = [variables.registry.build(spec) for spec in specs]
    found = {one.name: one for one in built}
    if len(found) < len(built):
        raise DesignError("an auxiliary variable is named twice", rule="one column per variable")
    for one in built:
        _check_task(one, task)
    return found


def _check_task(one: Auxiliary, task: Task) -> None:
    if task not in one.tasks:
        fit = [name for name in variables.registry if task in variables.registry[name].tasks]
        raise DesignError(f"'{one.name}' is not for {task}", rule="there are: " + ", ".join(fit), hint=fit[0])


def needed(found: Mapping[str, Auxiliary], *, reference: bool) -> frozenset[str]:
    """Parts of a trace that somebody looks at: of the pool's, or of the reference's."""
    return frozenset().union(*(one.needs_reference if reference else one.needs for one in found.values()))


def check_there(found: Mapping[str, Auxiliary], *, have: frozenset[str], reference: frozenset[str] | None) -> None:
    """Refuse a variable that lacks something, before any work is done.

    have
        Parts that the pool's traces can have.
    reference
        Parts that the reference's traces can have; None where there is no reference.
    """
    for name, one in found.items():
        _check_parts(name, one.needs - have)
        if one.needs_reference and reference is None:
            raise FieldcheckError(
                f"'{name}' needs a reference: the data that the model was trained on",
                rule="it compares items with those that the model knows",
                hint="--reference TRAIN",
            )
        _check_parts(name, one.needs_reference - (reference or one.needs_reference))


def _check_parts(name: str, lacking: frozenset[str]) -> None:
    for part in sorted(lacking):
        what, way = WAYS.get(part, (part, ""))
        raise FieldcheckError(f"'{name}' needs {what}", rule="a variable is computed from what there is", hint=way)


def has_labels(inputs: Inputs) -> bool:
    """Whether the inputs know the truth; ``labelled`` says so where labels would have to be read item by item."""
    known = getattr(inputs, "labelled", None)
    return inputs.labels is not None if known is None else bool(known)


def said(fitted: Mapping[str, Any]) -> tuple[str, ...]:
    """The notes of fitted variables, each with its name."""
    return tuple(
        note if note.startswith(name) else f"{name}: {note}" for name, one in fitted.items() for note in one.notes
    )
