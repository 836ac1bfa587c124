"""Does the range of a plan hold, before any label and after the first wave?

    python benchmarks/plan_study.py [--campaigns 20] [--pools tuned|tested] [--conditions plain,shuffled]

The pools that margins and ends of the range were chosen on are those of ``accurate_pools.POOLS``; those that had no
part in it are the published subjects (``FIELDCHECK_DATA``) and ``accurate_pools.TESTED``; all are cut to 5,000 items.
`shuffled`: signals permuted, so that confidence is worth nothing. Of every campaign (`waves`, its default objective,
50 to 800 labels) the half-width of its protected interval is compared with the range that was forecast before it, and
with the one from the labels of its own first wave. One line per pool and condition, as Markdown.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

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

BUDGETS = (50, 100, 200, 400, 800)
SUBJECTS = (
    *("CN5_MNIST", "LN5_MNIST", "VGG16_CIFAR10", "CN12_CIFAR10"),
    *("model_D", "model_E", "model_G", "model_H"),
)
SETS = {"tuned": tuple(POOLS), "tested": (*SUBJECTS, *TESTED)}
Halves = tuple[float, float, float]


@dataclass(frozen=True)
class Trial:
    """One campaign: its half-width, and the forecasts of it; ``random``: the high end of a random sample before."""

    budget: int
    half_width: float
    before: Halves
    after: Halves
    random: float


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--campaigns", type=int, default=20)
    parser.add_argument("--pools", choices=list(SETS), default="tested")
    parser.add_argument("--conditions", default="plain,shuffled")
    given = parser.parse_args()
    print(
        "| pool | condition | failures | believed before | before: holds | high end / random sample's | after: holds "
        "| worst budget | high / low, mean (largest) | middle / seen |"
    )
    print("|---" * 10 + "|")
    for name in SETS[given.pools]:
        for condition in given.conditions.split(","):
            frame, losses = right_numbers.conditioned(name, condition)
            rates = Outlook.of(frame, None).rates
            found = list(trials(frame, losses, given.campaigns))
            print(f"| {name} | {condition} | {losses.mean():.2%} | {row(rates, found)} |", flush=True)


def trials(frame: Frame, losses: npt.NDArray[np.float64], campaigns: int) -> Iterator[Trial]:
    outlook = Outlook.of(frame, None)
    part = frame.part(outlook.items)
    for budget in BUDGETS:
        before = outlook.halves(EVERYTHING, part, budget, level=0.95)
        random = outlook.halves(RANDOM, part, budget, level=0.95)[2]
        for seed in range(campaigns):
            sample = EVERYTHING.draw(frame, losses, budget=budget, seed=seed)
            drawn = losses[sample.items]
            labelled = Labelled(sample, drawn, drawn > 0)
            real = Fit.of(labelled).protected(0.95).width / 2
            known = Outlook.of(frame, first_look(labelled, sample.drawn_as(WaveDraws).sizes[0]))
            after = known.halves(EVERYTHING, frame.part(known.items), budget, level=0.95)
            yield Trial(budget, real, before, after, random)


def row(rates: tuple[float, ...], found: list[Trial]) -> str:
    before = np.array([one.before[0] <= one.half_width <= one.before[2] for one in found])
    after = np.array([one.after[0] <= one.half_width <= one.after[2] for one in found])
    budgets = np.array([one.budget for one in found])
    worst = min(float(after[budgets == one].mean()) for one in BUDGETS)
    span = np.array([one.after[2] / one.after[0] for one in found])
    middle = np.exp(np.mean([np.log(one.after[1] / one.half_width) for one in found]))
    above = np.mean([one.half_width > one.after[2] for one in found])
    low, centre, high = (f"{100 * rate:.2g}" for rate in rates)
    return (
        f"{centre} % ({low} to {high}) | {before.mean():.3f} | {max(one.before[2] / one.random for one in found):.2f} "
        f"| {after.mean():.3f} ({above:.3f} over it) | {worst:.2f} | {span.mean():.1f} ({span.max():.1f}) "
        f"| {middle:.2f}"
    )


if __name__ == "__main__":
    main()
