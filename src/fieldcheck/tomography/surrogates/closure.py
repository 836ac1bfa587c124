"""Closure: a test of high order from its pairs, its single perturbations and the base."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from fieldcheck.core.space import Space
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.surrogates.base import Evidence
from fieldcheck.tomography.surrogates.counts import CountFit, Counts, Predict, fit_counts
from fieldcheck.tomography.surrogates.independence import product
from fieldcheck.tomography.surrogates.low_orders import LowOrders

MEMBERS = 12


FURTHER = 0.25
"""Interactions of three are taken to change a rate by this share of what those of two do, as a standard deviation."""


@dataclass(frozen=True)
class Closure:
    """As if there were no interactions of three perturbations or more, on the logarithm of what is above guessing.

    With ``q = (r - c) / (1 - c)`` and m perturbations at work, ``log q`` is the sum over their pairs, less ``m - 2``
    times the sum over the single ones, plus ``(m - 1)(m - 2) / 2`` times that of the base: Kirkwood's superposition
    (Journal of Chemical Physics 1935). It is never above the lowest pair. It needs only orders up to two, and it makes
    their noise larger: with few inputs they are smoothed first. For small spaces; at orders of five and more it drifts.

    Low orders cannot show how much three perturbations interact. The band takes it as a quarter of what the pairs
    change in the product of the single ones.
    """

    name: ClassVar[str] = "closure"
    title: ClassVar[str] = "Closure at pairs"
    paper: ClassVar[str] = "Kirkwood, J. Chem. Phys. 1935"

    def fit(self, evidence: Evidence, *, seed: int) -> CountFit:
        low = LowOrders.of(Counts.of(evidence))
        fitted = fit_counts(self, evidence, name=self.name, members=MEMBERS, seed=seed)
        return replace(fitted, doubt=lambda tests: FURTHER * change(evidence.space, low, tests, guess=evidence.guess))

    def learn(self, counts: Counts, *, seed: int) -> Predict:
        low = LowOrders.of(counts)
        return lambda tests: close(counts.space, low, tests, guess=counts.guess)


def close(space: Space, low: LowOrders, tests: IntArray, *, guess: float) -> FloatArray:
    """The closure of some tests."""
    severities = space.severities(tests)
    at_work = severities > 0
    order = at_work.sum(axis=1)
    logs = (order - 1) * (order - 2) / 2 * _log_above(np.array(low.base), guess, low.inputs)
    for axis, single in enumerate(low.singles):
        terms = _log_above(single, guess, low.inputs)[severities[:, axis]]
        logs = logs - np.where(at_work[:, axis], (order - 2) * terms, 0.0)
    lowest = np.where(order >= 2, 1.0, np.inf)
    for (a, b), table in low.pairs.items():
        if a == b:  # a single perturbation has no pairs
            continue
        both = at_work[:, a] & at_work[:, b]
        rates = table[severities[:, a], severities[:, b]]
        logs = logs + np.where(both, _log_above(rates, guess, low.inputs), 0.0)
        lowest = np.where(both, np.minimum(lowest, rates), lowest)
    return np.asarray(np.minimum(guess + (1 - guess) * np.exp(np.minimum(logs, 0.0)), lowest))


def change(space: Space, low: LowOrders, tests: IntArray, *, guess: float) -> FloatArray:
    """How far the closure is from the product of the single perturbations; 0 below order three."""
    apart = np.abs(close(space, low, tests, guess=guess) - product(space, low, [], tests=tests))
    return np.where(space.orders(tests) > 2, apart, 0.0)


def _log_above(rates: FloatArray, guess: float, inputs: float) -> FloatArray:
    """Logarithm of how far a rate is above guessing; at least half an input."""
    return np.asarray(np.log(np.clip((rates - guess) / (1 - guess), 1 / (2 * inputs), 1.0)))
