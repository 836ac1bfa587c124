"""How often `check` makes a wrong claim when a budget is extended up to three times, the truth on the threshold.

    python benchmarks/extensions.py POOL... --truth COLUMN --repetitions 400

A campaign of `waves` is decided at its budget, and while it is undecided the budget is extended by a quarter, three
times at most, as ``CampaignView.check`` does: each look at its own error, by the protected interval. The truth is
the threshold but for half a failure, on the side that makes each claim wrong: the closest that a pool can come.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import numpy as np

from fieldcheck.accuracy import estimators
from fieldcheck.accuracy.assessment.known import Field
from fieldcheck.accuracy.assessment.simulate import play
from fieldcheck.accuracy.designs import Waves
from fieldcheck.accuracy.designs.base import extended
from fieldcheck.core.requirement import look_error
from fieldcheck.sources import load

BUDGET, EXTENSIONS, LARGEST = 100, 3, 3_000
"""Larger pools are cut to LARGEST items, at random."""


def claims(field: Field, *, objective: str, seed: int) -> tuple[bool, bool]:
    """Whether "at least" and "below" were ever claimed, each where it is just wrong."""
    truth, budgets = 1 - field.truth, [BUDGET]
    above = below = False
    for number in range(EXTENSIONS + 1):
        design = extended(Waves(objective=objective), tuple(budgets[:-1]))  # type: ignore[arg-type]
        labelled = play(field, design, budget=budgets[-1], seed=seed)
        found = estimators.estimate(labelled, level=1 - look_error(number))
        bounds = found.protected or found.interval
        above, below = above or bounds.high < truth, below or bounds.low > truth
        if above or below:
            break
        budgets.append(budgets[-1] + budgets[-1] // 4)
    return above, below


def measure(path: Path, truth: str | None, *, objective: str, repetitions: int) -> str:
    pool = load(path, truth=truth)
    if len(pool) > LARGEST:
        pool = pool.select(np.sort(np.random.default_rng(0).choice(len(pool), LARGEST, replace=False)))
    field = Field.of(pool, auxiliary=("confidence",))
    found = [claims(field, objective=objective, seed=seed) for seed in range(repetitions)]
    above, below = (sum(one) / repetitions for one in zip(*found, strict=True))
    limit = 0.05 + 2 * math.sqrt(0.05 * 0.95 / repetitions)
    ok = "yes" if above + below <= limit else "NO"
    return f"| {path.stem} | {field.truth:.4f} | {objective} | {above:.3f} | {below:.3f} | {above + below:.3f} | {ok} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pools", nargs="+", type=Path)
    parser.add_argument("--truth")
    parser.add_argument("--objectives", default="protected,estimate")
    parser.add_argument("--repetitions", type=int, default=200)
    given = parser.parse_args()
    head = ["pool", "accuracy", "objective", "wrong 'at least'", "wrong 'below'", "wrong", "at most 5 % + 2 se"]
    sys.stdout.write(f"| {' | '.join(head)} |\n|{'---|' * len(head)}\n")
    for path in given.pools:
        for objective in given.objectives.split(","):
            line = measure(path, given.truth, objective=objective, repetitions=given.repetitions)
            sys.stdout.write(line + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
