"""What variables that look at the spread of traces share: their parameters, and what they say was left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fieldcheck.accuracy.auxiliary.base import Trace
from fieldcheck.accuracy.auxiliary.traces.by_class import listed, missing_classes, orphans_note
from fieldcheck.core.errors import DesignError
from fieldcheck.core.types import FloatArray
from fieldcheck.numerics.distance import density


def check_scope(name: str, scope: str, *, flat: float) -> None:
    """Refuse parameters that make no sense."""
    if scope not in ("class", "global"):
        raise DesignError(f"{name}: scope '{scope}'", rule="class or global", hint=f"{name}:scope=global")
    if not flat > 0:
        raise DesignError(f"{name}: flat is {flat:g}", rule="a variance above 0", hint=f"{name}:flat=1e-5")


def shape_notes(
    name: str, shapes: Mapping[int, density.Ellipsoid], reference: Trace, *, whole: bool
) -> tuple[str, ...]:
    """Neurons that were left out, and classes that have no shape."""
    empty = [code for code, shape in shapes.items() if not shape.dimension]
    notes = _flat(name, shapes, whole=whole) + _determined(name, shapes, whole=whole)
    if len(empty) == len(shapes):
        return (*notes, f"{name}: the activations of the reference are constant: every item gets 0")
    notes += orphans_note(name, empty, why="one item, or constant activations, in")
    return notes if whole else notes + orphans_note(name, missing_classes(reference), why="the reference lacks")


def _flat(name: str, shapes: Mapping[int, density.Ellipsoid], *, whole: bool) -> tuple[str, ...]:
    counts = [shape.flat for shape in shapes.values()]
    if not any(counts):
        return ()
    low, high, neurons = min(counts), max(counts), next(iter(shapes.values())).columns
    many = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return (f"{name}: {many} of {neurons:,} neurons hardly vary and were dropped" + ("" if whole else ", by class"),)


def _determined(name: str, shapes: Mapping[int, density.Ellipsoid], *, whole: bool) -> tuple[str, ...]:
    found = {code: shape.determined for code, shape in shapes.items() if shape.determined}
    if not found:
        return ()
    where = "" if whole else f" in {listed(found)}"
    many = f"up to {max(found.values()):,}" if len(found) > 1 else f"{max(found.values()):,}"
    return (
        f"{name}: singular covariance{where}: {many} neurons that the others determine on the reference were dropped",
    )


@dataclass(frozen=True)
class ShiftedToZero:
    """The part of a fitted variable that moves the values of the pool so that the smallest is 0."""

    notes: tuple[str, ...] = ()

    def finish(self, values: FloatArray) -> FloatArray:
        return np.asarray(values - values.min()) if len(values) else values
