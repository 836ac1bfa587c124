"""Independence: a test of high order as a product."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from fieldcheck.core.space import Space
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.numerics import special
from fieldcheck.tomography.surrogates.base import Evidence
from fieldcheck.tomography.surrogates.counts import CountFit, Counts, Predict, fit_counts
from fieldcheck.tomography.surrogates.low_orders import LowOrders

MEMBERS = 12


@dataclass(frozen=True)
class Independence:
    """Each perturbation takes its own share of what is left: ``r = r_0 Π (r_j / r_0)``.

    Pairs that are not independent enter as they were measured: those with the clearest dependence first, each
    perturbation in one pair at most; the rest are single factors. A pair is dependent when the sum over its severities
    of squared differences between ``r_ab r_0`` and ``r_a r_b``, over their variances, is above the chi-square quantile
    at ``level``. Perturbations that share causes of failure are not independent, and the product is then too low.

    level
        Of the test for dependence; 0 takes all perturbations as independent.
    """

    name: ClassVar[str] = "independence"
    title: ClassVar[str] = "Product of single perturbations and dependent pairs"
    paper: ClassVar[str] = "Arif et al., TestifAI, ICSE 2026, proposition 1"

    level: float = 0.05

    def fit(self, evidence: Evidence, *, seed: int) -> CountFit:
        found = fit_counts(self, evidence, name=self.name, members=MEMBERS, seed=seed)
        return replace(found, notes=(self._said(Counts.of(evidence)), *found.notes))

    def _said(self, counts: Counts) -> str:
        names = counts.space.names
        pairs = dependent_pairs(LowOrders.of(counts), self.level) if self.level else []
        but = ", but for " + "; ".join(f"{names[a]} with {names[b]}" for a, b in pairs) if pairs else ""
        return f"independence: products of single perturbations{but}"

    def learn(self, counts: Counts, *, seed: int) -> Predict:
        low = LowOrders.of(counts)
        pairs = dependent_pairs(low, self.level) if self.level else []
        return lambda tests: product(counts.space, low, pairs, tests=tests)


def dependent_pairs(low: LowOrders, level: float) -> list[tuple[int, int]]:
    """Pairs of axes that are not independent, the clearest first, no axis twice."""
    excess = {axes: _statistic(low, axes) / _limit(low, axes, level) for axes in low.pairs if axes[0] != axes[1]}
    chosen: list[tuple[int, int]] = []
    for axes in sorted(excess, key=lambda one: -excess[one]):
        if excess[axes] > 1 and not any(axis in pair for pair in chosen for axis in axes):
            chosen.append(axes)
    return chosen


def _limit(low: LowOrders, axes: tuple[int, int], level: float) -> float:
    return float(special.chdtri((len(low.singles[axes[0]]) - 1) * (len(low.singles[axes[1]]) - 1), level))


def _statistic(low: LowOrders, axes: tuple[int, int]) -> float:
    first, second = low.singles[axes[0]][1:, None], low.singles[axes[1]][None, 1:]
    both, base = low.pairs[axes][1:, 1:], low.base
    noise = base**2 * _noise(both) + both**2 * _noise(base) + second**2 * _noise(first) + first**2 * _noise(second)
    return float(((both * base - first * second) ** 2 * low.inputs / np.maximum(noise, 1e-9)).sum())


def _noise(rate: FloatArray | float) -> FloatArray:
    return np.asarray(rate * (1 - np.asarray(rate)))


def product(space: Space, low: LowOrders, pairs: list[tuple[int, int]], *, tests: IntArray) -> FloatArray:
    """The product over dependent pairs and the perturbations that are in none."""
    severities = space.severities(tests)
    base = max(low.base, 1e-9)
    found = np.full(len(tests), low.base)
    for a, b in pairs:
        found *= low.pairs[a, b][severities[:, a], severities[:, b]] / base
    for axis in set(range(len(low.singles))) - {axis for pair in pairs for axis in pair}:
        found *= low.singles[axis][severities[:, axis]] / base
    return np.asarray(np.clip(found, 0.0, 1.0))
