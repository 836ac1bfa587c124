"""."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fieldcheck import sources
from fieldcheck.accuracy.comparison.comparison import FIRST, comparison, spend
from fieldcheck.accuracy.comparison.difference import Comparison, Difference
from fieldcheck.accuracy.comparison.disagreements import Contest, Drawn, draw, waves
from fieldcheck.accuracy.comparison.estimate import Rule, look, standing
from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.types import FloatArray


def compare(
    first: Pool | str | Path,
    second: Pool | str | Path,
    *others: Pool | str | Path,
    budget: int | None = None,
    certify: bool = False,
    seed: int = 0,
    level: float = 0.95,
) -> Comparison:
    """Simulate a comparison of models on pools whose truth is known, and show it beside the truth.

    The pools hold the same items, matched by id. With more than two models, all pairs share the labels, and the
    level holds for all claims together.

    budget
        Labels: 200 if left out. With ``certify`` the most that may be spent, all disagreements if left out.
    certify
        Look after every wave and stop when it is clear which one is better; the critical values make up for looking
        more than once, so that a wrong claim has a chance of at most ``1 - level``.
    """
    contest = Contest.of([sources.load(pool) for pool in (first, second, *others)])
    for pool, name in zip(contest.pools, contest.names, strict=True):
        if not pool.truth_known:
            raise PoolError(
                f"the truth of '{name}' is not known",
                rule="a comparison is simulated where the files hold the truth of every item",
                hint="--truth COLUMN for the column of labels; or fieldcheck start A.csv --against B.csv",
            )
    losses = contest.true_losses()
    most, rule = spend(contest, budget, certify=certify), Rule(level, certify)
    drawn, found = _played(contest, losses, most, seed=seed, rule=rule)
    found = tuple(
        replace(one, truth=float((losses[pair.second] - losses[pair.first]).sum()) / contest.population)
        for one, pair in zip(found, contest.pairs, strict=True)
    )
    return comparison(contest, found, len(drawn.items), budget=most, seed=seed, rule=rule)


def _played(
    contest: Contest, losses: FloatArray, budget: int, *, seed: int, rule: Rule
) -> tuple[Drawn, tuple[Difference, ...]]:
    """What is drawn and found when labels are looked up."""
    if not rule.certify:
        drawn = draw(contest, losses, budget=budget, seed=seed)
        return drawn, look(contest, drawn, losses, labels=len(drawn.items), rule=rule)
    drawn = Drawn.nothing()
    found = () if len(contest.items) else look(contest, drawn, losses, labels=0, rule=rule)
    for drawn in waves(contest, losses, budget=budget, seed=seed, first=FIRST):
        found = standing(found, look(contest, drawn, losses, labels=len(drawn.items), rule=rule))
        if all(difference.decided for difference in found):
            break
    return drawn, found
