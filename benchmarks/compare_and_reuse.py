"""Labels that a comparison takes, how often it is wrong, and what old labels are worth for a new version.

    python benchmarks/compare_and_reuse.py ../shared/data/subjects --repetitions 400
    python benchmarks/compare_and_reuse.py ../shared/data/subjects --levelled --out campaigns.tsv

``--levelled`` alone measures false differences; with ``--out`` it goes on where it stopped.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fieldcheck import Pool, load
from fieldcheck.accuracy.assessment.known import Field
from fieldcheck.accuracy.assessment.sampling import auxiliary_names, build_design
from fieldcheck.accuracy.assessment.simulate import play, repetition
from fieldcheck.accuracy.comparison.simulate import simulate_comparison, simulate_reuse
from journal import campaigns

PAIRS = (("model_D", "model_E"), ("model_G", "model_H"))
BUDGETS = (50, 100, 200, 400, 800)
WAVES = build_design("waves")

INTRODUCTION = """# Comparing models, and re-using labels

    python benchmarks/compare_and_reuse.py ../shared/data/subjects --repetitions {repetitions}

{repetitions} repetitions a row in the first table, half of it in the others, on the published subjects that share their
items: `model_D` and `model_E`, `model_G` and `model_H`. A root mean squared error (RMSE) is then known to about
±{percent:.0f} % in the first table and ±{coarse:.0f} % in the others.
"""

COMPARED = """
## Difference of two accuracies

*Two SRS campaigns*: labels that two simple random samples, one for each model, would need together for the same RMSE.

| pair | labels | true difference | bias | RMSE | two SRS campaigns | ratio | 95 % interval covers |
|---|---|---|---|---|---|---|---|"""

CERTIFIED = """
## Deciding which one is better

Looked at after every wave until decided, without a limit. *Levelled*: outcomes of random disagreements are exchanged
until both models are equally good, so that every claim is a wrong one; these stop at 800 labels.

| pair | true difference | decided | wrong claims | labels, median | 90th percentile |
|---|---|---|---|---|---|"""

LEVELLED = """
| pair, made equally good | campaigns | claims to 800 labels, any wave | one look at 200 | "future data" | wider there |
|---|---|---|---|---|---|"""

REUSED = """
## Labels of an old version for a new one

A campaign of `waves` on the old version; its labels are judged by the new version's predictions. *Top-up*: a quarter
more labels. *Fresh*: a new campaign of the same total. Errors in units of the RMSE of a simple random sample of that
size.

