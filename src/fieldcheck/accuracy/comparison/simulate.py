"""Campaigns of every question, simulated on pools whose truth is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

import numpy.typing as npt

from fieldcheck import sources
from fieldcheck.accuracy.assessment.simulate import simulate_accuracy
from fieldcheck.accuracy.comparison import reuse
from fieldcheck.accuracy.comparison.comparison import FIRST, comparison, spend
from fieldcheck.accuracy.comparison.difference import Comparison, Difference
from fieldcheck.accuracy.comparison.disagreements import ContestedItems, Drawn, draw, waves
from fieldcheck.accuracy.comparison.estimate import Rule, look, standing
from fieldcheck.accuracy.comparison.matching import aligned
from fieldcheck.accuracy.designs.base import Design
from fieldcheck.core.errors import BudgetError, DesignError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.sample import Labelled
from fieldcheck.core.types import FloatArray, Loss

Source = Pool | str | Path


@overload
def simulate(
    pool: Source,
    design: Design | str | None = None,
    *,
    budget: int,
    seed: int = 0,
    auxiliary: str | None = None,
    level: float = 0.95,
    loss: Loss | None = None,
    threshold: float | None = None,
    activations: npt.NDArray[Any] | None = None,
) -> Estimate: ...


@overload
def simulate(
    pool: Source,
    *,
    against: Source | Sequence[Source],
    budget: int | None = None,
    seed: int = 0,
    level: float = 0.95,
) -> Comparison: ...


def simulate(
    pool: Source,
    design: Design | str | None = None,
    *,
    against: Source | Sequence[Source] = (),
    budget: int | None = None,
    seed: int = 0,
    auxiliary: str | None = None,
    level: float = 0.95,
    loss: Loss | None = None,
    threshold: float | None = None,
    activations: npt.NDArray[Any] | None = None,
) -> Estimate | Comparison:
    """Simulate one campaign on a pool whose truth is known, and show what it says beside the truth.

    design
        The technique that chooses the items, by itself or as on the command line: ``waves`` if left out.
    against
        Pools of other models on the same items: which model is better, instead of how accurate one is.
    budget
        Labels. A comparison without it goes on until it is decided which model is better.
    """
    others = [against] if isinstance(against, Pool | str | Path) else list(against)
    if not others:
        if budget is None:
            raise BudgetError(
                "no budget", rule="a simulated campaign takes so many labels", hint="fc.simulate(pool, budget=200)"
            )
        return simulate_accuracy(
            pool,
            design or "waves",
            budget=budget,
            seed=seed,
            auxiliary=auxiliary,
            level=level,
            loss=loss or "squared",
            threshold=threshold,
            activations=activations,
        )
    if any(one is not None for one in (design, auxiliary, loss, threshold, activations)):
        raise DesignError(
            "a technique, a loss or activations together with other models",
            rule="a comparison draws items on which the models disagree, and counts failures or squared errors",
            hint="fc.simulate(pool, against=other, budget=200)",
        )
    return simulate_comparison([pool, *others], budget=budget, certify=budget is None, seed=seed, level=level)


def simulate_comparison(
    models: Sequence[Source], *, budget: int | None = None, certify: bool = False, seed: int = 0, level: float = 0.95
) -> Comparison:
    """Simulate a comparison of models on pools whose truth is known, and show it beside the truth.

    models
        One pool each, of the same items, matched by id. With more than two, all pairs share the labels, and the
        level holds for all claims together.
    budget
        Labels: 200 if left out. With ``certify`` the most that may be spent, all disagreements if left out.
    certify
        Look after every wave and stop when it is clear which one is better; the critical values make up for looking
        more than once, so that a wrong claim has a chance of at most ``1 - level``.
    """
    contested = ContestedItems.of([sources.load(pool) for pool in models])
    for pool in contested.pools:
        if not pool.truth_known:
            raise pool.no_truth()
    losses = contested.true_losses()
    most, rule = spend(contested, budget, certify=certify), Rule(level, certify)
    drawn, found = _played(contested, losses, most, seed=seed, rule=rule)
    found = tuple(
        replace(one, truth=float((losses[pair.second] - losses[pair.first]).sum()) / contested.population)
        for one, pair in zip(found, contested.pairs, strict=True)
    )
    return comparison(contested, found, len(drawn.items), budget=most, seed=seed, rule=rule)


def _played(
    contested: ContestedItems, losses: FloatArray, budget: int, *, seed: int, rule: Rule
) -> tuple[Drawn, tuple[Difference, ...]]:
    """What is drawn and found when labels are looked up."""
    if not rule.certify:
        drawn = draw(contested, losses, budget=budget, seed=seed)
        return drawn, look(contested, drawn, losses, labels=len(drawn.items), rule=rule)
    drawn = Drawn.nothing()
    found = () if len(contested.items) else look(contested, drawn, losses, labels=0, rule=rule)
    for drawn in waves(contested, losses, budget=budget, seed=seed, first=FIRST):
        found = standing(found, look(contested, drawn, losses, labels=len(drawn.items), rule=rule))
        if all(difference.decided for difference in found):
            break
    return drawn, found


def simulate_reuse(
    old: Labelled,
    new: Pool | str | Path,
    *,
    labels_unseen: bool,
    old_pool: Pool | None = None,
    top_up: float = reuse.TOP_UP,
    seed: int = 0,
    level: float = 0.95,
) -> Estimate:
    """Simulate the re-use of labels for a new version whose truth is known, and show the estimate beside the truth.

    old
        A campaign of ``waves`` or ``srs`` on the predictions of the old version.
    labels_unseen
        Say so: the new version was neither trained nor tuned on these labels.
    old_pool
        What the labels were drawn from; left out, the new pool has the same items in the same order.
    top_up
        Further labels, as a share of the old ones.
    """
    reuse.require_unseen(labels_unseen)
    pool = sources.load(new) if old_pool is None else aligned(old_pool, sources.load(new))
    truth = pool.losses()
    items = old.sample.items
    carried = reuse.Carried(items, truth[items], reuse.old_chances(old))
    frame = reuse.frame_of(pool)
    top = reuse.draw_top_up(frame, carried, round(top_up * len(items)), seed=seed)
    labelled = reuse.pooled(frame, carried, top, truth[top.items], measure=pool.measure())
    return reuse.explained(labelled, pool, seed=seed, level=level, truth=float(truth.mean()), reused=len(items))
