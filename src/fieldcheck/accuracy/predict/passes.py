"""The two passes: over the reference, whose trace is kept, and over the pool, of which little is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.accuracy.auxiliary.base import Trace
from fieldcheck.accuracy.predict.activations import FilledRows
from fieldcheck.accuracy.predict.batch import Runner
from fieldcheck.accuracy.predict.blocks import Column, FittedVariable, Gathered
from fieldcheck.accuracy.predict.read_ahead import ahead
from fieldcheck.core.inputs import Inputs
from fieldcheck.core.types import FloatArray

Array = npt.NDArray[Any]


Done = Callable[[int], None]
"""Takes how many more items are done."""


SINGLE = np.float32


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
class KeptOutputs:
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
    asked: Mapping[str, FittedVariable],
    *,
    batch: int,
    done: Done,
    matrix: FilledRows | None = None,
    keep_outputs: bool = True,
    finish: bool = True,
) -> KeptOutputs:
    """Every item once. The memory that grows with the pool is what ``Kept`` holds; a block of each variable waits.

    finish
        Whether these are all items: variables are finished by looking at the whole.
    """
    size = len(inputs)
    outputs, predictions, confidence = Column(size, SINGLE), Column(size), Column(size)
    values = {name: Gathered(one, runner.model.task, Column(size)) for name, one in asked.items()}
    for start, ready in ahead(lambda a, b: runner.ready(inputs.batch(a, b)), size, batch=batch):
        trace = runner.trace(ready)
        predictions.fill(start, trace.predictions)
        if trace.probabilities is not None:
            confidence.fill(start, np.asarray(trace.probabilities.max(axis=1), dtype=np.float64))
            if keep_outputs:
                outputs.fill(start, trace.probabilities)
        if matrix is not None and trace.activations is not None:
            matrix.fill(start, trace.activations)
        for one in values.values():
            one.add(trace)
        done(len(trace))
    finished = {name: one.finish() if finish else one.complete() for name, one in values.items()}
    return KeptOutputs(outputs.rows, predictions.rows, confidence.rows, finished)
