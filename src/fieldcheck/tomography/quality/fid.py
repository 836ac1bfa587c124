"""Fréchet distance between two clouds of features, each taken as a normal distribution."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.inputs import Kind
from fieldcheck.core.types import FloatArray
from fieldcheck.tomography.quality.base import Needs, QualityScore


def frechet(first: FloatArray, second: FloatArray) -> float:
    """``|m1 - m2|² + tr(S1 + S2 - 2 (S1 S2)^½)`` of means and covariances; FID where features are Inception's.

    Heusel et al., GANs trained by a two time-scale update rule, NeurIPS 2017. Biased: with few items it is too high
    for different distributions, and not 0 for two samples of one (Chong and Forsyth, Effectively unbiased FID, CVPR
    2020). Compare only scores of equally many items, and prefer KID for few.

    No square root of a matrix is taken: with ``S = R'R``, the trace of ``(S1 S2)^½`` is the sum of the singular values
    of ``R1 R2'``. This stays exact where items are fewer than features and the covariances are singular.

    first, second
        Features: one row per item, two or more; one column per feature.
    """
    if min(len(first), len(second)) < 2:
        raise SpaceError(f"features of {min(len(first), len(second))} items", rule="FID needs two items or more")
    means, roots = zip(*(_moments(np.asarray(rows, dtype=np.float64)) for rows in (first, second)), strict=True)
    shared = np.linalg.svd(roots[0] @ roots[1].T, compute_uv=False).sum()
    spread = (roots[0] ** 2).sum() + (roots[1] ** 2).sum() - 2 * shared
    return max(float(((means[0] - means[1]) ** 2).sum() + spread), 0.0)


def _moments(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The mean, and a triangle R with R'R the covariance."""
    mean = rows.mean(axis=0)
    triangle = np.linalg.qr((rows - mean) / np.sqrt(len(rows) - 1), mode="r")
    return mean, np.asarray(triangle)


class Fid(QualityScore):
    """``frechet`` between the inputs and themselves, perturbed."""

    name: ClassVar[str] = "fid"
    title: ClassVar[str] = "Fréchet distance"
    paper: ClassVar[str] = "Heusel et al., NeurIPS 2017"
    needs: ClassVar[Needs] = "features"
    kinds: ClassVar[frozenset[Kind]] = frozenset({"image", "text", "row"})
    better: ClassVar[Literal["low", "high"]] = "low"
    high: ClassVar[float] = np.inf
    squared: ClassVar[bool] = True
    caution: ClassVar[str] = "biased where there are few inputs: compare only scores of equally many"

    def score(self, clean: FloatArray, perturbed: FloatArray) -> float:
        return frechet(clean, perturbed)
