"""Bets: labels until "at least θ" is proven, beside two baselines, and false claims with the truth on the threshold.

    python benchmarks/bets_study.py [--campaigns 60] [--threshold 400]

θ lies two points under the accuracy of each pool (97 % for the perfect one, in which every failure is made right); a
campaign ends undecided after 1,200 labels and counts as 1,200. Baselines: the sequence of a simple random sample, and
the same bets without signals, whose items all look alike. Pools are cut to 4,000 items. False claims: the hypothesis
is true by the last failure, for either claim, and every one of the first 300 labels is a look. One line per cell, as
Markdown.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import get_args

import numpy as np
import numpy.typing as npt

import right_numbers
from fieldcheck.accuracy.assessment.certify import CertifyingBets
from fieldcheck.core.pool.frame import Frame
from fieldcheck.numerics import betting
from fieldcheck.numerics.intervals.sequence import log_evidence
from fieldcheck.numerics.regression.risk import Plain, RiskModel, RiskRule, model_of
from fieldcheck.numerics.sampling.schedule import open_schedule

FloatArray = npt.NDArray[np.float64]
MOST, SHORT, SIZE, ERROR = 1200, 300, 4_000, 0.05
PERFECT = "digits_sharp"
POOLS = (
    *("one_digit", "even_digits", "digits_sharp", "digits_careful"),
    *("digits_decay", "digits_shifted", "VGG16_CIFAR10"),
)
SHUFFLED = ("digits_sharp", "digits_decay")


def believed(frame: Frame, *, signals: bool) -> RiskModel:
    model = model_of(frame)
    if signals:
        return model
    level = float(model.expected(model.prior()).mean())
    flat = np.array([math.log(level / (1 - level))])
    return replace(model, rule=RiskRule(Plain()), mean=flat, sd=np.array([2.0]))


def bet(
    model: RiskModel,
    losses: FloatArray,
    total: int,
    most: int,
    rng: np.random.Generator,
    claim: betting.Claim = "at least",
) -> int | None:
    """Labels until "fewer than ``total`` failures" is proven, or for the claim "below" more; None if it is not."""
    drawn, items = np.zeros(len(losses), dtype=bool), np.zeros(0, dtype=np.int64)
    wealth = betting.Wealth.against([float(total)], len(losses), claim=claim)
    for count in open_schedule(CertifyingBets.first, most):
        expected = model.expected(model.fit(items, losses[items]))
        now = betting.kinds(expected, drawn, total=float(total), found=wealth.found)
        for _ in range(count):
            ends = np.cumsum(now.size * now.count)
            kind = int(np.searchsorted(ends, rng.random() * ends[-1], side="right"))
            item = int(rng.choice(np.flatnonzero((now.of_item == kind) & ~drawn)))
            drawn[item], items = True, np.append(items, item)
            wealth, now = wealth.after(now, kind, float(losses[item])), now.without(kind)
            if wealth.refuted(now, error=ERROR)[0]:
                return len(items)
    return None


def sequence(losses: FloatArray, total: int, expected: float, rng: np.random.Generator) -> int:
    """The same by a simple random sample."""
    labels = np.arange(1, MOST + 1)
    found = np.cumsum(rng.permutation(losses)[:MOST]).astype(np.int64)
    totals = np.maximum(np.full(MOST, total), found)  # known failures refute nothing
    size = len(losses)
    against = log_evidence(found, labels, totals, population=size, expected=expected) >= math.log(1 / ERROR)
    # The other side of the peak is no claim of this kind.
    decided = np.flatnonzero(against & (found * size < total * labels))
    return int(decided[0]) + 1 if len(decided) else MOST


def cells() -> Iterator[tuple[str, str, Frame, FloatArray, int]]:
    """Name, condition, frame, losses, and the failures that are to be refuted."""
    for name, condition in (
        ("perfect", "plain"),
        *((one, "plain") for one in POOLS),
        *((one, "shuffled") for one in SHUFFLED),
    ):
        frame, losses = right_numbers.conditioned(PERFECT if name == "perfect" else name, condition)
        losses = losses * (name != "perfect")
        accuracy = 1 - float(losses.mean())
        yield (
            name,
            condition,
            frame,
            losses,
            betting.most_failures(frame.size, min(accuracy - 0.02, 0.97 if name == "perfect" else 1)) + 1,
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--campaigns", type=int, default=60)
    parser.add_argument("--threshold", type=int, default=400, help="campaigns with the truth on the threshold")
    given = parser.parse_args()
    right_numbers.LARGEST = SIZE
    print(
        "| pool | accuracy | condition | SRS sequence | bets without signals | bets | / SRS | / without | undecided |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name, condition, frame, losses, total in cells():
        models = [believed(frame, signals=signals) for signals in (False, True)]
        level = float(models[1].expected(models[1].prior()).mean())
        seeds = range(given.campaigns)
        plain = [sequence(losses, total, level, np.random.default_rng(seed)) for seed in seeds]
        found = [[bet(one, losses, total, MOST, np.random.default_rng(seed)) for seed in seeds] for one in models]
        srs = float(np.mean(plain))
        without, ours = (float(np.mean([MOST if one is None else one for one in row])) for row in found)
        open_ = found[1].count(None) / given.campaigns
        print(
            f"| {name} | {1 - losses.mean():.2%} | {condition} | {srs:.0f} | {without:.0f} | {ours:.0f} "
            f"| {ours / srs:.2f} | {ours / without:.2f} | {open_:.0%} |",
            flush=True,
        )
    print(
        f"\n| truth on the threshold, {SHORT} looks | condition | false 'at least' | false 'below' |\n|---|---|---|---|"
    )
    for condition in ("plain", "hidden", "shuffled"):
        frame, losses = right_numbers.conditioned(PERFECT, condition)
        model, total = believed(frame, signals=True), int(losses.sum())
        false = [
            sum(bet(model, losses, total, SHORT, rng, claim) is not None for rng in rngs(given.threshold))
            for claim in get_args(betting.Claim)
        ]
        print(f"| {PERFECT} | {condition} | {false[0]} | {false[1]} of {given.threshold} |", flush=True)


def rngs(count: int) -> Iterator[np.random.Generator]:
    return (np.random.default_rng(seed) for seed in range(count))


if __name__ == "__main__":
    main()