| old, new | old labels | re-used only | with top-up | fresh, same total | top-up / fresh | 95 % interval covers |
|---|---|---|---|---|---|---|"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("subjects", type=Path)
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument(
        "--levelled", action="store_true", help="only false differences, of models that are equally good"
    )
    parser.add_argument("--items", type=int, default=4_000, help="with --levelled: pools are cut to so many, at random")
    parser.add_argument("--first", type=int, default=0, help="with --levelled: first seed")
    parser.add_argument(
        "--out", type=Path, help="with --levelled: one line per campaign; what it has is not played again"
    )
    given = parser.parse_args()
    repetitions = given.repetitions
    if given.levelled:
        print(LEVELLED)
        for names in PAIRS:
            pair = [load(given.subjects / f"{name}.csv") for name in names]
            kept = np.sort(np.random.default_rng(5).permutation(len(pair[0]))[: given.items])
            seeds = range(given.first, given.first + repetitions)
            row = false_differences(levelled([pool.select(kept) for pool in pair]), seeds, given.out)
            print("| " + " | ".join(row) + " |", flush=True)
        return
    percent = 100 * 1.96 / np.sqrt(2 * repetitions)
    print(INTRODUCTION.format(repetitions=repetitions, percent=percent, coarse=percent * np.sqrt(2)))
    pairs = [[load(given.subjects / f"{name}.csv") for name in pair] for pair in PAIRS]
    for title, rows, count in (
        (COMPARED, compared, repetitions),
        (CERTIFIED, certified, repetitions // 2),
        (REUSED, reused, repetitions // 2),
    ):
        print(title)
        for pair in pairs:
            for row in rows(pair, count):
                print("| " + " | ".join(row) + " |", flush=True)


def rmse(errors: npt.ArrayLike) -> float:
    return float(np.sqrt(np.mean(np.square(errors))))


def named(pair: Sequence[Pool]) -> str:
    return "–".join(pool.name.removeprefix("model_") for pool in pair)


def compared(pair: Sequence[Pool], repetitions: int) -> Iterator[list[str]]:
    """RMSE and coverage by budget."""
    first, second = pair
    spread = sum(float(pool.losses().var()) for pool in pair)
    for budget in BUDGETS:
        found = [
            simulate_comparison([first, second], budget=budget, seed=seed).differences[0] for seed in range(repetitions)
        ]
        errors = np.array([one.value - (one.truth or 0.0) for one in found])
        same = 2 / (rmse(errors) ** 2 / spread + 1 / len(first))
        covers = np.mean([one.truth in one.interval for one in found if one.truth is not None])
        yield [
            named(pair),
            str(budget),
            f"{found[0].truth:+.4f}",
            f"{errors.mean():+.4f}",
            f"{rmse(errors):.4f}",
            f"{same:,.0f}",
            f"{same / budget:.1f}",
            f"{covers:.3f}",
        ]


def levelled(pair: Sequence[Pool]) -> list[Pool]:
    """The pair with outcomes of random disagreements exchanged until both fail equally often."""
    first, second = (pool.losses() > 0 for pool in pair)
    surplus = int(first.sum()) - int(second.sum())
    split = np.flatnonzero((first != second) & (first if surplus > 0 else second))
    chosen = np.random.default_rng(7).permutation(split)[: abs(surplus) // 2]
    for failed in (first, second):
        failed[chosen] = ~failed[chosen]
    return [replace(pool, failed=failed) for pool, failed in zip(pair, (first, second), strict=True)]


def false_differences(pair: Sequence[Pool], seeds: range, journal: Path | None) -> list[str]:
    """Of models that are equally good: how often a difference is claimed, looked at after every wave, or once."""

    def play(part: range) -> list[list[bool]]:
        rows = []
        for seed in part:
            every = simulate_comparison(list(pair), certify=True, budget=800, seed=seed).differences[0]
            once = simulate_comparison(list(pair), budget=200, seed=seed).differences[0]
            here, future = once.interval, once.future
            wider = future.low < here.low and future.high > here.high
            rows.append([every.winner is not None, 0 not in here, 0 not in future, wider])
        return rows

    found = campaigns(journal, (named(pair),), seeds, play).sum(axis=0)
    return [named(pair), str(len(seeds)), *(f"{count:.0f}" for count in found)]


def certified(pair: Sequence[Pool], repetitions: int) -> Iterator[list[str]]:
    """Decisions and wrong ones, on the pair as it is and levelled."""
    for models, name, most in ((list(pair), named(pair), None), (levelled(pair), named(pair) + ", levelled", 800)):
        first, second = models
        found = [
            simulate_comparison([first, second], certify=True, budget=most, seed=seed) for seed in range(repetitions)
        ]
        truth = found[0].differences[0].truth or 0.0
        better = first.name if truth > 1e-12 else second.name if truth < -1e-12 else None
        claims = [one.differences[0].winner for one in found]
        labels = [one.labels for one in found]
        yield [
            name,
            f"{truth:+.4f}",
            f"{np.mean([claim is not None for claim in claims]):.1%}",
            f"{np.mean([claim is not None and claim != better for claim in claims]):.1%}",
            f"{np.median(labels):.0f}",
            f"{np.quantile(labels, 0.9):.0f}",
        ]


def reused(pair: Sequence[Pool], repetitions: int) -> Iterator[list[str]]:
    """Errors of re-use, with and without a top-up, beside a fresh campaign."""
    old, new = (Field.of(pool, auxiliary=auxiliary_names(WAVES, pool)) for pool in pair)
    spread = float(new.losses.var())
    for budget in (100, 200, 400):
        total = budget + round(0.25 * budget)
        plain, topped, fresh, covers = [], [], [], []
        for seed in range(repetitions):
            labelled = play(old, WAVES, budget=budget, seed=seed)
            only = simulate_reuse(labelled, pair[1], labels_unseen=True, top_up=0, seed=seed)
            more = simulate_reuse(labelled, pair[1], labels_unseen=True, seed=seed)
            plain.append(only.value - new.truth)
            topped.append(more.value - new.truth)
            fresh.append(repetition(new, WAVES, budget=total, seed=seed + 1_000_000).value - new.truth)
            covers.append(new.truth in more.interval)
        size = len(new.losses)
        random = [np.sqrt(spread / labels * (1 - labels / size)) for labels in (budget, total, total)]
        ratios = [rmse(errors) / error for errors, error in zip((plain, topped, fresh), random, strict=True)]
        yield [
            named(pair).replace("–", " → "),
            str(budget),
            *(f"{ratio:.2f}" for ratio in ratios),
            f"{ratios[1] / ratios[2]:.2f}",
            f"{np.mean(covers):.3f}",
        ]


if __name__ == "__main__":
    main()
