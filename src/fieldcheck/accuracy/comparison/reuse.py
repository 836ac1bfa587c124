"""A new version of a model, judged by the labels of an earlier campaign and a few more.

Labels belong to items, and so do the chances with which these were drawn: both stay valid for any model that has not
seen the labels. The new version's risk is fitted to all labels, judged by its own predictions, and a top-up wave goes
where that risk says. An item's chance to be labelled is then ``1 - (1 - π_old)(1 - π_top)``.

A version that was trained or tuned on these labels is right on them because it has seen them: no estimate from them
holds, and none is made. Where a campaign set labels apart to train with, before it drew them, the others still judge
the version that was trained: on the pool without the items to train with, where a kept item was labelled with the
chance ``(π - τ)/(1 - τ)``, π the chance to be labelled and τ that to be labelled for training.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fieldcheck.accuracy import estimators
from fieldcheck.accuracy.assessment.sampling import auxiliary_names, build_design
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.estimators.chances import (
    ArrayChances,
    EqualChance,
    JoinedChances,
    RememberedChances,
    WaveChances,
    either,
)
from fieldcheck.core import measures, words
from fieldcheck.core.draws import PoolChances, PooledDraws
from fieldcheck.core.errors import BudgetError, SampleError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.measures.base import SCALES, Measure
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.rng import stream
from fieldcheck.core.sample import Labelled, Sample
from fieldcheck.core.types import BoolArray, FloatArray, IntArray
from fieldcheck.core.versions import versions
from fieldcheck.numerics import exact
from fieldcheck.numerics.regression import believed, priors, risk
from fieldcheck.numerics.sampling.wave import WaveRule, drawn_apart, kept_chance

RULE = WaveRule(floor=0.2)
"""A fifth of the chances of a top-up is the same for all items."""

TOP_UP = 0.25

DESIGN = "waves"


@dataclass(frozen=True, eq=False)
class Carried:
    """Labels of an earlier campaign, as the new version sees them.

    items
        Positions in the pool of the new version, one per label, in the order they were labelled.
    losses
        Of the new version, one per label.
    chance
        Of every item of the pool: that the earlier campaign drew it, and that it was labelled.
    """

    items: IntArray
    losses: FloatArray
    chance: PoolChances


@dataclass(frozen=True, eq=False)
class History:
    """Labels that there are, and the chances of all items of a pool, whatever the next version is.

    items
        Labelled, one per label, in the order they were labelled: positions in the pool.
    train
        One per label: True where it was set apart to train with.
    gone
        All items that were labelled to train with, in this round and before.
    chance, train_chance
        Of every item: to be labelled, and to be labelled for training.
    """

    items: IntArray
    train: BoolArray
    gone: IntArray
    chance: PoolChances
    train_chance: PoolChances

    @classmethod
    def first(cls, items: IntArray, train: BoolArray, chance: PoolChances, *, train_share: float = 0.0) -> History:
        """Of the first campaign; ``train_share`` of its labels were to train with."""
        apart = JoinedChances(partial(np.multiply, train_share), (chance,))
        return cls(items, train, items[train], chance, apart)

    def kept(self, trained_on: IntArray, *, population: int) -> Kept:
        """What still judges a version that was trained on all that was set apart, and on further items.

        trained_on
            These; one of them must not be a label that was kept.
        population
            Items of the whole pool, of which those that are left are held in memory.
        """
        seen = np.intersect1d(trained_on, self.items[~self.train])
        if len(seen):
            raise SampleError(
                f"this version was trained on {words.counted(len(seen), 'item')} that judge it",
                rule="only items that were exported for training, or that were never labelled, may be trained on",
                hint="train again without them, or begin a new campaign on items that it has not seen",
            )
        if self.train.all():
            raise SampleError(
                "no label was kept",
                rule="a version is judged by labels that it was not trained on",
                hint="a campaign started with --train-share 0.5, which keeps half of the labels",
            )
        gone = np.union1d(self.gone, trained_on).astype(np.int64)
        left = np.setdiff1d(np.arange(population), gone, assume_unique=True).astype(np.int64)
        which = ~self.train
        chance = JoinedChances(kept_chance, (self.chance, self.train_chance)).at(left)
        return Kept(left, np.searchsorted(left, self.items[which]), which, ArrayChances(chance))

    def all(self) -> Kept:
        """All labels, for a version that was trained on none of them."""
        return Kept(None, self.items, np.ones(len(self.items), dtype=bool), RememberedChances(self.chance))


@dataclass(frozen=True, eq=False)
class Kept:
    """Labels that judge a new version.

    left
        The items that it is judged on: positions in the pool; None: all of them.
    items
        Labelled ones, as positions among those.
    which
        One per label of the history: True where it is one of them.
    chance
        Of every item that is left: to be labelled, and kept.
    """

    left: IntArray | None
    items: IntArray
    which: BoolArray
    chance: PoolChances

    def and_then(
        self, more: IntArray, train: BoolArray, wave: PoolChances, *, train_share: float, population: int
    ) -> History:
        """What there is for the version after the next, with the labels of a top-up.

        more, train
            Its items, as positions among those that are left, and which of them are to train with.
        wave
            Of every item that is left: that the top-up labelled it.
        population
            Items of the whole pool.
        """
        both, left, items = (self.chance, wave), self.left, np.concatenate([self.items, more])
        roles = np.concatenate([np.zeros(len(self.items), dtype=bool), train])
        chances = JoinedChances(either, both), JoinedChances(partial(_apart, train_share), both)
        if left is None:
            return History(items, roles, np.sort(more[train]), *chances)
        gone = np.union1d(np.setdiff1d(np.arange(population), left), left[more[train]])
        return History(left[items], roles, gone, *(_spread(one, left, population) for one in chances))


def _apart(share: float, earlier: FloatArray, wave: FloatArray) -> FloatArray:
    """To be labelled by a wave, and not before, and to be of this share that is to train with."""
    return (1 - earlier) * wave * share


def _spread(chance: PoolChances, left: IntArray, size: int) -> ArrayChances:
    """Of the items that are left, as those of all items; 0 elsewhere."""
    whole = np.zeros(size)
    whole[left] = chance.at(np.arange(len(left)))
    return ArrayChances(whole)


@dataclass(frozen=True, eq=False)
class TopUp:
    """Further items to label.

    items
        Positions in the pool, in the order to label them.
    wave
        What was believed about the new version when they were drawn, and the chances that this gave.
    train
        One per item: True where it is to train the version after this one with; None where all are kept.
    """

    items: IntArray
    wave: believed.SettledWave
    train: BoolArray | None = None

    @classmethod
    def none(cls, model: risk.RiskModel) -> TopUp:
        """No further items."""
        return cls(np.zeros(0, dtype=np.int64), believed.SettledWave(model.prior(), RULE.nothing()))


def old_chances(labelled: Labelled, *, by_design: FloatArray | None = None) -> PoolChances:
    """Of every item of the old pool: that the earlier campaign drew it.

    Known for simple random sampling without replacement and for ``waves``; other techniques draw with replacement, or
    by strata and groups whose chances do not carry over to another model.

    by_design
        One per item, where they do not follow from the draws and the design knows them.
    """
    sample = labelled.sample
    found = estimators.chances_of(labelled) if by_design is None else ArrayChances(by_design)
    if found is None:
        raise SampleError(
            f"labels drawn for the estimator '{sample.estimator}' cannot be re-used",
            rule="re-use needs the chance of every item to be drawn: designs waves, srs (without replacement), deepest",
            hint="begin a new campaign with --design waves: its labels can be re-used",
        )
    return found


def draw_top_up(frame: Frame, carried: Carried, count: int, *, seed: int, train: float = 0.0) -> TopUp:
    """Where further labels tell most about the new version, among the items that have none.

    train
        Share of them to train the version after this one with.
    """
    model, left = priors.model_of(frame), frame.size - len(carried.items)
    if not 0 <= count <= left:
        raise BudgetError(
            f"a top-up of {words.counted(count, 'label')}",
            rule=f"{words.counted(left, 'item has', 'items have')} no label yet",
            hint=f"--budget {min(round(TOP_UP * len(carried.items)), left)}",
        )
    if not count:
        return TopUp.none(model)
    belief = model.fit(carried.items, carried.losses)
    before = believed.Believed(frame, believed.BeforeWave(model.rule, belief, np.sort(carried.items)))
    look = exact.scan(before, believed.first_look, RULE.objective)
    chances = RULE.settled(before, count, look.sums)
    streams = {"choice": stream(seed, "reuse"), "order": stream(seed, "reuse", "order")}
    items, roles = drawn_apart(before, chances, count, train=train, along=look.along, **streams)
    return TopUp(items, believed.SettledWave(belief, chances), roles if train else None)


def pooled(
    frame: Frame,
    carried: Carried,
    top: TopUp,
    losses: FloatArray,
    *,
    measure: Measure,
    drawn_by: Frame | None = None,
) -> Labelled:
    """All labels, with the chance that any of the two campaigns drew an item.

    losses
        Of the new version on the first items of the top-up: a first part of it, in its random order, is a smaller one.
        Infinite where an item cannot be labelled.
    drawn_by
        The frame that the top-up was drawn by, where it is another one.
    """
    known = np.isfinite(losses)
    more = top.items[: len(losses)]
    chance = JoinedChances(either, (carried.chance, top_up_chance(drawn_by or frame, top, losses)))
    items = np.concatenate([carried.items, more[known]])
    everything = np.concatenate([carried.losses, losses[known]])
    sample = Sample(frame.size, items, build_design(DESIGN).estimator, PooledDraws(chance), frame=frame)
    return Labelled(sample, everything, measure.failed(everything), frame.task)


def top_up_chance(frame: Frame, top: TopUp, losses: FloatArray) -> PoolChances:
    """The chance of every item to be drawn by the top-up, and labelled; ``pooled`` has the words."""
    labelled = int(np.count_nonzero(np.isfinite(losses)))
    if not labelled:
        return EqualChance(0.0)
    # What was labelled of a wave, in its random order, is a smaller wave.
    wave = replace(top.wave, share=labelled / len(top.items))
    return WaveChances(frame, priors.model_of(frame).rule, wave)


def require_unseen(labels_unseen: bool) -> None:
    """Refuse to claim anything about a version that may have seen the labels."""
    if not labels_unseen:
        raise SampleError(
            "it is not said whether the new version was trained or tuned on these labels",
            rule="a model is right on labels that it has seen: an estimate from them would be too good",
            hint="--labels-unseen if it has not seen them; otherwise begin a new campaign on items it has not seen",
        )


def frame_of(pool: Pool) -> Frame:
    """What is known about the new version's predictions."""
    return derived.frame(pool, auxiliary_names(build_design(DESIGN), pool))


