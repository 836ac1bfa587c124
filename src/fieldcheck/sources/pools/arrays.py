"""Pools from arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fieldcheck.core.pool.column import as_column
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.types import Task
from fieldcheck.sources.pools.assembly import from_roles
from fieldcheck.sources.roles import Roles


def from_arrays(  # noqa: PLR0913 -- scikit-learn's names, all optional
    *,
    y_pred: Any = None,
    y_true: Any = None,
    y_proba: Any = None,
    confidence: Any = None,
    outcome: Any = None,
    ids: Any = None,
    classes: Sequence[str] | None = None,
    auxiliary: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
    task: Task | None = None,
    name: str = "pool",
) -> Pool:
    """A pool from lists, numpy arrays, pandas series or Arrow arrays, one value per item.

    y_proba
        One row per item, one column per class of ``classes`` (else 0, 1, ..., or the classes in order).
        Without ``y_pred``, the most likely class is the prediction.
    outcome
        Right or wrong (Pass/Fail, True/False, 1/0), where the true class is not known.
    ids
        Items are numbered from 0 where there are none.
    """
    given = {
        "ids": ids,
        "prediction": y_pred,
        "confidence": confidence,
        "target": y_true,
        "outcome": outcome,
    }
    found = {role: as_column(values, role) for role, values in given.items() if values is not None}
    others = {**(auxiliary or {}), **(metadata or {})}
    return from_roles(
        Roles(
            **found,
            probabilities=y_proba,
            classes=classes,
            others={key: as_column(values, key) for key, values in others.items()},
        ),
        name=name,
        task=task,
    )
