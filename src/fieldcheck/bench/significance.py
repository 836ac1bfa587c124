"""Whether techniques differ by more than chance: Friedman's test, then Dunn's with Holm's adjustment.

The tests of the ICSE'24 study (section 5.1), on the absolute errors of single repetitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, fdtrc, ndtr

from fieldcheck.core.types import FloatArray

TIES = 12
"""Decimals: errors that differ by rounding only are equal."""


@dataclass(frozen=True)
class Friedman:
    """Friedman's test, corrected for ties, and the less conservative variant of Iman and Davenport (1980)."""

    statistic: float
    p_value: float
    f_statistic: float
    f_p_value: float
    mean_ranks: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Dunn:
    """All pairs of groups.

    z
        Row against column; negative where the row has the smaller values.
    p_value
        Two-sided, adjusted after Holm (1979); 1 on the diagonal.
    """

    z: FloatArray
    p_value: FloatArray

    def better(self, alpha: float = 0.05) -> FloatArray:
        """1 where the row's values are smaller by more than chance, -1 where larger, else 0; diagonal nan."""
        signs = np.where(self.p_value < alpha, -np.sign(self.z), 0.0)
        np.fill_diagonal(signs, np.nan)
        return signs


def average_ranks(values: FloatArray) -> FloatArray:
    """1 for the smallest, along the last axis; equal values share the mean of their ranks."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(np.round(values, TIES), axis=-1), dtype=np.float64)


def friedman(values: FloatArray) -> Friedman:
    """Test that the columns (treatments) of ``values`` do not differ within its rows (blocks).

    The chi-squared approximation needs about ten blocks. Where all values of every block are equal there is
    nothing to tell apart, and p is 1. Conover, Practical Nonparametric Statistics, 3rd ed., section 5.8.
    """
    # Not scipy's friedmanchisquare: it refuses two treatments, and divides 0 by 0 where all values are equal.
    blocks, treatments = values.shape
    ranks = average_ranks(values)
    centre = (treatments + 1) / 2
    total = float(((ranks - centre) ** 2).sum())
    between = float(((ranks.sum(axis=0) - blocks * centre) ** 2).sum())
    statistic = (treatments - 1) * between / total if total else 0.0
    f_statistic = _iman_davenport(statistic, blocks, treatments)
    return Friedman(
        statistic=statistic,
        p_value=float(chdtrc(treatments - 1, statistic)),
        f_statistic=f_statistic,
        f_p_value=float(fdtrc(treatments - 1, (blocks - 1) * (treatments - 1), f_statistic)),
        mean_ranks=tuple(ranks.mean(axis=0).tolist()),
    )


def _iman_davenport(statistic: float, blocks: int, treatments: int) -> float:
    room = blocks * (treatments - 1) - statistic
    return (blocks - 1) * statistic / room if room > 1e-9 else np.inf


def dunn(groups: Sequence[FloatArray]) -> Dunn:
    """Compare all pairs of independent groups by mean ranks among all values together, corrected for ties.

    Dunn (1964), Technometrics 6:241; Dinno (2015), The Stata Journal 15:292. Techniques draw from streams of
    their own, so their repetitions are independent; two settings of one technique may share streams, which
    makes their errors move together and the test cautious.
    """
    sizes = np.array([len(group) for group in groups])
    ranks = average_ranks(np.concatenate([np.asarray(group, dtype=np.float64) for group in groups]))
    means = np.array([part.mean() for part in np.split(ranks, np.cumsum(sizes)[:-1])])
    variance = _rank_variance(ranks) * (1 / sizes[:, None] + 1 / sizes[None, :])
    gaps = means[:, None] - means[None, :]
    z = np.divide(gaps, np.sqrt(variance), out=np.zeros_like(gaps), where=variance > 0)
    return Dunn(z, _adjust_pairs(2 * ndtr(-np.abs(z))))


def _rank_variance(ranks: FloatArray) -> float:
    """Of a rank drawn at random; the sample variance carries the correction for ties."""
    return float(np.var(ranks, ddof=1)) if len(ranks) > 1 else 0.0


def _adjust_pairs(p_values: FloatArray) -> FloatArray:
    upper = np.triu_indices(len(p_values), k=1)
    adjusted = np.ones_like(p_values)
    adjusted[upper] = holm(p_values[upper])
    return np.minimum(adjusted, adjusted.T)


def holm(p_values: FloatArray) -> FloatArray:
    """Adjusted p-values that bound the chance of any false alarm (Holm 1979, Scand. J. Statist. 6:65)."""
    order = np.argsort(p_values, kind="stable")
    scaled = np.sort(p_values) * np.arange(len(p_values), 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return adjusted
