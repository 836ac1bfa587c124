"""How accurate is the new version, given the labels of an earlier campaign?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from fieldcheck.accuracy.assessment import sampling
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.comparison import changes, reuse
from fieldcheck.accuracy.comparison.matching import aligned
from fieldcheck.accuracy.designs.base import Design
from fieldcheck.campaign.questions.base import LabelEvidence, PastLabels
from fieldcheck.campaign.settings import Other, Settings
from fieldcheck.core import measures, words
from fieldcheck.core.draws import WaveDraws
from fieldcheck.core.errors import CampaignError, SampleError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.label import Label, Missing
from fieldcheck.core.pool import ids as identity
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.sample import Labelled, Sample
from fieldcheck.core.types import FloatArray
from fieldcheck.numerics.regression import believed, priors

ESTIMATOR = "reuse"
"""Not one of the estimators of an accuracy: a top-up is estimated together with the labels that it tops up."""


@dataclass(frozen=True, eq=False)
class ReuseQuestion:
    """How accurate is the new version, given the labels of an earlier campaign and a few more?

    pool
        The items that it is judged on, in the order of the old pool: those that it was not trained on.
    carried
        The labels of the earlier campaign before its first gap, with the chances that these items had.
    before
        The same items with what the version of the earlier campaign said.
    past
        All that the earlier campaign knows.
    whole
        All items, with what the new version said.
    kept
        Which of its labels, and which items, judge the new version.
    budget
        Further labels; None: a quarter of those that are re-used.
    train_share
        Share of them to train the version after this one with.
    """

    name: ClassVar[str] = "reuse"
    until: ClassVar[str] = "a quarter of the labels that are re-used"
    extendable: ClassVar[bool] = False

    pool: Pool
    carried: reuse.Carried
    before: Pool
    past: PastLabels
    whole: Pool
    kept: reuse.Kept
    budget: int | None
    seed: int
    train_share: float = 0.0
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, past: PastLabels, new: Pool, settings: Settings, other: Other) -> ReuseQuestion:
        """What an earlier campaign knows, beside the predictions of the new version."""
        measures.refuse_outcomes(past.labels)
        whole = aligned(past.pool, new)
        kept, notes = _kept(past, other)
        pool, before = (one if kept.left is None else one.select(kept.left) for one in (whole, past.pool))
        carried = reuse.Carried(kept.items, pool.losses_of(past.labels, kept.items), kept.chance)
        notes = (*past.notes, *_lost(past.labels), *notes)
        return cls(
            *(pool, carried, before, past, whole, kept, settings.budget, settings.seed, settings.train_share, notes)
        )

    @property
    def pools(self) -> tuple[Pool, ...]:
        return (self.pool,)

    @property
    def design(self) -> Design:
        """Waves: the top-up is one."""
        return sampling.build_design(reuse.DESIGN)

    @cached_property
    def _frame(self) -> Frame:
        return reuse.frame_of(self.pool)

    @property
    def count(self) -> int:
        """Further labels."""
        return round(reuse.TOP_UP * len(self.carried.items)) if self.budget is None else self.budget

    def extended(self, settings: Settings) -> ReuseQuestion:
        raise CampaignError(
            "the top-up of a campaign with re-used labels",
            rule="it is one wave, drawn for its budget",
            hint="start it again under another name, with a larger --budget; labels of the same items can be imported",
        )

    def digest(self) -> str:
        """Of the items and predictions of the new version, and the labels that are re-used."""
        known = derived.digest(self.pool, sampling.auxiliary_names(self.design, self.pool))
        return f"{known}-{len(self.carried.items)}"

    def draw(self, evidence: LabelEvidence | None) -> Sample:
        """One wave, where further labels tell most about the new version."""
        top = reuse.draw_top_up(self._frame, self.carried, self.count, seed=self.seed, train=self.train_share)
        chances = top.wave.chances
        draws = WaveDraws(
            wave=np.zeros(len(top.items), dtype=np.int64),
            sizes=(len(top.items),),
            beliefs=(top.wave.belief.as_row(),),
            objective=chances.objective,
            floors=(chances.floor,),
            scales=(np.array([chances.level, chances.factor, chances.cut]),),
            certain=reuse.RULE.certain,
            before=self.carried.items,
        )
        return Sample(len(self.pool), top.items, ESTIMATOR, draws, train=top.train)

    def enough(self, evidence: LabelEvidence) -> bool:
        return False

    def statement(self, evidence: LabelEvidence, *, level: float) -> Estimate:
        """The new version's accuracy, from the old labels and those of the top-up before its first gap."""
        top, losses = self._top_up(evidence)
        fit = reuse.pooled(self._frame, self.carried, top, losses, measure=self.pool.measure())
        left = _left(losses, len(evidence.ids))
        found = reuse.explained(
            fit, self.pool, seed=self.seed, level=level, reused=len(self.carried.items), warnings=left
        )
        return replace(found, notes=(*self.notes, *self._on_all(found)))

    def _on_all(self, found: Estimate) -> tuple[str, ...]:
        """The whole pool beside it: what it was trained on has labels too."""
        gone = self.past.history.items[~self.kept.which]
        if len(self.whole) == len(self.pool) or not len(gone):
            return ()
        losses = self.whole.losses_of(self.past.labels, gone)
        known = losses[np.isfinite(losses)]
        mean = (float(known.sum()) + (len(self.whole) - len(known)) * found.mean_loss) / len(self.whole)
        count, scale = words.counted(len(gone), "item"), found.scale
        return (
            f"on all {len(self.whole):,} items, the {count} to train with among them, "
            f"{found.metric} is {scale.shown(scale.of(mean))}",
        )

    def _top_up(self, evidence: LabelEvidence) -> tuple[reuse.TopUp, FloatArray]:
        """What was drawn, and the losses of what is labelled of it before the first gap."""
        draws = evidence.sample.drawn_as(WaveDraws)
        belief = priors.model_of(self._frame).belief(draws.beliefs[0])
        wave = believed.SettledWave.stored(belief, draws.objective, draws.floors[0], draws.scales[0])
        top = reuse.TopUp(evidence.sample.items, wave)
        known = self.pool.losses_of(evidence.labels, evidence.sample.items)
        return top, known[: _before_gap(known)]

    def change(self, evidence: LabelEvidence, *, level: float, by: Sequence[str] = ()) -> changes.Change:
        """What the new version does better, and what worse, than the one before, on the labels that judge both."""
        top, losses = self._top_up(evidence)
        known = self.before.losses_of(evidence.labels, evidence.sample.items)[: len(losses)]
        carried = replace(self.carried, losses=self.before.losses_of(self.past.labels, self.carried.items))
        old = reuse.pooled(
            *(reuse.frame_of(self.before), carried, top, known), measure=self.before.measure(), drawn_by=self._frame
        )
        new = reuse.pooled(self._frame, self.carried, top, losses, measure=self.pool.measure())
        labels = {**self.past.labels, **evidence.labels}
        return changes.between(old, new, (self.before, self.pool), labels, level=level, by=by)

    def past_labels(self, evidence: LabelEvidence) -> PastLabels:
        """What may be re-used for the version after this one: the labels of all rounds."""
        top, losses = self._top_up(evidence)
        usable = np.isfinite(losses)
        more = top.items[: len(losses)][usable]
        roles = np.zeros(len(losses), dtype=bool) if evidence.sample.train is None else evidence.sample.train
        train = roles[: len(losses)][usable]
        wave = reuse.top_up_chance(self._frame, top, losses)
        history = self.kept.and_then(more, train, wave, train_share=self.train_share, population=len(self.whole))
        labels = {**self.past.labels, **evidence.labels}
        return PastLabels(self.whole, history, labels, self.notes)

    def labelled(self, evidence: LabelEvidence) -> tuple[Labelled, tuple[str, ...]]:
        """There is none: the labels of two campaigns have chances of their own."""
        raise SampleError(
            "this campaign goes on from the labels of an earlier one",
            rule="parts of the pool, metrics and stop rules need the labels of one campaign",
            hint="a campaign of its own, started without --reuse",
        )

    def if_lost(self, evidence: LabelEvidence, loss: float, *, level: float) -> Estimate | None:
        return None


