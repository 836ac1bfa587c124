"""A pool as one table, with the names that are recognised when it is read again."""

from __future__ import annotations

from typing import Any

import numpy as np

from fieldcheck.core.pool.pool import Pool


def as_table(pool: Pool) -> Any:
    """An Arrow table: id, prediction, confidence, target or outcome, proba_<class>, then the others."""
    import pyarrow as pa

    columns: dict[str, Any] = {"id": pool.ids}
    if pool.predictions is not None:
        columns["prediction"] = _labels(pool, pool.predictions)
    if pool.confidence is not None:
        columns["confidence"] = pool.confidence
    if pool.target is not None:
        columns["target"] = _labels(pool, pool.target)
    elif pool.failed is not None:
        columns["outcome"] = pa.array(np.where(pool.failed, "Fail", "Pass"))
    columns.update(_probabilities(pool))
    columns.update({name: column for name, column in pool.columns.items() if name not in columns})
    return pa.table(columns)


def _labels(pool: Pool, values: Any) -> Any:
    """Classes by name; as whole numbers where all of them are."""
    import pyarrow as pa

    if pool.task == "regression":
        return values
    names: Any = pa.array(pool.classes)
    if all(name.lstrip("-").isdecimal() and str(int(name)) == name for name in pool.classes):
        names = pa.array([int(name) for name in pool.classes])
    return names.take(pa.array(values))


def _probabilities(pool: Pool) -> dict[str, Any]:
    if pool.probabilities is None:
        return {}
    return {
        f"proba_{name}": np.ascontiguousarray(column)
        for name, column in zip(pool.classes, pool.probabilities.T, strict=False)
    }
