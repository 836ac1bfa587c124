"""A small neural network over the severities."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.rng import stream
from fieldcheck.tomography.surrogates.base import Evidence
from fieldcheck.tomography.surrogates.counts import CountFit, Counts, Predict, fit_counts, weighted_rows

MEMBERS = 4


MOST_ROWS = 10_000
"""Outcomes that the network is trained on; of more, as many are drawn."""


@dataclass(frozen=True)
class Mlp:
    """A multilayer perceptron with two hidden layers, trained on outcomes (Rumelhart, Hinton and Williams, 1986).

    units
        In each hidden layer.
    epochs
        Times that it sees the outcomes.
    """

    name: ClassVar[str] = "mlp"
    title: ClassVar[str] = "Multilayer perceptron"
    paper: ClassVar[str] = "Rumelhart, Hinton and Williams, Nature 1986"

    units: int = 32
    epochs: int = 40

    def __post_init__(self) -> None:
        if self.units < 1 or self.epochs < 1:
            raise SpaceError(f"mlp: units={self.units}, epochs={self.epochs}", rule="1 or more each")

    def fit(self, evidence: Evidence, *, seed: int) -> CountFit:
        return fit_counts(self, evidence, name=self.name, members=MEMBERS, seed=seed)

    def learn(self, counts: Counts, *, seed: int) -> Predict:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.neural_network import MLPClassifier

        severities, outcomes, weights = weighted_rows(counts)
        if len(np.unique(outcomes)) < 2:
            return lambda tests: np.full(len(tests), outcomes[0])
        scale = np.array([axis.levels for axis in counts.space.axes], dtype=np.float64)
        rows = _drawn(weights, seed)
        model = MLPClassifier((self.units, self.units), alpha=1e-3, max_iter=self.epochs, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the number of epochs is the rule, not the loss
            model.fit(severities[rows] / scale, outcomes[rows])
        return lambda tests: np.asarray(model.predict_proba(counts.space.severities(tests) / scale)[:, 1])


def _drawn(weights: np.ndarray, seed: int) -> np.ndarray:
    """Rows as often as they were counted; where that is too many, evenly spaced ones of the list of all."""
    total = int(weights.sum())
    places = np.arange(total) if total <= MOST_ROWS else np.linspace(0, total - 1, MOST_ROWS).astype(np.int64)
    rows = np.searchsorted(np.cumsum(weights), places, side="right")
    return rows[np.argsort(stream(seed, "mlp").bit_generator.random_raw(len(rows)), kind="stable")]
