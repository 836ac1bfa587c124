"""Re-using a sheet that people have filled in, and asking them for a few labels more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from fieldcheck.accuracy.assessment.labelled import Sheet
from fieldcheck.accuracy.assessment.sampling import auxiliary_names, build_design
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.comparison.matching import aligned
from fieldcheck.accuracy.comparison.reuse import (
    DESIGN,
    RULE,
    Carried,
    TopUp,
    draw_top_up,
    explained,
    frame_of,
    old_chances,
    pooled,
    require_unseen,
    risk_of,
)
from fieldcheck.core.draws import WaveDraws
from fieldcheck.core.errors import SampleError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.label import Label, Missing
from fieldcheck.core.measures import refuse_outcomes
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.sample import Sample
from fieldcheck.core.types import FloatArray
from fieldcheck.core.words import counted

ESTIMATOR = "reuse"
"""Not one of the estimators of a campaign: a top-up is estimated together with the labels it tops up."""


@dataclass(frozen=True, eq=False)
class Reused:
    """A filled-in sheet beside the predictions of a new version.

    pool
        Of the new version, in the order of the old pool.
    classes
        All that a label may name.
    """

    carried: Carried
    pool: Pool
    classes: tuple[str, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, sheet: Sheet, answers: Mapping[str, Label], *, old: Pool, new: Pool, labels_unseen: bool) -> Reused:
        """The labels before the first gap, with the chances that the old predictions gave these items."""
        require_unseen(labels_unseen)
        _check_sheet(sheet)
        pool = aligned(old, new)
        classes = tuple(dict.fromkeys((*sheet.classes, *pool.classes)))
        refuse_outcomes(answers)
        labelled, notes = sheet.labelled(answers, old)
        items = labelled.sample.items
        losses = pool.losses_of(answers, [pool.id_of(int(item)) for item in items])
        notes = (*notes, *_lost(sheet, answers))
        return cls(Carried(items, losses, old_chances(labelled)), pool, classes, notes)

    def top_up(self, count: int, *, seed: int, pool_file: str = "") -> Sheet:
        """The sheet of further items to label."""
        top = draw_top_up(frame_of(self.pool), self.carried, count, seed=seed)
        draws = WaveDraws(
            wave=np.zeros(len(top.items), dtype=np.int64),
            sizes=(len(top.items),),
            beliefs=(top.belief.as_row(),),
            objective=RULE.objective,
            floors=(RULE.floor,),
            certain=RULE.certain,
            before=self.carried.items,
        )
        return Sheet(
            sample=Sample(len(self.pool), top.items, ESTIMATOR, draws),
            design=build_design(DESIGN),
            budget=count,
            seed=seed,
            task=self.pool.task,
            loss="squared",
            threshold=self.pool.threshold(),
            ids=tuple(self.pool.id_of(int(item)) for item in top.items),
            predictions=self.pool.predictions_at(top.items.tolist()),
            classes=self.classes,
            pool_file=pool_file,
            pool_digest=self._digest(),
        )

    def estimate(
        self,
        top: Sheet | None = None,
        answers: Mapping[str, Label] | None = None,
        *,
        seed: int = 0,
        level: float = 0.95,
    ) -> Estimate:
        """The new version's accuracy, from the old labels and those of the top-up that are there."""
        frame = frame_of(self.pool)
        drawn, losses, notes = TopUp.none(risk_of(frame)), np.zeros(0), self.notes
        if top is not None:
            drawn = self._drawn(top)
            known = self.pool.losses_of(answers or {}, top.ids)
            losses = known[: _before_gap(known)]
            notes += _left(losses, len(top.ids))
        labelled = pooled(frame, self.carried, drawn, losses, measure=self.pool.measure())
        reused = len(self.carried.items)
        return explained(labelled, self.pool, seed=seed, level=level, reused=reused, warnings=notes)

    def _drawn(self, top: Sheet) -> TopUp:
        draws = top.sample.draws
        mine = isinstance(draws, WaveDraws) and np.array_equal(draws.before, self.carried.items)
        if not isinstance(draws, WaveDraws) or not mine or top.pool_digest != self._digest():
            raise SampleError(
                "this top-up was not drawn for these labels and this pool",
                rule="a top-up belongs to the old labels, and the new predictions, that it was drawn with",
                hint="the file that `fieldcheck reuse --top-up` wrote; old sheet and new pool as they were then",
            )
        return TopUp(top.sample.items, risk_of(frame_of(self.pool)).belief(draws.beliefs[0]))

    def _digest(self) -> str:
        return derived.digest(self.pool, auxiliary_names(build_design(DESIGN), self.pool))


def _before_gap(losses: FloatArray) -> int:
    gaps = np.flatnonzero(np.isnan(losses))
    return int(gaps[0]) if len(gaps) else len(losses)


def _lost(sheet: Sheet, answers: Mapping[str, Label]) -> tuple[str, ...]:
    """What to say about old items that nobody could label; those after the first gap are not used anyway."""
    used = takewhile(lambda name: name in answers, sheet.ids)
    count = sum(isinstance(answers[name], Missing) for name in used)
    text = f"{counted(count, 'item')} of the earlier campaign could not be labelled: taken to be like the others"
    return (text,) if count else ()


def _left(losses: FloatArray, asked: int) -> tuple[str, ...]:
    notes = []
    if len(losses) < asked:
        notes.append(f"{asked - len(losses):,} of {counted(asked, 'item')} of the top-up not labelled yet")
    if lost := int(np.isinf(losses).sum()):
        notes.append(f"{counted(lost, 'item')} of the top-up could not be labelled: taken to be like the others")
    return tuple(notes)


def _check_sheet(sheet: Sheet) -> None:
    if not sheet.sample.draws.reusable:
        raise SampleError(
            f"labels of this sheet, drawn by '{sheet.design.name}' for '{sheet.sample.estimator}', cannot be re-used",
            rule="re-use needs the chance of every item of the pool to be drawn: designs waves and srs",
            hint="begin a new campaign with --design waves: its labels can be re-used",
        )