def explained(
    labelled: Labelled,
    pool: Pool,
    *,
    seed: int,
    level: float,
    reused: int,
    truth: float | None = None,
    warnings: tuple[str, ...] = (),
) -> Estimate:
    """The labels as an estimate of the new version's accuracy, with what it rests on."""
    found = estimators.estimate(labelled, level=level)
    metric = measures.measure_of(pool.task, "squared").scales[0]
    design = build_design(DESIGN)
    return Estimate(
        metric=metric,
        value=SCALES[metric].of(found.value),
        interval=found.interval.map(SCALES[metric].of),
        standard_error=math.sqrt(found.variance),
        labels=labelled.labels,
        failures=labelled.failures,
        population=len(pool),
        task=pool.task,
        design=f"{DESIGN}, {words.counted(reused, 'label')} re-used",
        design_title=f"{design.title}, after labels of an earlier version",
        paper=design.paper,
        auxiliary="+".join(auxiliary_names(design, pool)) or "none",
        budget=labelled.labels,
        seed=seed,
        mean_loss=found.value,
        truth=None if truth is None else SCALES[metric].of(truth),
        beside=None if found.beside is None else found.beside.map(SCALES[metric].of),
        warnings=(*warnings, f"holds only if {pool.name} was neither trained nor tuned on the labels that are re-used"),
        versions=versions(),
    )
