"""Kernel inception distance: the squared maximum mean discrepancy of features under a cubic kernel."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.inputs import Kind
from fieldcheck.core.types import FloatArray
from fieldcheck.tomography.quality.base import Needs, QualityScore


def kid(first: FloatArray, second: FloatArray, *, paired: bool) -> float:
    """Unbiased MMD² with the kernel ``(x·y / d + 1)³``: 0 in expectation where both come from one distribution.

    Bińkowski et al., Demystifying MMD GANs, ICLR 2018; the estimators are those of Gretton et al., A kernel two-sample
    test, JMLR 2012. Being unbiased, it can be a little below 0.

    first, second
        Features: one row per item, d columns.
    paired
        Whether row i of both belongs to one item. Then terms between the two versions of one item are left out
        (Gretton et al., equation 4): with them, the score of perturbed inputs against the same inputs clean would be
        too low.
    """
    if min(len(first), len(second)) < 2:
        raise SpaceError(f"features of {min(len(first), len(second))} items", rule="KID needs two items or more")
    across = _kernel(first, second)
    between = _apart(across) if paired else float(across.mean())
    return _apart(_kernel(first, first)) + _apart(_kernel(second, second)) - 2 * between


def _kernel(first: FloatArray, second: FloatArray) -> FloatArray:
    rows, columns = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    return np.asarray((rows @ columns.T / rows.shape[1] + 1) ** 3)


def _apart(kernel: FloatArray) -> float:
    """Mean of a square matrix without its diagonal."""
    count = len(kernel)
    return float((kernel.sum() - np.trace(kernel)) / (count * (count - 1)))


class Kid(QualityScore):
    """``kid`` between the inputs and themselves, perturbed."""

    name: ClassVar[str] = "kid"
    title: ClassVar[str] = "Kernel inception distance"
    paper: ClassVar[str] = "Bińkowski et al., ICLR 2018"
    needs: ClassVar[Needs] = "features"
    kinds: ClassVar[frozenset[Kind]] = frozenset({"image", "text", "row"})
    usual: ClassVar[frozenset[Kind]] = frozenset({"image", "row"})
    better: ClassVar[Literal["low", "high"]] = "low"
    high: ClassVar[float] = np.inf
    squared: ClassVar[bool] = True

    def score(self, clean: FloatArray, perturbed: FloatArray) -> float:
        return kid(clean, perturbed, paired=True)
