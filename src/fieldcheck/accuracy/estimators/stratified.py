"""The stratified mean."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from fieldcheck.accuracy.estimators.base import MeanLoss
from fieldcheck.core.draws import Draws, StratifiedDraws
from fieldcheck.core.errors import LabelError
from fieldcheck.core.interval import Interval
from fieldcheck.core.sample import Labelled
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.numerics import intervals


class Stratified:
    """``Σ (N_p/N) ȳ_p`` with variance ``Σ (N_p/N)² (1 - n_p/N_p) s_p²/n_p``.

    Unbiased when the number of labels in each stratum was fixed beforehand. After an adaptive choice (GBS) it is
    slightly biased, and its interval says so. A stratum without failures is not a stratum without variance: the
    interval smooths each stratum.
    """

    name: ClassVar[str] = "stratified"
    accepts: ClassVar[tuple[type[Draws], ...]] = (StratifiedDraws,)

    def estimate(self, labelled: Labelled, *, level: float) -> MeanLoss:
        draws = labelled.sample.drawn_as(StratifiedDraws)
        sizes, stratum = draws.sizes, draws.stratum
        counts = np.bincount(stratum, minlength=len(sizes))
        if not counts.all():
            raise LabelError(
                f"{int((counts == 0).sum())} of {len(sizes)} strata have no label yet",
                rule="a stratified estimate needs a label from every stratum",
                hint="label more of the list, in its order",
            )
        share = sizes / sizes.sum()
        means = np.bincount(stratum, weights=labelled.losses, minlength=len(sizes)) / counts
        replacement, adaptive = draws.replacement, draws.adaptive
        left = np.ones(len(sizes)) if replacement else 1 - counts / sizes
        variance = float((share**2 * left * _spread(labelled.losses, stratum, counts, means) / counts).sum())
        if labelled.task == "classification":
            failures = np.bincount(stratum, weights=labelled.losses, minlength=len(sizes))
            low, high = intervals.stratified_binary(
                sizes, counts, failures, level=level, adaptive=adaptive, replacement=replacement
            )
        else:
            low, high = intervals.stratified_mean(
                sizes, stratum, labelled.losses, level=level, adaptive=adaptive, replacement=replacement
            )
        note = "the labels chose the strata: the estimate is slightly biased" if adaptive else ""
        method = "beta, one unseen failure" if labelled.task == "classification" else "gamma, one unseen loss"
        return MeanLoss(
            float((share * means).sum()),
            variance,
            Interval(low, high, level, "asymptotic", method, note=note),
        )


def _spread(losses: FloatArray, stratum: IntArray, counts: IntArray, means: FloatArray) -> FloatArray:
    """Variance of the losses in each stratum; with a single label, that of all labels stands in."""
    squares = np.bincount(stratum, weights=(losses - means[stratum]) ** 2, minlength=len(counts))
    overall = float(losses.var(ddof=1)) if len(losses) > 1 else float("nan")
    return np.where(counts > 1, squares / np.maximum(counts - 1, 1), overall)
