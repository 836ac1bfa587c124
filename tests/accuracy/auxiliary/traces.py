"""Small traces for the tests of auxiliary variables."""

from __future__ import annotations

import numpy as np

from fieldcheck.accuracy.auxiliary.base import Trace


def activations_only(activations, said=None):
    """A trace with nothing but activations; without predicted classes it is one of a regression."""
    rows = np.asarray(activations, dtype=np.float32)
    if said is None:
        return Trace(task="regression", predictions=np.zeros(len(rows)), activations=rows)
    return Trace(task="classification", predictions=np.asarray(said, dtype=np.int64), activations=rows)
