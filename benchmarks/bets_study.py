"""Bets: labels until "at least θ" is proven, beside two baselines, and false claims with the truth on the threshold.

    python benchmarks/bets_study.py [--campaigns 100] [--false 400] [--first 0] [--pools NAME:CONDITION,...]

θ lies two points under the accuracy of each pool (97 % for the perfect one, in which every failure is made right); a
campaign ends undecided after 1,200 labels and counts as 1,200. Baselines: the exact sequence of a simple random sample
(as ``simulate --certify --design srs`` looks at it), and the same bets without signals, whose items all look alike.
Pools are cut to 4,000 items. False claims: the hypothesis is true by the last failure, for either claim, and every one
of the first 300 labels is a look. One line per cell, as Markdown; ``--campaigns 0`` or ``--false 0`` leaves a part out,
and with ``--out`` it goes on where it stopped.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

import journal
import right_numbers
from fieldcheck.accuracy.assessment.certify import CertifyingBets
from fieldcheck.core.pool.frame import Frame
from fieldcheck.numerics import wealth as betting
from fieldcheck.numerics.betting import most_failures
from fieldcheck.numerics.intervals.sequence import log_evidence
from fieldcheck.numerics.regression.priors import model_of
from fieldcheck.numerics.regression.risk import RiskModel
from fieldcheck.numerics.sampling.schedule import open_schedule
from fieldcheck.numerics.wealth import Claim, Kinds, Wealth, kinds

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
MOST, SHORT, SIZE, ERROR = 1200, 300, 4_000, 0.05
PERFECT = "digits_sharp"
CELLS = (
    *("perfect:plain", "one_digit:plain", "even_digits:plain", "limits:plain", "digits_careful:plain"),
    *("digits_strong_decay:plain", "digits_sharp:plain", "digits_scarce:plain", "digits_faint:plain"),
    *("digits_shifted:plain", "digits_decay:plain", "VGG16_CIFAR10:plain"),
    *("digits_careful:shuffled", "digits_scarce:shuffled", "digits_faint:shuffled", "digits_decay:shuffled"),
)
ON_THRESHOLD = ("digits_careful", "digits_scarce", "digits_few")
TOGETHER = 50
"""So many campaigns are played side by side."""


@dataclass(frozen=True, eq=False)
class Claimed:
    """The bets of many campaigns side by side: one row per campaign, as ``Wealth`` has them one by one.

    total
        Failures to be refuted.
    products
        One column per bet.
    """

    total: float
    size: int
    claim: Claim
    products: FloatArray
    found: FloatArray

    @classmethod
    def start(cls, total: float, size: int, claim: Claim, campaigns: int) -> Claimed:
        return cls(total, size, claim, np.ones((campaigns, len(betting.SHARES))), np.zeros(campaigns))

    def of(self, campaign: int) -> Wealth:
        blank = Wealth.against([self.total], self.size, claim=self.claim)
        return replace(blank, found=float(self.found[campaign]), products=self.products[campaign][None])

    def factors(self, wave: Wave, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """For a label against the claim and one that speaks for it: campaign, bet, kind."""
        risk, count = wave.risk, wave.count
        items = count.sum(axis=1)
        left = np.clip(self.left_of(rows, items), 1e-9, items - 1e-9)
        weight = (betting.BEFORE + self.size - items)[:, None]
        level = (
            self.found[rows, None] + betting.BEFORE * (risk * count).sum(axis=1, keepdims=True) / items[:, None]
        ) / weight
        alike = np.repeat(np.clip(level, 1e-6, 1 - 1e-4), risk.shape[1], axis=1)[:, None]
        if self.claim == "at least":
            raised = risk[:, None] + betting.CAREFUL[:, None] / weight[:, :, None] * (1 - risk[:, None])
            raised = np.concatenate([raised, alike], axis=1)
            scale = np.minimum(betting.BOLD * left[:, None] / (raised * count[:, None]).sum(axis=2), 1.0)
            against = raised * scale[:, :, None]
        else:
            plain = np.concatenate([np.repeat(risk[:, None], len(betting.CAREFUL), axis=1), alike], axis=1)
            most = np.maximum((items - left)[:, None] / betting.BOLD, 1e-9)
            scale = np.maximum(most / (plain * count[:, None]).sum(axis=2), 1.0)
            against = 1 - np.minimum(plain * scale[:, :, None], 0.99)
        return betting.stakes(wave.chances()[:, None], against, count[:, None], left[:, None])

    def left_of(self, rows: IntArray, items: FloatArray) -> FloatArray:
        failures = self.total - self.found[rows]
        return failures if self.claim == "at least" else items - failures

    def take(self, wave: Wave, rows: IntArray, kinds_: IntArray, losses: FloatArray) -> None:
        """One label for each of these campaigns."""
        against, speaking = self.factors(wave, rows)
        items, at = wave.count.sum(axis=1), np.arange(len(rows))
        left = self.left_of(rows, items)
        fails = losses == (1.0 if self.claim == "at least" else 0.0)
        factor = np.where(fails[:, None], against[at, :, kinds_], speaking[at, :, kinds_])
        factor = np.where((left >= items)[:, None], np.where(fails[:, None], 1.0, np.inf), factor)
        factor = np.where((left <= 0)[:, None], 0.0, factor)
        with np.errstate(invalid="ignore"):
            self.products[rows] = np.where(self.products[rows] == 0, 0.0, self.products[rows] * factor)
        self.found[rows] += losses


@dataclass(frozen=True, eq=False)
class Wave:
    """The kinds of campaigns side by side, filled up with empty ones."""

    risk: FloatArray
    size: FloatArray
    count: FloatArray
    queues: list[list[list[int]]]

    @classmethod
    def of(cls, found: list[Kinds], rngs: list[np.random.Generator]) -> Wave:
        shape = len(found), betting.BINS
        risk, size, count = np.full(shape, 0.5), np.ones(shape), np.zeros(shape)
        queues = []
        for row, (one, rng) in enumerate(zip(found, rngs, strict=True)):
            many = len(one.count)
            risk[row, :many], size[row, :many], count[row, :many] = one.risk, one.size, one.count
            order = rng.permutation(np.flatnonzero(one.of_item >= 0))
            queues.append([order[one.of_item[order] == kind].tolist() for kind in range(many)])
        return cls(risk, size, count, queues)

    def chances(self) -> FloatArray:
        found: FloatArray = self.size / (self.size * self.count).sum(axis=1, keepdims=True)
        return found

    def draw(self, rngs: list[np.random.Generator]) -> tuple[IntArray, IntArray]:
        """Kind and item of each campaign; an order drawn beforehand is as random as one drawn label by label."""
        ends = np.cumsum(self.size * self.count, axis=1)
        points = np.array([rng.random() for rng in rngs]) * ends[:, -1]
        drawn = np.array([np.searchsorted(row, at, side="right") for row, at in zip(ends, points, strict=True)])
        return drawn, np.array([queue[kind].pop() for queue, kind in zip(self.queues, drawn, strict=True)])


def campaigns(
    model: RiskModel, losses: FloatArray, totals: tuple[float, float | None], most: int, seeds: range
) -> list[list[int | None]]:
    """Labels until each claim is proven, if it is, for every campaign.

    totals
        Failures, at least, and at most, that are to be refuted; None: "below" is not claimed.
    """
    size, many = len(losses), len(seeds)
    rngs = [np.random.default_rng(seed) for seed in seeds]
    drawn, items = np.zeros((many, size), dtype=bool), [np.zeros(0, dtype=np.int64)] * many
    claims = [Claimed.start(totals[0], size, "at least", many)]
    if totals[1] is not None:
        claims.append(Claimed.start(totals[1], size, "below", many))
    proven: list[list[int | None]] = [[None] * many for _ in claims]
    labels = 0
    for count in open_schedule(CertifyingBets.first, most):
        rows = np.array([row for row in range(many) if any(one[row] is None for one in proven)], dtype=np.int64)
        if not len(rows):
            break
        beliefs = [model.expected(model.fit(items[row], losses[items[row]])) for row in rows]
        found = [kinds(one, drawn[row], claims[0].of(row)) for row, one in zip(rows, beliefs, strict=True)]
        own = [rngs[row] for row in rows]
        wave = Wave.of(found, own)
        _same_as_one_by_one(claims, wave, rows, found[0])
        new = []
        for _ in range(count):
            kind, item = wave.draw(own)
            for one in claims:
                one.take(wave, rows, kind, losses[item])
            wave.count[np.arange(len(rows)), kind] -= 1
            labels += 1
            new.append(item)
            for one, at in zip(claims, proven, strict=True):
                left = wave.count.sum(axis=1)
                done = (one.products[rows] @ betting.SHARES >= 1 / ERROR) | (one.left_of(rows, left) > left)
                for row in rows[done]:
                    at[row] = labels if at[row] is None else at[row]
        for column, row in enumerate(rows):
            mine = np.array(new)[:, column]
            drawn[row, mine], items[row] = True, np.append(items[row], mine)
    return proven


def _same_as_one_by_one(claims: list[Claimed], wave: Wave, rows: IntArray, first: Kinds) -> None:
    """What is played side by side is what the product plays."""
    for one in claims:
        if 0 < one.left_of(rows, wave.count.sum(axis=1))[0] < wave.count[0].sum():
            for ours, real in zip(one.factors(wave, rows), one.of(rows[0]).factors(first), strict=True):
                np.testing.assert_allclose(ours[0, :, : len(first.count)], real[0], rtol=1e-5)


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
    parser.add_argument("--on-threshold", default=",".join(ON_THRESHOLD), help="pools of the false claims")
    parser.add_argument("--out", type=Path, help="one line per campaign; what it has is not played again")
    given = parser.parse_args()
    right_numbers.LARGEST = SIZE
    if given.campaigns:
        _say(
            "pool",
            "accuracy",
            "condition",
            "SRS",
            "without signals",
            "bets",
            "/ SRS",
            "/ without (se)",
            "undecided",
            "campaigns",
        )
        _say(*["---"] * 10)
    for one in given.pools.split(",") if given.campaigns else ():
        name, condition = one.split(":")
        _say(*measured(name, condition, range(given.first, given.first + given.campaigns), given.out))
    if given.false:
        print()
        _say(f"truth on the threshold, {SHORT} looks", "condition", "false 'at least'", "false 'below'", "of")
        _say(*["---"] * 5)
    for name in given.on_threshold.split(",") if given.false else ():
        for condition in right_numbers.CONDITIONS:
            _say(*wrong(name, condition, range(given.first, given.first + given.false), given.out))


def measured(name: str, condition: str, seeds: range, out: Path | None) -> list[str]:
    frame, losses, total = cell(name, condition)
    model = model_of(frame)

    def play(part: range) -> list[list[float]]:
        both = [campaigns(one, losses, (total, None), MOST, part)[0] for one in (model.blind(), model)]
        random = [sequence(losses, total, np.random.default_rng(seed)) for seed in part]
        decided = [one is not None for one in both[1]]
        labels = [[MOST if one is None else one for one in row] for row in both]
        return [list(row) for row in zip(random, *labels, decided, strict=True)]

    found = journal.campaigns(out, (name, condition), seeds, play, together=TOGETHER)
    srs, without, ours, decided = found.mean(axis=0)
    spread = math.sqrt(float(((found[:, 1:3].std(axis=0) / found[:, 1:3].mean(axis=0)) ** 2).sum()) / len(seeds))
    return [
        *(name, f"{1 - losses.mean():.2%}", condition, f"{srs:.0f}", f"{without:.0f}", f"{ours:.0f}"),
        *(f"{ours / srs:.2f}", f"{ours / without:.2f} ({ours / without * spread:.2f})"),
        *(f"{1 - decided:.0%}", str(len(seeds))),
    ]


def wrong(name: str, condition: str, seeds: range, out: Path | None) -> list[str]:
    """How often each claim is made where it is just wrong; both are played in one campaign."""
    frame, losses = right_numbers.conditioned(name, condition)
    model, total = model_of(frame), float(losses.sum())

    def play(part: range) -> list[list[float]]:
        both = campaigns(model, losses, (total, total), SHORT, part)
        return [[one is not None for one in row] for row in zip(*both, strict=True)]

    found = journal.campaigns(out, (name, condition, "on the threshold"), seeds, play, together=TOGETHER)
    counts = [f"{one:.0f}" for one in found.sum(axis=0)]
    return [f"{name}, {1 - losses.mean():.2%}", condition, *counts, str(len(seeds))]


def _say(*cells: str) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
