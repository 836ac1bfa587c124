"""How often `check` makes a wrong claim when a budget is extended up to three times, the truth on the threshold.

    python benchmarks/extensions.py [--campaigns 200] [--pools NAME,...] [--conditions plain,...] [--out campaigns.tsv]

A campaign of `waves` is decided at its budget, and while it is undecided the budget is extended by a quarter, three
times at most, as ``CampaignView.check`` does: each look at its own error, by the protected interval. The truth is
the threshold but for half a failure, on the side that makes each claim wrong: the closest that a pool can come. Pools
and conditions are those of ``right_numbers.py``, cut to 3,000 items. One line per cell, as Markdown; with ``--out`` it
goes on where it stopped.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import right_numbers
from fieldcheck.accuracy import estimators
from fieldcheck.accuracy.assessment.known import Field
from fieldcheck.accuracy.assessment.simulate import play
from fieldcheck.accuracy.designs import Waves
from fieldcheck.accuracy.designs.base import extended
from fieldcheck.core.requirement import look_error
from journal import campaigns

BUDGET, EXTENSIONS, LARGEST = 100, 3, 3_000
POOLS = ("digits_few", "photos_few", "CN12_CIFAR10", "LN5_MNIST")


def claims(field: Field, *, objective: str, seed: int) -> tuple[bool, bool]:
    """Whether "at least" and "below" were ever claimed, each where it is just wrong."""
    truth, budgets = 1 - field.truth, [BUDGET]
    base = Waves(objective=objective, auxiliary="+".join(field.frame.auxiliary))  # type: ignore[arg-type]
    for number in range(EXTENSIONS + 1):
        labelled = play(field, extended(base, tuple(budgets[:-1])), budget=budgets[-1], seed=seed)
        found = estimators.estimate(labelled, level=1 - look_error(number))
        bounds = found.protected or found.interval
        above, below = bounds.high < truth, bounds.low > truth
        if above or below:
            break
        budgets.append(budgets[-1] + budgets[-1] // 4)
    return above, below


def row(name: str, condition: str, objective: str, seeds: range, journal: Path | None) -> str:
    frame, losses = right_numbers.conditioned(name, condition)
    field = Field(name, frame, losses, losses > 0, None, "accuracy", 1 - float(losses.mean()))
    found = campaigns(
        *(journal, (name, condition, objective), seeds),
        lambda part: [claims(field, objective=objective, seed=seed) for seed in part],
    )
    above, below = found.sum(axis=0)
    limit = 0.05 + 2 * math.sqrt(0.05 * 0.95 / len(seeds))
    held = "yes" if above + below <= limit * len(seeds) else "NO"
    return (
        f"| {name} | {field.truth:.2%} | {condition} | {objective} | {len(seeds)} "
        f"| {above:.0f} | {below:.0f} | {(above + below) / len(seeds):.3f} | {held} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--pools", default=",".join(POOLS))
    parser.add_argument("--conditions", default="plain")
    parser.add_argument("--objectives", default=",".join(right_numbers.OBJECTIVES))
    parser.add_argument("--out", type=Path, help="one line per campaign; what it has is not played again")
    given = parser.parse_args()
    right_numbers.LARGEST = LARGEST
    head = ["pool", "accuracy", "condition", "objective", "campaigns", "wrong 'at least'", "wrong 'below'", "wrong"]
    print(f"| {' | '.join(head)} | at most 5 % + 2 se |")
    print("|---" * 9 + "|")
    seeds = range(given.first, given.first + given.campaigns)
    for name in given.pools.split(","):
        for condition in given.conditions.split(","):
            for objective in given.objectives.split(","):
                print(row(name, condition, objective, seeds, given.out), flush=True)


if __name__ == "__main__":
    main()
