"""Labels until the protected interval is ± two points, beside a simple random sample that knew the rate.

    python benchmarks/half_width.py [--campaigns 60] [--target 0.02] [--pools NAME,...] [--conditions plain,shuffled]

A simple random sample that knew the rate: the fewest labels whose exact interval is expected to be that narrow (in
brackets: by the normal approximation, which is too few where failures are rare). Pools are cut to 4,000 items. One
line per cell, as Markdown; with ``--out`` it goes on where it stopped.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt

import right_numbers
from fieldcheck.accuracy.assessment.known import Field
from fieldcheck.accuracy.assessment.simulate import run_until
from fieldcheck.accuracy.assessment.stopping import HalfWidth
from fieldcheck.accuracy.designs import Waves
from journal import campaigns

SIZE = 4_000
POOLS = (
    *("model_E", "CN12_CIFAR10", "digits_scarce", "VGG16_CIFAR10", "digits_faint"),
    *("LN5_MNIST", "digits_careful", "even_digits"),
)


def known_rate(losses: npt.NDArray[np.float64], target: float) -> int:
    """By bisection: the exact interval narrows with the labels."""
    low, high, failures = 20, len(losses), int(losses.sum())
    while low < high:
        middle = (low + high) // 2
        narrow = right_numbers.exact_width(failures, middle, len(losses)) / 2 <= target
        low, high = (low, middle) if narrow else (middle + 1, high)
    return low


def row(name: str, condition: str, target: float, seeds: range, journal: Path | None) -> str:
    frame, losses = right_numbers.conditioned(name, condition)
    field = Field(name, frame, losses, losses > 0, None, "accuracy", 1 - float(losses.mean()))
    design = Waves(auxiliary="+".join(frame.auxiliary))

    def play(part: range) -> list[list[float]]:
        stops = [run_until(field, design, HalfWidth(target), max_labels=frame.size, seed=seed) for seed in part]
        ends = [[0, *(look.labels for look in stop.looks)] for stop in stops]
        return [
            [stop.labels, field.truth in stop.estimate.interval, len(stop.looks), end[-1] - end[-2]]
            for stop, end in zip(stops, ends, strict=True)
        ]

    found = campaigns(journal, (name, condition, str(target)), seeds, play)
    labels, covered, waves, last = found.mean(axis=0)
    exact, plain = known_rate(losses, target), float(losses.var()) * (1.96 / target) ** 2
    error, normal = found[:, 0].std() / np.sqrt(len(seeds)) / exact, plain / (1 + plain / frame.size)
    return (
        f"| {name} | {field.truth:.2%} | {condition} | {len(seeds)} | {labels:.0f} | {exact} ({normal:.0f}) "
        f"| {labels / exact:.2f} ± {error:.2f} | {covered:.3f} | {waves:.0f} | {last:.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--campaigns", type=int, default=60)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--target", type=float, default=0.02)
    parser.add_argument("--pools", default=",".join(POOLS))
    parser.add_argument("--conditions", default="plain,shuffled")
    parser.add_argument("--out", type=Path, help="one line per campaign; what it has is not played again")
    given = parser.parse_args()
    right_numbers.LARGEST = SIZE
    print(
        "| pool | accuracy | condition | campaigns | labels | SRS that knew the rate | ratio | coverage | waves "
        "| last wave |"
    )
    print("|---" * 10 + "|")
    for name in given.pools.split(","):
        for condition in given.conditions.split(","):
            seeds = range(given.first, given.first + given.campaigns)
            print(row(name, condition, given.target, seeds, given.out), flush=True)


if __name__ == "__main__":
    main()
