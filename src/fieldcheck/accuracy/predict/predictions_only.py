"""Predictions only: no model at all, just a table of what it said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fieldcheck.accuracy.auxiliary.base import Trace
from fieldcheck.accuracy.predict.needs import check_there, chosen, said
from fieldcheck.core.pool.pool import Pool


def from_predictions(pool: Pool, auxiliary: Sequence[str] = (), *, seed: int = 0) -> Pool:
    """The pool with auxiliary variables that need nothing but predictions and probabilities."""
    asked = [name for name in auxiliary if name.lower() != "confidence" or pool.confidence is None]
    found = chosen(asked, pool.task)
    predictions = np.zeros(len(pool), dtype=np.int64) if pool.predictions is None else pool.predictions
    trace = Trace(task=pool.task, predictions=predictions, probabilities=pool.probabilities)
    check_there(found, have=trace.has(), reference=None)
    fitted = {name: one.fit(None, seed=seed) for name, one in found.items()}
    columns = {name: one.finish(one.values(trace)) for name, one in fitted.items() if name not in pool.columns}
    return replace(pool, columns={**pool.columns, **columns}, notes=(*pool.notes, *said(fitted)))
