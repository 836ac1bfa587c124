"""The published surrogate: a random forest that is one tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from fieldcheck.core.errors import SpaceError
from fieldcheck.tomography.surrogates.base import Evidence
from fieldcheck.tomography.surrogates.counts import CountFit, Counts, Predict, fit_counts, weighted_rows

MEMBERS = 12


@dataclass(frozen=True)
class Forest:
    """Random-forest classifier on severities, as published: no bootstrap, all features, log-loss.

    Without bootstrap and with all features at every split, all trees are equal up to ties: a forest of 100 is one tree.
    Trained on orders up to two, its prediction for a higher order is the rate of one second-order test, so that it
    over-states robustness. Kept as the baseline. It learns from counts, which gives the same trees as one row per
    outcome.

    trees
        Number of trees.
    """

    name: ClassVar[str] = "forest"
    title: ClassVar[str] = "Random forest, as published"
    paper: ClassVar[str] = "Arif et al., TestifAI, ICSE 2026"

    trees: int = 100

    def __post_init__(self) -> None:
        if self.trees < 1:
            raise SpaceError(f"forest: trees={self.trees}", rule="1 or more")

    def fit(self, evidence: Evidence, *, seed: int) -> CountFit:
        # The members that make the band are single trees: more of them would be the same tree again.
        single = fit_counts(replace(self, trees=1), evidence, name=self.name, members=MEMBERS, seed=seed)
        note = "forest: all its trees are equal, because every tree sees all rows and all features"
        return replace(single, main=self.learn(Counts.of(evidence), seed=seed), notes=(note, *single.notes))

    def learn(self, counts: Counts, *, seed: int) -> Predict:
        from sklearn.ensemble import RandomForestClassifier

        severities, outcomes, weights = weighted_rows(counts)
        if len(np.unique(outcomes)) < 2:
            return lambda tests: np.full(len(tests), outcomes[0])
        forest = RandomForestClassifier(
            n_estimators=self.trees, bootstrap=False, max_features=None, criterion="log_loss", random_state=seed
        )
        forest.fit(severities, outcomes, sample_weight=weights)
        return lambda tests: np.asarray(forest.predict_proba(counts.space.severities(tests))[:, 1])
