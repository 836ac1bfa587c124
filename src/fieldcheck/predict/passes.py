"""The two passes: over the reference, whose trace is kept, and over the pool, of which little is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core.inputs import Inputs
from fieldcheck.core.trace import FittedAuxiliary, Trace
from fieldcheck.core.types import FloatArray
from fieldcheck.predict.ahead import ahead
from fieldcheck.predict.files import Matrix
from fieldcheck.predict.runner import Runner

Array = npt.NDArray[Any]
Done = Callable[[int], None]
"""Takes how many more items are done."""

SINGLE = np.float32


class Column:
    """Rows that are put together from batches, in memory that is asked for once; texts are a list."""

    def __init__(self, size: int, dtype: npt.DTypeLike | None = None) -> None:
        self._size, self._dtype = size, dtype
        self.rows: Any = None

    def fill(self, start: int, values: Any) -> None:
        """Put a batch into its place; batches come in order."""
        if isinstance(values, list):
            self.rows = [] if self.rows is None else self.rows
            self.rows.extend(values)
            return
        if self.rows is None:
            self.rows = np.empty((self._size, *values.shape[1:]), self._dtype or values.dtype)
        self.rows[start : start + len(values)] = values


def reference_trace(runner: Runner, reference: Inputs, *, batch: int, done: Done, labels: Array | None) -> Trace:
    """The trace of the whole reference, with the parts that the runner is asked for."""
    columns: dict[str, Column] = {}
    task = runner.model.task
    for start, ready in ahead(lambda a, b: runner.ready(reference.batch(a, b)), len(reference), batch=batch):
        trace = runner.trace(ready)
        for part in trace.has() & (runner.parts | {"predictions"}):
            columns.setdefault(part, Column(len(reference))).fill(start, getattr(trace, part))
        done(len(trace))
    return Trace(task=task, labels=labels, **{part: column.rows for part, column in columns.items()})


@dataclass(frozen=True, eq=False)
class Kept:
    """What stays of the pool.

    outputs
        Probabilities (float32, one column per class), or values.
    predictions
        Codes of the most likely classes, or values.
    confidence
        Of the predicted class; None in regression.
    values
        By auxiliary variable, one per item, finished.
    """

    outputs: Array | None
    predictions: Array
    confidence: FloatArray | None
    values: Mapping[str, FloatArray]


def pool_pass(
    runner: Runner,
    inputs: Inputs,
    fitted: Mapping[str, FittedAuxiliary],
    *,
    batch: int,
    done: Done,
    matrix: Matrix | None = None,
    keep_outputs: bool = True,
) -> Kept:
    """Every item once. The memory that grows with the pool is what ``Kept`` holds."""
    size = len(inputs)
    outputs, predictions, confidence = Column(size, SINGLE), Column(size), Column(size)
    values = {name: Column(size) for name in fitted}
    for start, ready in ahead(lambda a, b: runner.ready(inputs.batch(a, b)), size, batch=batch):
        trace = runner.trace(ready)
        predictions.fill(start, trace.predictions)
        if trace.probabilities is not None:
            confidence.fill(start, np.asarray(trace.probabilities.max(axis=1), dtype=np.float64))
            if keep_outputs:
                outputs.fill(start, trace.probabilities)
        if matrix is not None and trace.activations is not None:
            matrix.fill(start, trace.activations)
        for name, one in fitted.items():
            values[name].fill(start, one.values(trace))
        done(len(trace))
    finished = {name: fitted[name].finish(column.rows) for name, column in values.items()}
    return Kept(outputs.rows, predictions.rows, confidence.rows, finished)
