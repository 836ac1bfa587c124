"""Labels that train: how well the kept ones judge a version that was trained on the others.

    python benchmarks/training_study.py [--campaigns 500] [--labels 200] [--out cells.tsv]

A field of 4,000 items with a confidence that tells failures well (`strong`) or hardly at all (`weak`). Every campaign
draws its labels with train share one half. The new version is right on what it was trained on and either on a random
third of the other failures (`ordinary`), or on everything near an item that it was trained on, in the order of the
confidence (`near`). Errors are relative to those of a fresh simple random sample with as many labels as were kept
(exact formula); `naive` is the bias of re-using all labels. `top-up` adds a quarter of the labels, and is compared with
as many in all.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np

import fieldcheck as fc
from fieldcheck.accuracy import designs, estimators
from fieldcheck.accuracy.assessment import sampling
from fieldcheck.accuracy.comparison import reuse
from fieldcheck.accuracy.designs.base import Design
from fieldcheck.core.sample import Labelled

SIZE, NEAR = 4_000, 8


def field(signal: str) -> tuple[np.ndarray, np.ndarray]:
    """Failures of the old version, and its confidence."""
    rng = np.random.default_rng(11)
    hard = rng.normal(size=SIZE)
    wrong = rng.random(SIZE) < 1 / (1 + np.exp(2.4 - 1.3 * hard))
    noise = {"strong": 0.8, "weak": 4.0}[signal]
    seen = (hard + noise * rng.normal(size=SIZE)) / math.hypot(1, noise)
    return wrong, np.clip(1 / (1 + np.exp(-2.0 + 1.5 * seen)), 0.01, 0.999)


def pool_of(wrong: np.ndarray, confidence: np.ndarray) -> fc.Pool:
    """Of five classes, none of which fails more often: what is predicted gives nothing away."""
    truth = np.arange(len(wrong)) % 5
    names = np.array(["a", "b", "c", "d", "e"])
    return fc.from_arrays(y_pred=names[(truth + wrong) % 5], y_true=names[truth], confidence=confidence)


def campaign(design: Design, old: fc.Pool, wrong: np.ndarray, labels: int, seed: int) -> tuple[Labelled, np.ndarray]:
    sample = design.draw(sampling.frame_for(old, design, None), wrong.astype(float), budget=labels, seed=seed)
    train = sample.train
    if train is None:
        train = np.random.default_rng(seed).random(labels) < 0.5
    return Labelled(sample, wrong[sample.items].astype(float), wrong[sample.items]), train


def judged(kept: reuse.Kept, new: np.ndarray, confidence: np.ndarray, top_up: int, seed: int) -> tuple[float, ...]:
    """Error of the estimate, whether each interval holds the truth, and the error of a fresh sample of that size."""
    version = pool_of(new, confidence).select(kept.left)
    left = new[kept.left].astype(float)
    carried = reuse.Carried(kept.items, left[kept.items], kept.chance)
    frame = reuse.frame_of(version)
    top = reuse.draw_top_up(frame, carried, top_up, seed=seed)
    found = estimators.estimate(reuse.pooled(frame, carried, top, left[top.items], measure=version.measure()))
    truth, count = float(left.mean()), len(kept.items) + top_up
    fresh = truth * (1 - truth) / count * (1 - count / len(left)) * len(left) / (len(left) - 1)
    holds = [one.low <= truth <= one.high for one in (found.interval, found.beside or found.interval)]
    return (found.value - truth, *holds, fresh)


def cell(name: str, signal: str, change: str, labels: int, campaigns: int, top_up: int) -> dict[str, object]:
    wrong, confidence = field(signal)
    old, place = pool_of(wrong, confidence), np.argsort(np.argsort(confidence, kind="stable"))
    design = (
        designs.registry.build("srs") if name == "srs" else designs.registry.build(f"waves:objective={name},train=0.5")
    )
    rows, naive = [], []
    for seed in range(10_000, 10_000 + campaigns):
        labelled, train = campaign(design, old, wrong, labels, seed)
        taught = labelled.sample.items[train]
        new = wrong & (np.random.default_rng(seed).random(SIZE) < 2 / 3)
        if change == "near":
            new = wrong & ~(np.abs(place[:, None] - place[taught][None, :]) <= NEAR).any(axis=1)
        new[taught] = False
        chance = reuse.old_chances(labelled)
        history = reuse.History(labelled.sample.items, train, taught, chance, 0.5 * chance)
        rows.append(judged(history.kept(np.zeros(0, dtype=np.int64)), new, confidence, top_up, seed))
        naive.append(judged(history.all(), new, confidence, 0, seed)[0])
    errors, first, second, fresh = np.array(rows, dtype=float).T
    unit = math.sqrt(fresh.mean())
    return {
        "design": name,
        "signal": signal,
        "change": change,
        "top_up": top_up,
        "campaigns": campaigns,
        "bias_over_se": errors.mean() / unit,
        "mc_error": errors.std(ddof=1) / math.sqrt(campaigns) / unit,
        "bias": errors.mean(),
        "rmse_over_fresh": math.sqrt((errors**2).mean()) / unit,
        "coverage": first.mean(),
        "coverage_beside": second.mean(),
        "naive_bias": float(np.mean(naive)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=500)
    parser.add_argument("--labels", type=int, default=200)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    cells = [
        (name, "strong", change, 0)
        for name in ("srs", "estimate", "balanced", "expose")
        for change in ("ordinary", "near")
    ]
    cells += [
        ("expose", "strong", "ordinary", given.labels // 4),
        ("estimate", "weak", "ordinary", 0),
        ("protected", "strong", "ordinary", 0),
    ]
    lines: list[str] = []
    for name, signal, change, top_up in cells:
        row = cell(name, signal, change, given.labels, given.campaigns, top_up)
        if not lines:
            lines.append("\t".join(row))
            print(lines[0], flush=True)
        lines.append("\t".join(f"{value:.4f}" if isinstance(value, float) else str(value) for value in row.values()))
        print(lines[-1], flush=True)
    if given.out is not None:
        given.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
