"""Parts of a trace, checked, in the form that auxiliary variables use."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.accuracy.auxiliary.base import Trace
from fieldcheck.core.errors import DesignError, InputsError, ModelError
from fieldcheck.core.types import FloatArray, IntArray

SingleArray = npt.NDArray[np.float32]


def needed(trace: Trace, part: str, *, by: str) -> Any:
    """A part of the trace; an error when it is not there."""
    value = getattr(trace, part)
    if value is None:
        raise DesignError(
            f"{by} needs {part}, and there are none",
            rule=f"{by} is computed from {part}",
            hint="another auxiliary variable, or a model and inputs that have them",
        )
    return value


def reference_of(reference: Trace | None, *, by: str) -> Trace:
    """The reference; an error when there is none."""
    if reference is None or not len(reference):
        raise DesignError(
            f"{by} needs a reference, and there is none",
            rule=f"{by} compares each item with data that the model knows, such as its training data",
            hint="--reference TRAIN",
        )
    return reference


def codes(trace: Trace, *, by: str) -> IntArray:
    """Predicted classes, one per item."""
    if trace.task != "classification":
        raise DesignError(
            f"{by} is for classification", rule="it looks at predicted classes", hint="lsa, knn, sae, vae"
        )
    return np.asarray(trace.predictions).astype(np.int64)


def probabilities(trace: Trace, part: str = "probabilities", *, by: str) -> FloatArray:
    """One row per item, one column per class, within [0, 1]."""
    matrix = np.asarray(needed(trace, part, by=by), dtype=np.float64)
    bad = ~np.isfinite(matrix)
    if matrix.ndim != 2 or bad.any():
        raise ModelError(
            f"{by}: {part} of shape {matrix.shape}, {np.count_nonzero(bad):,} of them not finite",
            rule="one row of finite probabilities per item",
        )
    return np.clip(matrix, 0.0, 1.0)


def of_prediction(trace: Trace, part: str = "probabilities", *, by: str) -> FloatArray:
    """The probability that is given to the predicted class, one per item; 0 where it has no column."""
    matrix, said = probabilities(trace, part, by=by), codes(trace, by=by)
    known = (said >= 0) & (said < matrix.shape[1])
    chosen = matrix[np.arange(len(said)), np.where(known, said, 0)]
    return np.where(known, chosen, 0.0)


def activations(trace: Trace, *, by: str, columns: int | None = None) -> SingleArray:
    """One row per item, one column per neuron; as many as the reference has, where that is known."""
    return _matrix(needed(trace, "activations", by=by), what="activations", by=by, columns=columns)


def features(trace: Trace, *, by: str, columns: int | None = None) -> SingleArray:
    """One row per item: of an extractor, or the inputs themselves where there is none."""
    given = trace.features if trace.features is not None else needed(trace, "inputs", by=by)
    return _matrix(numbers(given, by=by), what="features", by=by, columns=columns)


def numbers(inputs: Any, *, by: str) -> npt.NDArray[Any]:
    """Inputs that are arrays; an error for texts."""
    array = np.asarray(inputs)
    if array.dtype.kind not in "iufb":
        raise InputsError(
            f"{by}: inputs of type {array.dtype}",
            rule=f"{by} needs numbers: images or rows",
            hint="an auxiliary variable of activations, such as dsa or knn; or features of an extractor",
        )
    return array


def _matrix(values: Any, *, what: str, by: str, columns: int | None) -> SingleArray:
    rows = np.ascontiguousarray(values, dtype=np.float32)
    rows = rows.reshape(len(rows), math.prod(rows.shape[1:]))
    if not rows.shape[1] or rows.shape[1] != (columns or rows.shape[1]):
        raise ModelError(
            f"{by}: {rows.shape[1]:,} {what} per item, the reference has {columns or 'some'}",
            rule="the pool and the reference go through the same layer, prepared alike",
        )
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        raise ModelError(
            f"{by}: {what} of {np.count_nonzero(~finite):,} of {len(rows):,} items are not finite, "
            f"first in row {int(np.argmin(finite)) + 1:,}",
            rule=f"{what} are finite numbers in single precision",
            hint="look at what the model does with these items, or leave them out and report the smaller pool",
        )
    return rows
