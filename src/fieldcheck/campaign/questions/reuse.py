"""How accurate is the new version, given the labels of an earlier campaign?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import ClassVar

import numpy as np

from fieldcheck.accuracy.assessment import sampling
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.comparison import reuse
from fieldcheck.accuracy.comparison.matching import aligned
from fieldcheck.accuracy.designs.base import Design
from fieldcheck.campaign.questions.accuracy import AccuracyQuestion
from fieldcheck.campaign.questions.base import LabelEvidence
from fieldcheck.campaign.settings import Settings
from fieldcheck.core import measures, words
from fieldcheck.core.draws import WaveDraws
from fieldcheck.core.errors import CampaignError, SampleError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.label import Label, Missing
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.sample import Labelled, Sample
from fieldcheck.core.types import FloatArray

ESTIMATOR = "reuse"
"""Not one of the estimators of an accuracy: a top-up is estimated together with the labels that it tops up."""


@dataclass(frozen=True, eq=False)
class ReuseQuestion:
    """How accurate is the new version, given the labels of an earlier campaign and a few more?

    pool
        Of the new version, in the order of the old pool.
    carried
        The labels of the earlier campaign before its first gap, with the chances that these items had.
    budget
        Further labels; None: a quarter of those that are re-used.
    """

    name: ClassVar[str] = "reuse"
    until: ClassVar[str] = "a quarter of the labels that are re-used"

    pool: Pool
    carried: reuse.Carried
    budget: int | None
    seed: int
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, old: AccuracyQuestion, evidence: LabelEvidence, new: Pool, *, budget: int | None, seed: int
    ) -> ReuseQuestion:
        """What an earlier campaign knows, beside the predictions of the new version."""
        measures.refuse_outcomes(evidence.labels)
        pool = aligned(old.pool, new)
        labelled, notes = old.labelled(evidence)
        items = labelled.sample.items
        losses = pool.losses_of(evidence.labels, [pool.id_of(int(item)) for item in items])
        carried = reuse.Carried(items, losses, reuse.old_chances(labelled))
        return cls(pool, carried, budget, seed, (*notes, *_lost(evidence)))

    @property
    def pools(self) -> tuple[Pool, ...]:
        return (self.pool,)

    @property
    def design(self) -> Design:
        """Waves: the top-up is one."""
        return sampling.build_design(reuse.DESIGN)

    @property
    def count(self) -> int:
        """Further labels."""
        return round(reuse.TOP_UP * len(self.carried.items)) if self.budget is None else self.budget

    def extended(self, settings: Settings) -> ReuseQuestion:
        raise CampaignError(
            "the top-up of a campaign with re-used labels",
            rule="it is one wave, drawn for its budget",
            hint="fieldcheck start NEW --reuse OLD with a larger --budget; labels of the same items can be imported",
        )

    def digest(self) -> str:
        """Of the items and predictions of the new version, and the labels that are re-used."""
        known = derived.digest(self.pool, sampling.auxiliary_names(self.design, self.pool))
        return f"{known}-{len(self.carried.items)}"

    def draw(self, evidence: LabelEvidence | None) -> Sample:
        """One wave, where further labels tell most about the new version."""
        top = reuse.draw_top_up(reuse.frame_of(self.pool), self.carried, self.count, seed=self.seed)
        draws = WaveDraws(
            wave=np.zeros(len(top.items), dtype=np.int64),
            sizes=(len(top.items),),
            beliefs=(top.belief.as_row(),),
            objective=reuse.RULE.objective,
            floors=(reuse.RULE.floor,),
            certain=reuse.RULE.certain,
            before=self.carried.items,
        )
        return Sample(len(self.pool), top.items, ESTIMATOR, draws)

    def enough(self, evidence: LabelEvidence) -> bool:
        return False

    def statement(self, evidence: LabelEvidence, *, level: float) -> Estimate:
        """The new version's accuracy, from the old labels and those of the top-up before its first gap."""
        frame = reuse.frame_of(self.pool)
        top = reuse.TopUp(
            evidence.sample.items, reuse.risk_of(frame).belief(evidence.sample.drawn_as(WaveDraws).beliefs[0])
        )
        known = self.pool.losses_of(evidence.labels, evidence.ids)
        losses = known[: _before_gap(known)]
        fit = reuse.pooled(frame, self.carried, top, losses, measure=self.pool.measure())
        notes = (*self.notes, *_left(losses, len(evidence.ids)))
        return reuse.explained(
            fit, self.pool, seed=self.seed, level=level, reused=len(self.carried.items), warnings=notes
        )

    def labelled(self, evidence: LabelEvidence) -> tuple[Labelled, tuple[str, ...]]:
        """There is none: the labels of two campaigns have chances of their own."""
        raise SampleError(
            "this campaign goes on from the labels of an earlier one",
            rule="parts of the pool, metrics and stop rules need the labels of one campaign",
            hint="fieldcheck start POOL, for a campaign of its own",
        )

    def if_lost(self, evidence: LabelEvidence, loss: float, *, level: float) -> Estimate | None:
        return None


def _before_gap(losses: FloatArray) -> int:
    gaps = np.flatnonzero(np.isnan(losses))
    return int(gaps[0]) if len(gaps) else len(losses)


def _lost(evidence: LabelEvidence) -> tuple[str, ...]:
    """What to say about old items that could not be labelled; those after the first gap are not used anyway."""
    labels: Mapping[str, Label] = evidence.labels
    used = takewhile(lambda name: name in labels, evidence.ids)
    count = sum(isinstance(labels[name], Missing) for name in used)
    text = f"{words.counted(count, 'item')} of the earlier campaign could not be labelled: taken to be like the others"
    return (text,) if count else ()


def _left(losses: FloatArray, asked: int) -> tuple[str, ...]:
    notes = []
    if len(losses) < asked:
        notes.append(f"{asked - len(losses):,} of {words.counted(asked, 'item')} of the top-up not labelled yet")
    if lost := int(np.isinf(losses).sum()):
        notes.append(f"{words.counted(lost, 'item')} of the top-up could not be labelled: taken to be like the others")
    return tuple(notes)
