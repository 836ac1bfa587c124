"""Counts as weighted rows, for classifiers."""

from __future__ import annotations

import numpy as np

from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.surrogates.counts import Counts


def weighted_rows(counts: Counts) -> tuple[IntArray, FloatArray, FloatArray]:
    """Severities, outcome (1.0 held, 0.0 not) and number of times: at most two rows per test."""
    severities = counts.space.severities(counts.tests)
    weights = np.concatenate([counts.held, counts.inputs - counts.held])
    outcomes = np.repeat([1.0, 0.0], len(counts.tests))
    there = weights > 0
    return np.concatenate([severities, severities])[there], outcomes[there], weights[there]
