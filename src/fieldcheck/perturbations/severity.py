"""Severities as every perturbation gets them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.perturbation import Perturbation
from fieldcheck.core.types import IntArray


def check_severity(perturbation: Perturbation, severity: npt.ArrayLike, count: int) -> IntArray:
    """One severity per item; an error unless all are defined."""
    given = np.asarray(severity, dtype=np.int64)
    if given.shape != (count,):
        raise SpaceError(
            f"{perturbation.name}: severities of shape {given.shape} for {count} items", rule="one severity per item"
        )
    if count and not (given.min() >= 0 and given.max() <= perturbation.levels):
        raise SpaceError(
            f"{perturbation.name}: severities from {given.min()} to {given.max()}",
            rule=f"whole numbers from 0 to {perturbation.levels}",
        )
    return given
