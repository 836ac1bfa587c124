"""Gradient boosting that knows that more severe is never better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fieldcheck.core.errors import SpaceError
from fieldcheck.tomography.surrogates.base import Evidence
from fieldcheck.tomography.surrogates.counts import CountFit, Counts, Predict, fit_counts, weighted_rows

MEMBERS = 5


@dataclass(frozen=True)
class Boosting:
    """Histogram gradient boosting on severities, falling in each of them (Ke et al., LightGBM, NeurIPS 2017).

    The constraint takes out most of the noise and follows cliffs. It harms where a perturbation helps at first.

    rounds
        Trees.
    leaves
        Leaves of a tree.
    """

    name: ClassVar[str] = "boosting"
    title: ClassVar[str] = "Monotone gradient boosting"
    paper: ClassVar[str] = "Ke et al., LightGBM, NeurIPS 2017"

    rounds: int = 150
    leaves: int = 16

    def __post_init__(self) -> None:
        if self.rounds < 1 or self.leaves < 2:
            raise SpaceError(f"boosting: rounds={self.rounds}, leaves={self.leaves}", rule="1 or more; 2 or more")

    def fit(self, evidence: Evidence, *, seed: int) -> CountFit:
        return fit_counts(self, evidence, name=self.name, members=MEMBERS, seed=seed)

    def learn(self, counts: Counts, *, seed: int) -> Predict:
        from sklearn.ensemble import HistGradientBoostingClassifier

        severities, outcomes, weights = weighted_rows(counts)
        if len(np.unique(outcomes)) < 2:
            return lambda tests: np.full(len(tests), outcomes[0])
        model = HistGradientBoostingClassifier(
            max_iter=self.rounds,
            max_leaf_nodes=self.leaves,
            learning_rate=0.08,
            min_samples_leaf=5,
            l2_regularization=5.0,
            monotonic_cst=[-1] * severities.shape[1],
            early_stopping=False,
            random_state=seed,
        )
        model.fit(severities, outcomes, sample_weight=weights)
        return lambda tests: np.asarray(model.predict_proba(counts.space.severities(tests))[:, 1])