def _before_gap(losses: FloatArray) -> int:
    gaps = np.flatnonzero(np.isnan(losses))
    return int(gaps[0]) if len(gaps) else len(losses)


def _kept(past: PastLabels, other: Other) -> tuple[reuse.Kept, tuple[str, ...]]:
    """The labels that judge the new version, and what to say about the others."""
    if not other.trained:
        return past.history.all(), ()
    ids = _in_pool(past.pool, other.trained_on)
    positions = past.pool.position_of(ids)
    kept = past.history.kept(positions, population=len(past.pool))
    trained, count = len(np.union1d(past.history.gone, positions)), int(kept.which.sum())
    said = (
        f"judged on the {words.counted(len(past.pool) - trained, 'item')} that it was not trained on, "
        f"by {words.counted(count, 'label that was kept', 'labels that were kept')}; "
        f"{words.counted(trained, 'item')} left out",
        f"{count:,} kept labels do not show gains under about {changes.least_gain(count):.0%}".replace("%", " points"),
    )
    strange = len(other.trained_on) - len(ids)
    return kept, (*said, *((f"{strange:,} of the items it was trained on are not in this pool",) if strange else ()))


def _in_pool(pool: Pool, ids: Sequence[str]) -> list[str]:
    places = identity.places(pool.in_memory().ids, ids)
    return [name for name, at in zip(ids, places.tolist(), strict=True) if at >= 0]


def _lost(labels: Mapping[str, Label]) -> tuple[str, ...]:
    """What to say about old items that could not be labelled."""
    count = sum(isinstance(label, Missing) for label in labels.values())
    text = f"{words.counted(count, 'item')} of the earlier campaign could not be labelled: taken to be like the others"
    return (text,) if count else ()


def _left(losses: FloatArray, asked: int) -> tuple[str, ...]:
    notes = []
    if len(losses) < asked:
        notes.append(f"{asked - len(losses):,} of {words.counted(asked, 'item')} of the top-up not labelled yet")
    if lost := int(np.isinf(losses).sum()):
        notes.append(f"{words.counted(lost, 'item')} of the top-up could not be labelled: taken to be like the others")
    return tuple(notes)
