"""Budgets that are extended while a requirement is undecided: all looks together are wrong in at most 5 %."""

from __future__ import annotations

import numpy as np

import fieldcheck as fc
from fieldcheck.accuracy import estimators
from fieldcheck.accuracy.assessment.known import Field
from fieldcheck.accuracy.assessment.simulate import play
from fieldcheck.accuracy.designs.base import extended
from fieldcheck.core.requirement import look_error
from fieldcheck.testing import assert_covers

CAMPAIGNS, BUDGET, EXTENSIONS = 60, 40, 3


def field() -> Field:
    rng = np.random.default_rng(4)
    doubt = rng.random(400) ** 3
    failed = rng.random(400) < 0.02 + 0.4 * doubt
    said = np.array(["cat", "dog"])
    pool = fc.from_arrays(
        ids=[f"x{at}" for at in range(400)],
        y_pred=said[np.zeros(400, dtype=int)],
        y_true=said[failed.astype(int)],
        confidence=1 - doubt,
    )
    return Field.of(pool, auxiliary=("confidence",))


def holds(known: Field, seed: int) -> bool:
    """Whether no look of a campaign that is extended three times claims that the truth lies on its wrong side."""
    budgets = [BUDGET]
    for number in range(EXTENSIONS + 1):
        design = extended(fc.designs.Waves(), tuple(budgets[:-1]))
        labelled = play(known, design, budget=budgets[-1], seed=seed)
        bounds = estimators.estimate(labelled, level=1 - look_error(number)).protected
        assert bounds is not None
        if 1 - known.truth not in bounds:
            return False
        budgets.append(budgets[-1] + budgets[-1] // 4)
    return True


def test_looks_of_an_extended_budget_stay_under_five_percent_together() -> None:
    """60 campaigns, an alarm of 1e-6 for a true .95; a true .80 would be noticed half the time."""
    known = field()
    assert_covers(sum(holds(known, seed) for seed in range(CAMPAIGNS)), CAMPAIGNS, least=0.95)
