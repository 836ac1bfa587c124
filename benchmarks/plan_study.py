"""Does the range of a plan hold, before any label and after the first wave?

    python benchmarks/plan_study.py [--campaigns 20] [--pools tuned|tested|NAME,...] [--conditions plain,shuffled]

The pools that margins and ends of the range were chosen on are those of ``accurate_pools.POOLS``; those that had no
part in it are the published subjects (``FIELDCHECK_DATA``) and ``accurate_pools.TESTED``; all are cut to 5,000 items.
`shuffled`: signals permuted, so that confidence is worth nothing. Of every campaign (`waves`, its default objective,
50 to 800 labels) the half-width of its protected interval is compared with the range that was forecast before it, and
with the one from the labels of its own first wave. One line per pool and condition, as Markdown; with ``--out`` it goes
on where it stopped.
"""

from __future__ import annotations

import argparse
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

import right_numbers
from accurate_pools import POOLS, TESTED
from fieldcheck.accuracy.assessment.planning.outlook import EVERYTHING, RANDOM, Outlook
from fieldcheck.accuracy.assessment.stopping import first_look
from fieldcheck.accuracy.estimators.model_assisted import Fit
from fieldcheck.core.draws import WaveDraws
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.sample import Labelled
from journal import FloatArray, campaigns

BUDGETS = (50, 100, 200, 400, 800)
SUBJECTS = (
    *("CN5_MNIST", "LN5_MNIST", "VGG16_CIFAR10", "CN12_CIFAR10"),
    *("model_D", "model_E", "model_G", "model_H"),
)
SETS = {"tuned": tuple(POOLS), "tested": (*SUBJECTS, *TESTED)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--campaigns", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--pools", default="tested")
    parser.add_argument("--budgets", default=",".join(map(str, BUDGETS)))
    parser.add_argument("--conditions", default="plain,shuffled")
    parser.add_argument("--out", type=Path, help="one line per campaign; what it has is not played again")
    given = parser.parse_args()
    budgets = [int(one) for one in given.budgets.split(",")]
    seeds = range(given.first, given.first + given.campaigns)
    print(
        "| pool | condition | campaigns | failures | believed before | before: holds | high end / random sample's "
        "| after: holds "
        "| worst budget | high / low, mean (largest) | middle / seen |"
    )
    print("|---" * 11 + "|")
    for name in SETS.get(given.pools) or given.pools.split(","):
        for condition in given.conditions.split(","):
            frame, losses = right_numbers.conditioned(name, condition)
            rates = Outlook.of(frame, None).rates
            cell = (name, condition)
            found = [looks(frame, losses, budget, seeds, (*cell, str(budget)), given.out) for budget in budgets]
            print(f"| {name} | {condition} | {len(seeds)} | {losses.mean():.2%} | {row(rates, found)} |", flush=True)


def looks(
    frame: Frame,
    losses: npt.NDArray[np.float64],
    budget: int,
    seeds: range,
    cell: tuple[str, ...],
    journal: Path | None,
) -> FloatArray:
    """One row per campaign: its half-width; low end, middle and high end of the forecast before any label, the same
    after its first wave; and the high end of a random sample, before."""

    @lru_cache
    def forecast() -> tuple[float, ...]:
        outlook = Outlook.of(frame, None)
        part = frame.part(outlook.items)
        random = outlook.halves(RANDOM, part, budget, level=0.95)[2]
        return *outlook.halves(EVERYTHING, part, budget, level=0.95), random

    def play(part: range) -> list[list[float]]:
        rows = []
        for seed in part:
            sample = EVERYTHING.draw(frame, losses, budget=budget, seed=seed)
            drawn = losses[sample.items]
            labelled = Labelled(sample, drawn, drawn > 0)
            real = Fit.of(labelled).protected(0.95).width / 2
            known = Outlook.of(frame, first_look(labelled, sample.drawn_as(WaveDraws).sizes[0]))
            after = known.halves(EVERYTHING, frame.part(known.items), budget, level=0.95)
            *before, random = forecast()
            rows.append([real, *before, *after, random])
        return rows

    return campaigns(journal, cell, seeds, play)


def row(rates: tuple[float, ...], found: list[FloatArray]) -> str:
    """found: one table per budget."""
    half, low_before, _, high_before, low, middle, high, random = np.concatenate(found).T
    before, after = (low_before <= half) & (half <= high_before), (low <= half) & (half <= high)
    worst = min(float(part.mean()) for part in np.split(after, len(found)))
    span, off = high / low, np.exp(np.mean(np.log(middle / half)))
    least, centre, most = (f"{100 * rate:.2g}" for rate in rates)
    return (
        f"{centre} % ({least} to {most}) | {before.mean():.3f} | {(high_before / random).max():.2f} "
        f"| {after.mean():.3f} ({(half > high).mean():.3f} over it) | {worst:.2f} "
        f"| {span.mean():.1f} ({span.max():.1f}) | {off:.2f}"
    )


if __name__ == "__main__":
    main()
