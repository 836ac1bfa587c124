"""How often campaigns say that signals are useless, reversed or leaking: where they are, and where they are not.

    python benchmarks/signals_judged.py [--campaigns 60] [--pools NAME,...] [--conditions plain,shuffled,...]

Campaigns of `waves` with 400 labels, judged after every wave, as ``estimate``, ``status`` and ``report`` do. *First*:
at the first look with eight failures and eight right answers (leaking: five failures); *ever*: at any look of the
campaign. Conditions: `plain`; `shuffled` (useless); `reversed` (doubt turned round: what looks safest fails most);
`leaking` (a further signal that is the outcome, and a little noise); `constant` (a further signal that is the same for
all). One line per cell, as Markdown; with ``--out`` it goes on where it stopped.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

import right_numbers
from fieldcheck.accuracy.designs import Waves
from fieldcheck.core.pool.frame import Frame
from fieldcheck.numerics.regression import signals
from journal import campaigns

FloatArray = npt.NDArray[np.float64]
LABELS, SIZE = 400, 3_000
TUNED = ("digits_smoothed", "digits_mixup", "digits_sharp", "digits_decay", "digits_shifted", "one_digit")
TESTED = ("digits_scarce", "digits_faint", "digits_careful", "LN5_MNIST", "VGG16_CIFAR10", "CN12_CIFAR10", "model_E")
CONDITIONS = ("plain", "shuffled", "reversed", "leaking", "constant")
ENOUGH = {"useless": signals.ENOUGH, "reversed": signals.ENOUGH, "leaking": signals.ENOUGH_TO_LEAK}
CALIBRATION = ("neither", "over-confident", "under-confident")


def conditioned(name: str, condition: str) -> tuple[Frame, FloatArray]:
    frame, losses = right_numbers.conditioned(name, "shuffled" if condition == "shuffled" else "plain")
    signal = dict(frame.auxiliary)
    if condition == "reversed":
        # Ranks turned round: the values stay what they were, at other items.
        signal = {key: np.sort(values)[::-1][np.argsort(np.argsort(values))] for key, values in signal.items()}
    if condition == "leaking":
        signal["lsa"] = losses + 0.1 * np.random.default_rng(1).random(frame.size)
    if condition == "constant":
        signal["lsa"] = np.ones(frame.size)
    return replace(frame, auxiliary=signal, _memo={}), losses


def looks(frame: Frame, losses: FloatArray, seed: int) -> list[tuple[int, signals.Judgement]]:
    """After each wave: failures (or right answers, if they are fewer), and what is said."""
    design = Waves(first=40, auxiliary="+".join(frame.auxiliary))
    items = design.draw(frame, losses, budget=LABELS, seed=seed).items
    found = []
    for end in design.ends(LABELS):
        failed = losses[items[:end]]
        said = signals.judged(frame, items[:end], failed)
        found.append((int(min(failed.sum(), end - failed.sum())), said))
    return found


def outcome(found: list[tuple[int, signals.Judgement]]) -> list[float]:
    """For each worry: whether it could be said, was said at the first such look, ever; then what was said last."""
    row: list[float] = []
    for kind, least in ENOUGH.items():
        first = next((said for count, said in found if count >= least), None)
        row += [first is not None, bool(first and getattr(first, kind)), any(getattr(said, kind) for _, said in found)]
    last = found[-1][1]
    return [*row, CALIBRATION.index(last.calibration or "neither"), bool(last.constant)]


def row(name: str, condition: str, seeds: range, journal: Path | None) -> str:
    frame, losses = conditioned(name, condition)
    found = campaigns(
        journal, (name, condition), seeds, lambda part: [outcome(looks(frame, losses, seed)) for seed in part]
    )
    cells = [name, f"{1 - losses.mean():.2%}", condition, str(len(seeds))]
    for could, first, ever in found[:, :9].sum(axis=0).reshape(3, 3):
        cells.append(f"{first:.0f} of {could:.0f}, {ever:.0f}")
    words = [CALIBRATION[int(one)] for one in found[:, 9]]
    cells.append(", ".join(f"{words.count(word)} {word}" for word in sorted(set(words))))
    return "| " + " | ".join([*cells, f"{found[:, 10].sum():.0f}"]) + " |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--campaigns", type=int, default=60)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--pools", default=",".join(TESTED))
    parser.add_argument("--conditions", default=",".join(CONDITIONS))
    parser.add_argument("--out", type=Path, help="one line per campaign; what it has is not played again")
    given = parser.parse_args()
    right_numbers.LARGEST = SIZE
    print(
        "| pool | accuracy | condition | campaigns | useless: first, ever | reversed | leaking | calibration "
        "| constant |"
    )
    print("|---" * 9 + "|")
    for name in given.pools.split(","):
        for condition in given.conditions.split(","):
            seeds = range(given.first, given.first + given.campaigns)
            print(row(name, condition, seeds, given.out), flush=True)


if __name__ == "__main__":
    main()
