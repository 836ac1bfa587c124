"""From columns whose parts are known to a pool: one task, common classes, confidence, truth."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core.pool.column import Column, check_lengths, numbers, value_at
from fieldcheck.core.pool.ids import as_ids
from fieldcheck.core.pool.origin import Origin
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.types import FloatArray, Task
from fieldcheck.sources import classes as labels
from fieldcheck.sources.confidence import read_confidence
from fieldcheck.sources.roles import RECOGNISED, Roles

NUMBERED = "no id column: items are numbered from 0"


def from_roles(
    given: Roles,
    *,
    name: str,
    task: Task | None = None,
    origin: Origin | None = None,
    notes: tuple[str, ...] = (),
) -> Pool:
    """A pool from columns whose parts are known."""
    where = origin or Origin()
    parts, more, scale = assemble(given, task=task, origin=where)
    return Pool(name=name, columns=given.others, notes=notes + more, origin=replace(where, scale=scale), **parts)


def assemble(given: Roles, *, task: Task | None, origin: Origin) -> tuple[dict[str, Any], tuple[str, ...], str]:
    """The parts of a pool by field, what to tell the user about them, and what the confidence was."""
    size = _size(given, origin)
    ids = np.arange(size, dtype=np.int64) if given.ids is None else as_ids(given.ids, origin)
    named = replace(origin, item_of=lambda position: str(value_at(ids, position)))
    matrix = None if given.probabilities is None else _matrix(given.probabilities, origin)
    task = task or labels.detect_task(given.prediction, given.target)
    parts = _numbers(given, named) if task == "regression" else _classes(given, matrix, origin=named)
    confidence, notes, scale = _confidence(given, matrix, parts, origin=named)
    if given.ids is None:
        notes = (NUMBERED, *notes)
    if given.outcome is not None and task == "regression":
        notes += (f"'{origin.column('outcome')}' is not used: the truth of a regression is a number",)
    return {"ids": ids, "task": task, "confidence": confidence, "probabilities": matrix, **parts}, notes, scale


def _size(given: Roles, origin: Origin) -> int:
    columns = {
        "id": given.ids,
        "prediction": given.prediction,
        "confidence": given.confidence,
        "target": given.target,
        "outcome": given.outcome,
        "probabilities": given.probabilities,
    }
    if all(columns[role] is None for role in ("prediction", "outcome", "probabilities")):
        raise origin.error(
            "no column of predictions",
            rule="a pool has predictions, or outcomes; recognised: " + ", ".join(RECOGNISED["prediction"]),
            hint="--column prediction=NAME with one of: " + (", ".join(given.others) or "(there is no other column)"),
        )
    return check_lengths({**columns, **given.others}, origin)


def _matrix(values: Any, origin: Origin) -> npt.NDArray[Any]:
    matrix = np.asarray(values)
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        raise origin.error(
            f"'{origin.column('probabilities')}' has shape {matrix.shape} and type {matrix.dtype}",
            rule="probabilities are numbers, one row per item, one column per class",
        )
    return matrix if matrix.dtype in (np.float32, np.float64) else matrix.astype(np.float64)


def _numbers(given: Roles, origin: Origin) -> dict[str, Any]:
    if given.prediction is None:
        raise origin.error("no column of predictions", rule="regression needs a number for every item")
    target = None if given.target is None else numbers(given.target, "target", origin=origin)
    return {"predictions": numbers(given.prediction, "prediction", origin=origin), "target": target}


def _classes(given: Roles, matrix: npt.NDArray[Any] | None, *, origin: Origin) -> dict[str, Any]:
    known = _known(given, matrix)
    if given.target is not None:
        labels.refuse_missing(given.target, "target", origin=origin)
    predictions, target, names = labels.encode(given.prediction, given.target, known=known, origin=origin)
    if predictions is None and matrix is not None:
        predictions = np.nan_to_num(matrix, nan=-1.0).argmax(axis=1).astype(np.int32)
    failed = None if predictions is None or target is None else predictions != target
    return {
        "predictions": predictions,
        "target": target,
        "classes": names,
        "failed": _failed(given, failed, origin=origin),
    }


def _known(given: Roles, matrix: npt.NDArray[Any] | None) -> list[str]:
    if matrix is None:
        return []
    return labels.class_names(given.classes, matrix.shape[1], prediction=given.prediction, target=given.target)


def _failed(given: Roles, failed: Any, *, origin: Origin) -> Any:
    """What the outcomes say; they must agree with the truth where both are there."""
    if given.outcome is None:
        return failed
    labels.refuse_missing(given.outcome, "outcome", origin=origin)
    if not labels.is_outcome(given.outcome, named=True):
        first = value_at(given.outcome, 0)
        raise origin.error(
            f"column '{origin.column('outcome')}' is not an outcome: '{first}' ({origin.place(0)})",
            rule="outcomes are Pass/Fail, right/wrong, correct/incorrect, true/false, yes/no or 1/0",
        )
    said = labels.failures(given.outcome)
    if failed is not None:
        _check_agreement(said, failed, outcome=given.outcome, origin=origin)
    return said


def _check_agreement(said: Any, failed: Any, *, outcome: Column, origin: Origin) -> None:
    origin.refuse(
        "outcome",
        said != failed,
        problem=f"contradicts '{origin.column('target')}'",
        value=lambda position: value_at(outcome, position),
        rule="an outcome says whether the prediction is the target",
        hint="--truth with the one to believe",
    )


def _confidence(
    given: Roles, matrix: npt.NDArray[Any] | None, parts: dict[str, Any], *, origin: Origin
) -> tuple[FloatArray | None, tuple[str, ...], str]:
    if given.confidence is None:
        return (None if matrix is None else matrix.max(axis=1).astype(np.float64)), (), ""
    values = numbers(given.confidence, "confidence", origin=origin)
    codes, classes = parts["predictions"] if "classes" in parts else None, parts.get("classes", ())
    found = read_confidence(
        values,
        given.scale,
        codes=codes,
        classes=classes,
        name=origin.column("confidence"),
        origin=origin,
        named=given.named,
    )
    return found.values, ((found.note,) if found.note else ()), found.scale
