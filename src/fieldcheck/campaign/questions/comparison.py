"""Which of these models is better on this pool?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from fieldcheck.accuracy.assessment import sampling
from fieldcheck.accuracy.comparison import comparison, disagreements, estimate
from fieldcheck.accuracy.comparison.difference import Comparison
from fieldcheck.accuracy.comparison.matching import aligned
from fieldcheck.accuracy.designs.base import Design
from fieldcheck.campaign.questions.base import LabelEvidence, PastLabels
from fieldcheck.campaign.settings import Settings
from fieldcheck.core import measures, words
from fieldcheck.core.draws import WaveDraws
from fieldcheck.core.errors import CampaignError, LabelError, SampleError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.sample import Labelled, Sample
from fieldcheck.core.types import FloatArray, IntArray

ESTIMATOR = "disagreement"
"""Not one of the estimators of an accuracy: a sample of disagreements says nothing about that, and is refused there."""


@dataclass(frozen=True, eq=False)
class ComparisonQuestion:
    """Which of these models is better on this pool? Only items on which they disagree are drawn.

    pools
        One per model, the first in the order of the campaign.
    budget
        Labels, looked at when the last of them is there; None: every wave is looked at, until it is decided.
    earlier
        Budgets that it had before it was extended.
    margin
        Decide whether the first model is worse by more than this; None: which is better.
    past
        What an earlier campaign on the same items knows, which no model has seen; the budget is for further labels.
    """

    name: ClassVar[str] = "comparison"
    until: ClassVar[str] = "until it is decided"
    extendable: ClassVar[bool] = True
    notes: ClassVar[tuple[str, ...]] = ()

    pools: tuple[Pool, ...]
    budget: int | None
    seed: int
    earlier: tuple[int, ...] = ()
    margin: float | None = None
    past: PastLabels | None = None

    @classmethod
    def of(cls, settings: Settings, pools: Sequence[Pool], past: PastLabels | None = None) -> ComparisonQuestion:
        """The question of a campaign that was started."""
        if past is not None:
            measures.refuse_outcomes(past.labels)
            pools = [aligned(past.pool, pool) for pool in pools]
        return cls(tuple(pools), settings.budget, settings.seed, settings.budgets[:-1], settings.not_worse, past)

    def extended(self, settings: Settings) -> ComparisonQuestion:
        contested = self._contested.open
        if None in settings.earlier:
            raise CampaignError("this comparison has no budget", rule="it goes on until it is decided")
        if settings.earlier and settings.budgets[-2] >= contested:
            raise CampaignError(
                f"all {words.counted(contested, 'disagreement')} of this comparison are asked for already",
                rule="where the models say the same, labels tell nothing about the difference",
            )
        return ComparisonQuestion.of(settings, self.pools, self.past)

    @property
    def pool(self) -> Pool:
        return self.pools[0]

    @cached_property
    def design(self) -> Design:
        """Waves: of disagreements, with a model of who is right on them."""
        return sampling.build_design("waves" if self.budget is not None else f"waves:first={comparison.FIRST}")

    @cached_property
    def _contested(self) -> disagreements.ContestedItems:
        contested = disagreements.ContestedItems.of(self.pools)
        history = None if self.past is None else self.past.history
        return contested if history is None else contested.reusing(history.items, history.chance)

    @property
    def _looks(self) -> bool:
        return self.budget is None

    @property
    def _most(self) -> int:
        return comparison.spend(self._contested, self.budget, certify=self._looks)

    def digest(self) -> str:
        """Of the items, and what all models said about them."""
        known = "" if self.past is None else f"-{len(self._contested.before)}"
        return self._contested.digest() + known

    def draw(self, evidence: LabelEvidence | None) -> Sample:
        """The disagreements from which most is learnt."""
        contested = self._contested
        losses = self._losses(evidence)
        first = comparison.FIRST if self._looks else None
        drawn = disagreements.draw(
            contested, losses, budget=self._most, seed=self.seed, first=first, earlier=self.earlier
        )
        waves = WaveDraws(
            wave=np.repeat(np.arange(len(drawn.sizes), dtype=np.int64), drawn.sizes),
            sizes=drawn.sizes,
            beliefs=drawn.beliefs,
            objective=disagreements.RULE.objective,
            floors=(disagreements.RULE.floor,) * len(drawn.sizes),
            certain=disagreements.RULE.certain,
            before=contested.items[contested.before],
        )
        return Sample(contested.population, contested.items[drawn.items], ESTIMATOR, waves, complete=drawn.complete)

    def enough(self, evidence: LabelEvidence) -> bool:
        """Whether every pair is decided, where that may be looked at."""
        try:
            return self._looks and self.statement(evidence, level=0.95).decided
        except LabelError:
            return False

    def statement(self, evidence: LabelEvidence, *, level: float) -> Comparison:
        """From the labels before the first gap; with looks after every wave, from those of complete waves."""
        contested, rule = self._contested, estimate.Rule(level, self._looks, self.margin)
        losses, drawn = self._losses(evidence), self._drawn(evidence)
        labels = _before_gap(losses[:, drawn.items])
        if rule.certify:
            labels = max(estimate.ends(contested, drawn, labels), default=0)
        if labels + len(contested.before) < 2 and len(contested.items):
            raise LabelError(
                f"{len(evidence.labels):,} of {words.counted(len(evidence.ids), 'item')} labelled",
                rule="a first look needs a complete wave" if rule.certify else "a first look needs two labels",
                hint="label the items in the order of the list",
            )
        decide = estimate.judge if len(contested.items) else estimate.look
        found = decide(contested, drawn, losses, labels=labels, rule=rule)
        lost = int(np.isinf(losses[0, drawn.items[:labels]]).sum())
        notes = (*self._reused(), *_lost(lost), *_unused(labels, evidence), *self._waiting(drawn, labels))
        return comparison.comparison(
            *(contested, found, labels - lost + len(contested.before)),
            budget=self._most,
            seed=self.seed,
            rule=rule,
            warnings=notes,
        )

    def labelled(self, evidence: LabelEvidence) -> tuple[Labelled, tuple[str, ...]]:
        """There is none: a sample of disagreements says nothing about the accuracy of a model."""
        raise SampleError(
            "this campaign compares models",
            rule="only items on which they disagree are labelled: that says nothing about the accuracy of one model",
            hint="a campaign of one model, started without --against",
        )

    def if_lost(self, evidence: LabelEvidence, loss: float, *, level: float) -> Estimate | None:
        return None

    def _reused(self) -> tuple[str, ...]:
        if self.past is None:
            return ()
        there = words.counted(len(self._contested.before), "label")
        return (*self.past.notes, f"{there} of an earlier campaign re-used: no model was trained or tuned on them")

    def _waiting(self, drawn: disagreements.Drawn, labels: int) -> tuple[str, ...]:
        left = min(self._most, self._contested.open) - labels
        if self._looks or not left:
            return ()
        waiting = words.counted(left, "label of the budget is", "labels of the budget are")
        return (f"{waiting} still to come: nothing is decided before",)

    def _drawn(self, evidence: LabelEvidence) -> disagreements.Drawn:
        draws = evidence.sample.drawn_as(WaveDraws)
        complete = len(evidence.ids) >= min(self._most, self._contested.open)
        return disagreements.Drawn(self._places(evidence), draws.sizes, draws.beliefs, complete)

    def _places(self, evidence: LabelEvidence) -> IntArray:
        return np.searchsorted(self._contested.items, evidence.sample.items)

    def _losses(self, evidence: LabelEvidence | None) -> FloatArray:
        """One row per model, one column per contested item."""
        contested = self._contested
        losses = np.full((len(contested.pools), len(contested.items)), np.nan)
        for row, pool in zip(losses, contested.pools, strict=True):
            if self.past is not None:
                row[contested.before] = pool.losses_of(self.past.labels, contested.items[contested.before])
            if evidence is not None:
                row[self._places(evidence)] = pool.losses_of(evidence.labels, evidence.sample.items)
        return losses


def _before_gap(losses: FloatArray) -> int:
    missing = np.flatnonzero(np.isnan(losses).any(axis=0))
    return int(missing[0]) if len(missing) else losses.shape[1]


def _lost(count: int) -> tuple[str, ...]:
    if not count:
        return ()
    return (f"{words.counted(count, 'item')} could not be labelled: taken to be like the others that were drawn",)


def _unused(labels: int, evidence: LabelEvidence) -> tuple[str, ...]:
    answers = len(evidence.labels)
    if answers <= labels or evidence.in_work:
        return ()
    unused = words.counted(answers - labels, "label is", "labels are")
    return (f"{unused} not used yet: after a gap, or in a wave that is not complete",)
