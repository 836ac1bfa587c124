"""Bets: labels until "at least θ" is proven, beside two baselines, and false claims with the truth on the threshold.

    python benchmarks/bets_study.py [--campaigns 100] [--false 400] [--first 0] [--pools NAME:CONDITION,...]

θ lies two points under the accuracy of each pool (97 % for the perfect one, in which every failure is made right); a
campaign ends undecided after 1,200 labels and counts as 1,200. Baselines: the exact sequence of a simple random sample
(as ``simulate --certify --design srs`` looks at it), and the same bets without signals, whose items all look alike.
Pools are cut to 4,000 items. False claims: the hypothesis is true by the last failure, for either claim, and every one
of the first 300 labels is a look. One line per cell, as Markdown; ``--campaigns 0`` or ``--false 0`` leaves a part out.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
import numpy.typing as npt

import right_numbers
from fieldcheck.accuracy.assessment.certify import CertifyingBets
from fieldcheck.core.pool.frame import Frame
from fieldcheck.numerics.betting import Kinds, Wealth, kinds, most_failures
from fieldcheck.numerics.intervals.sequence import log_evidence
from fieldcheck.numerics.regression.risk import RiskModel, model_of
from fieldcheck.numerics.sampling.schedule import open_schedule

FloatArray = npt.NDArray[np.float64]
MOST, SHORT, SIZE, ERROR = 1200, 300, 4_000, 0.05
PERFECT = "digits_sharp"
CELLS = (
    *("perfect:plain", "one_digit:plain", "even_digits:plain", "limits:plain", "digits_careful:plain"),
    *("digits_strong_decay:plain", "digits_sharp:plain", "digits_few:plain", "digits_faint:plain"),
    *("digits_shifted:plain", "digits_decay:plain", "VGG16_CIFAR10:plain"),
    *("digits_careful:shuffled", "digits_few:shuffled", "digits_faint:shuffled", "digits_decay:shuffled"),
)
ON_THRESHOLD = ("digits_careful", "digits_few")


def campaign(
    model: RiskModel, losses: FloatArray, totals: tuple[float, float], most: int, rng: np.random.Generator
) -> tuple[int | None, int | None]:
    """Labels until each claim is proven, if it is.

    totals
        Failures, at least, and at most, that are to be refuted.
    """
    size = len(losses)
    drawn, items = np.zeros(size, dtype=bool), np.zeros(0, dtype=np.int64)
    above, below = Wealth.against([totals[0]], size), Wealth.against([totals[1]], size, claim="below")
    both, proven = (math.isfinite(totals[0]), math.isfinite(totals[1])), [None, None]
    for count in open_schedule(CertifyingBets.first, most):
        now = kinds(model.expected(model.fit(items, losses[items])), drawn, above)
        for _ in range(count):
            kind, item = _drawn(now, drawn, rng)
            drawn[item], items, loss = True, np.append(items, item), float(losses[item])
            above = above.after(now, kind, loss)
            below = below.after(now, kind, loss) if both[1] else below
            now = now.without(kind)
            for at, wealth in enumerate((above, below)):
                if both[at] and proven[at] is None and wealth.refuted(now, error=ERROR)[0]:
                    proven[at] = len(items)  # type: ignore[call-overload]
            if all(done is not None or not wanted for done, wanted in zip(proven, both, strict=True)):
                return proven[0], proven[1]
    return proven[0], proven[1]


def _drawn(now: Kinds, drawn: npt.NDArray[np.bool_], rng: np.random.Generator) -> tuple[int, int]:
    ends = np.cumsum(now.size * now.count)
    kind = int(np.searchsorted(ends, rng.random() * ends[-1], side="right"))
    there = np.flatnonzero((now.of_item == kind) & ~drawn)
    return kind, int(there[int(rng.random() * len(there))])


def sequence(losses: FloatArray, total: int, rng: np.random.Generator) -> int:
    """Labels until "fewer than ``total`` failures" is proven by a simple random sample."""
    labels, size = np.arange(1, MOST + 1), len(losses)
    found = np.cumsum(rng.permutation(losses)[:MOST]).astype(np.int64)
    totals = np.maximum(np.full(MOST, total), found)  # known failures refute nothing
    evidence = log_evidence(found, labels, totals, population=size, expected=total / size)
    # The other side of the peak is no claim of this kind.
    decided = np.flatnonzero((evidence >= math.log(1 / ERROR)) & (found * size < total * labels))
    return int(decided[0]) + 1 if len(decided) else MOST


def cell(name: str, condition: str) -> tuple[Frame, FloatArray, int]:
    """Frame, losses, and the failures that are to be refuted."""
    frame, losses = right_numbers.conditioned(PERFECT if name == "perfect" else name, condition)
    losses = losses * (name != "perfect")
    threshold = 0.97 if name == "perfect" else round(1 - float(losses.mean()) - 0.02, 9)
    return frame, losses, most_failures(frame.size, threshold) + 1


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--campaigns", type=int, default=100)
    parser.add_argument("--false", type=int, default=400, help="campaigns with the truth on the threshold")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--pools", default=",".join(CELLS))
    given = parser.parse_args()
    right_numbers.LARGEST = SIZE
    if given.campaigns:
        _say("pool", "accuracy", "condition", "SRS", "without signals", "bets", "/ SRS", "/ without (se)", "undecided")
        _say(*["---"] * 9)
    for one in given.pools.split(",") if given.campaigns else ():
        name, condition = one.split(":")
        _say(*measured(name, condition, range(given.first, given.first + given.campaigns)))
    if given.false:
        print()
        _say(f"truth on the threshold, {SHORT} looks", "condition", "false 'at least'", "false 'below'", "of")
        _say(*["---"] * 5)
    for name in ON_THRESHOLD if given.false else ():
        for condition in right_numbers.CONDITIONS:
            _say(*wrong(name, condition, range(given.first, given.first + given.false)))


def measured(name: str, condition: str, seeds: range) -> list[str]:
    frame, losses, total = cell(name, condition)
    model = model_of(frame)
    srs = float(np.mean([sequence(losses, total, np.random.default_rng(seed)) for seed in seeds]))
    rows = [
        [campaign(one, losses, (total, math.inf), MOST, np.random.default_rng(seed))[0] for seed in seeds]
        for one in (model.blind(), model)
    ]
    labels = np.array([[MOST if one is None else one for one in row] for row in rows], dtype=np.float64)
    without, ours = labels.mean(axis=1)
    spread = math.sqrt(float(((labels.std(axis=1) / labels.mean(axis=1)) ** 2).sum()) / len(seeds))
    return [
        *(name, f"{1 - losses.mean():.2%}", condition, f"{srs:.0f}", f"{without:.0f}", f"{ours:.0f}"),
        *(f"{ours / srs:.2f}", f"{ours / without:.2f} ({ours / without * spread:.2f})"),
        f"{rows[1].count(None) / len(seeds):.0%}",
    ]


def wrong(name: str, condition: str, seeds: range) -> list[str]:
    """How often each claim is made where it is just wrong; both are played in one campaign."""
    frame, losses = right_numbers.conditioned(name, condition)
    model, total = model_of(frame), float(losses.sum())
    found = [campaign(model, losses, (total, total), SHORT, np.random.default_rng(seed)) for seed in seeds]
    counts = [sum(one[at] is not None for one in found) for at in range(2)]
    return [f"{name}, {1 - losses.mean():.2%}", condition, *map(str, counts), str(len(seeds))]


def _say(*cells: str) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
