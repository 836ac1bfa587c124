"""Columns that repeat what a model said, whatever they are called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core.pool.column import Column, is_numeric, is_text, value_at
from fieldcheck.core.pool.pool import Pool

LOOKED_AT = 256
"""Items from which it is told whether two columns of words say the same."""

RUNS, RUN = 16, 1 << 12
"""Of a pool with more items than these together, so many runs of so many, evenly over it, tell what numbers say: a few
shards have to be read for them."""

COPIED = 0.999
"""Share of the values that a column has in common with what a model made, from which on it is a copy of it."""


def copies(pools: Sequence[Pool]) -> frozenset[str]:
    """Columns of the first pool, in small letters, that repeat a prediction, a confidence or a probability.

    Whatever such a column is called, it would bias whoever labels. Classes that few items are not of are not told
    apart from a column that says the same of nearly all items: both are hidden.
    """
    made = [values for pool in pools for values in _made(_some(pool))]
    columns = _some(pools[0]).columns.items()
    return frozenset(
        name.strip().lower() for name, column in columns if any(_repeats(column, values) for values in made)
    )


def _some(pool: Pool) -> Pool:
    """All items, or as many as tell."""
    if len(pool) <= RUNS * RUN and pool.held:
        return pool
    first = np.linspace(0, max(len(pool) - RUN, 0), RUNS).astype(np.int64)
    at = np.unique(np.add.outer(first, np.arange(RUN)))
    names = [name.strip().lower() for name in pool.columns]
    return pool.memo("some", lambda: pool.fetched(at[at < len(pool)], needs=("prediction", "confidence", *names)))


def _made(pool: Pool) -> list[npt.NDArray[Any]]:
    said = pool.predictions
    if said is not None and pool.task == "classification":
        said = np.array(pool.classes, dtype=object)[said]
    chances = [] if pool.probabilities is None else list(np.asarray(pool.probabilities).T)
    return [values for values in (said, pool.confidence, *chances) if values is not None]


def _repeats(column: Column, values: npt.NDArray[Any]) -> bool:
    """Whether a column says the same, up to a change of unit (percent), or of sign (one minus it)."""
    if values.dtype.kind == "O" or is_text(column):
        words = np.array([str(value_at(column, at)) for at in range(min(len(values), LOOKED_AT))], dtype=object)
        return values.dtype.kind == "O" and bool(np.mean(words == values[: len(words)]) >= COPIED)
    if not is_numeric(column):
        return False
    mine, theirs = np.asarray(column, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if not np.isfinite(mine).all() or mine.std() == 0 or theirs.std() == 0:
        return False
    return bool(abs(np.corrcoef(mine, theirs)[0, 1]) >= COPIED)
