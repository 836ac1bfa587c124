"""Auxiliary variables that follow from what a pool already holds: larger where a failure is more likely."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core.types import FloatArray

PUBLISHED_COMBINED = "conf*(1-norm_dsa)"
"""Column of the subjects published with DeepEST (ICSE'21): the combined probability of being *right*."""


def combined(confidence: FloatArray, dsa: FloatArray) -> FloatArray:
    """``1 - P_c (1 - DSA / max DSA)`` (Guerriero et al., DeepEST, ICSE'21)."""
    largest = float(dsa.max())
    return 1 - confidence * (1 - dsa / largest) if largest > 0 else 1 - confidence


def margin(probabilities: npt.NDArray[Any]) -> FloatArray:
    """One minus the distance between the two most likely classes."""
    if probabilities.shape[1] < 2:
        return np.zeros(len(probabilities))
    top = np.partition(probabilities, -2, axis=1)[:, -2:].astype(np.float64)
    return np.clip(1 - (top[:, 1] - top[:, 0]), 0.0, 1.0)


def entropy(probabilities: npt.NDArray[Any]) -> FloatArray:
    """Shannon entropy in nats."""
    from scipy.special import entr

    total: FloatArray = entr(np.clip(probabilities, 0.0, 1.0)).sum(axis=1, dtype=np.float64)
    return np.maximum(total, 0.0)


def gini(probabilities: npt.NDArray[Any]) -> FloatArray:
    """Gini impurity, ``1 - Σ p²`` (DeepGini: Feng et al., ISSTA'20)."""
    squares = np.einsum("ij,ij->i", probabilities, probabilities, dtype=np.float64)
    return np.asarray(np.clip(1 - squares, 0.0, 1.0))


FROM_PROBABILITIES: dict[str, Callable[[npt.NDArray[Any]], FloatArray]] = {
    "margin": margin,
    "entropy": entropy,
    "gini": gini,
}
