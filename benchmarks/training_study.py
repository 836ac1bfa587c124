"""Labels that train: how well the kept ones judge a version that was trained on the others.

    python benchmarks/training_study.py [--campaigns 500] [--labels 200] [--out campaigns.tsv]

Fields of 4,000 items: simulated ones whose confidence tells failures hardly at all (`weak`) or worse than any real
network's (`moderate`), items of the published subjects, and `digits`, shifted MNIST images on which a classifier is
trained again for each campaign. Every campaign draws its labels with train share one half. But for `digits`, the new
version is right on what it was trained on and either on a random third of the other failures (`ordinary`), or on
everything near an item that it was trained on, in the order of the confidence (`near`). Errors are relative to those of
a fresh simple random sample with as many labels as were kept (exact formula); `naive`, for `near`, is the bias of
re-using all labels. `top-up` adds a quarter of the labels, and is compared with as many in all. `rounds` trains and
judges so many times, with a top-up of a quarter in each round after the first, half of it to train with; the last
version is judged.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np
from scipy.special import softmax
from sklearn.kernel_approximation import Nystroem

import fieldcheck as fc
from fieldcheck.accuracy import designs, estimators
from fieldcheck.accuracy.assessment import sampling
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.comparison import reuse
from fieldcheck.accuracy.designs.base import Design
from fieldcheck.core.sample import Labelled
from journal import campaigns
from networks import data_folder, mnist

SIZE, NEAR, SHARE = 4_000, 8, 0.5
NONE = np.zeros(0, dtype=np.int64)
PUBLISHED = ("VGG16_CIFAR10", "CN12_CIFAR10", "model_G")


@dataclass(frozen=True)
class Version:
    """What a version says about every item, and how sure it is."""

    said: np.ndarray
    confidence: np.ndarray


@dataclass(frozen=True)
class Field:
    """Items, the first version, and how the next one comes about from items to train with and a seed."""

    truth: np.ndarray
    first: Version
    learn: Callable[[np.ndarray, int], Version]

    def wrong(self, version: Version) -> np.ndarray:
        return np.asarray(version.said != self.truth)

    def pool(self, version: Version) -> fc.Pool:
        names = np.array([f"class {number}" for number in range(10)])
        return fc.from_arrays(
            y_pred=names[version.said], y_true=names[self.truth], confidence=np.clip(version.confidence, 0.01, 0.9999)
        )


def mended(wrong: np.ndarray, confidence: np.ndarray, change: str) -> Field:
    """Of five classes, none of which fails more often: what is predicted gives nothing away."""
    truth, place = np.arange(len(wrong)) % 5, np.argsort(np.argsort(confidence, kind="stable"))

    def version(fails: np.ndarray) -> Version:
        return Version((truth + fails) % 5, confidence)

    def learn(taught: np.ndarray, seed: int) -> Version:
        if change == "near":
            still = wrong & ~(np.abs(place[:, None] - place[taught][None, :]) <= NEAR).any(axis=1)
        else:
            still = wrong & (np.random.default_rng(seed).random(len(wrong)) < 2 / 3)
        still[taught] = False
        return version(still)

    return Field(truth, version(wrong), learn)


def simulated(noise: float, change: str) -> Field:
    rng = np.random.default_rng(11)
    hard = rng.normal(size=SIZE)
    wrong = rng.random(SIZE) < 1 / (1 + np.exp(2.4 - 1.3 * hard))
    seen = (hard + noise * rng.normal(size=SIZE)) / math.hypot(1, noise)
    return mended(wrong, np.clip(1 / (1 + np.exp(-2.0 + 1.5 * seen)), 0.01, 0.999), change)


def published(name: str, change: str) -> Field:
    pool = fc.load(data_folder() / "subjects" / f"{name}.csv")
    chosen = np.random.default_rng(11).permutation(len(pool))[:SIZE]
    confidence = 1 - derived.frame(pool, ["confidence"]).auxiliary["confidence"]
    return mended(pool.losses()[chosen] > 0, confidence[chosen], change)


def shifted(images: np.ndarray, seed: int) -> np.ndarray:
    """Turned by up to 20 degrees, and moved by up to one pixel."""
    rng = np.random.default_rng(seed)
    found = np.empty(images.shape, np.float32)
    for at, image in enumerate(images):
        turn = cv2.getRotationMatrix2D((13.5, 13.5), float(rng.uniform(-20, 20)), 1.0)
        turn[:, 2] += rng.integers(-1, 2, size=2)
        found[at] = cv2.warpAffine(image.astype(np.float32), turn, (28, 28))
    return found.reshape(len(images), -1) / 255


def digits() -> Field:
    """A kernel machine, fitted by least squares. The first version has seen 2,000 upright digits; the next one also
    those to train with, three times each."""
    (known, labels), (images, truth) = mnist("train"), mnist("test")
    upright = known[:2_000].reshape(2_000, -1) / 255
    kernel = Nystroem(gamma=0.02, n_components=300, random_state=0).fit(upright)
    seen, field = kernel.transform(upright), kernel.transform(shifted(images[:SIZE], 11))
    squares, sums = seen.T @ seen + 0.05 * np.eye(300), seen.T @ np.eye(10)[labels[:2_000]]

    def train(taught: np.ndarray) -> Version:
        more = field[taught]
        weights = np.linalg.solve(squares + 3 * more.T @ more, sums + 3 * more.T @ np.eye(10)[truth[taught]])
        chances = softmax(6 * field @ weights, axis=1)
        return Version(chances.argmax(axis=1), chances.max(axis=1))

    return Field(truth[:SIZE], train(NONE), lambda taught, _: train(taught))


@lru_cache
def field_of(name: str, change: str) -> Field:
    if name in PUBLISHED:
        return published(name, change)
    return digits() if name == "digits" else simulated({"moderate": 0.8, "weak": 4.0}[name], change)


def design_of(name: str) -> Design:
    return designs.registry.build(name if name in ("srs", "deepest") else f"waves:objective={name},train={SHARE}")


@dataclass(frozen=True)
class Judged:
    """One version, judged: error, whether the intervals hold the truth, and the variance of a fresh random sample."""

    error: float
    holds: bool
    holds_beside: bool
    fresh: float


def judged(
    field: Field, version: Version, kept: reuse.Kept, seed: int, *, top_up: int, share: float = 0.0
) -> tuple[Judged, reuse.History]:
    left = np.arange(len(field.truth)) if kept.left is None else kept.left
    pool, wrong = field.pool(version).select(left), field.wrong(version)[left].astype(float)
    carried = reuse.Carried(kept.items, wrong[kept.items], kept.chance)
    frame = reuse.frame_of(pool)
    top = reuse.draw_top_up(frame, carried, top_up, seed=seed, train=share)
    losses = wrong[top.items]
    found = estimators.estimate(reuse.pooled(frame, carried, top, losses, measure=pool.measure()))
    truth, count, size = float(wrong.mean()), len(kept.items) + top_up, len(wrong)
    fresh = truth * (1 - truth) / count * (1 - count / size) * size / (size - 1)
    first, second = found.interval, found.beside or found.interval
    apart = np.zeros(top_up, dtype=bool) if top.train is None else top.train
    wave = reuse.top_up_chance(frame, top, losses)
    later = kept.and_then(top.items, apart, wave, train_share=share, population=len(field.truth))
    return Judged(found.value - truth, truth in first, truth in second, fresh), later


def first_round(field: Field, design: Design, labels: int, seed: int) -> reuse.History:
    wrong = field.wrong(field.first)
    frame = sampling.frame_for(field.pool(field.first), design, None)
    sample = design.draw(frame, wrong.astype(float), budget=labels, seed=seed)
    train = np.random.default_rng(seed).random(labels) < SHARE if sample.train is None else sample.train
    labelled = Labelled(sample, wrong[sample.items].astype(float), wrong[sample.items])
    chance = design.chances(frame, labels) if hasattr(design, "chances") else None
    known = reuse.old_chances(labelled, by_design=chance)
    return reuse.History.first(sample.items, train, known, train_share=SHARE)


@dataclass(frozen=True)
class Cell:
    """One row of the table."""

    field: str
    design: str
    change: str = "ordinary"
    top_up: float = 0.0
    rounds: int = 1

    def once(self, labels: int, seed: int) -> tuple[Judged, float]:
        field, more = field_of(self.field, self.change), labels // 4
        history, size = first_round(field, design_of(self.design), labels, seed), len(field.truth)
        version = field.learn(history.gone, seed)
        naive = math.nan
        if self.change == "near":
            naive = judged(field, version, history.all(), seed, top_up=0)[0].error
        for number in range(1, self.rounds):
            _, history = judged(field, version, history.kept(NONE, population=size), seed, top_up=more, share=SHARE)
            version = field.learn(history.gone, seed + 1_000_000 * number)
        found, _ = judged(field, version, history.kept(NONE, population=size), seed, top_up=round(self.top_up * labels))
        return found, naive

    def measured(self, seeds: range, labels: int, journal: Path | None) -> dict[str, object]:
        def play(part: range) -> list[list[float]]:
            both = [self.once(labels, seed) for seed in part]
            return [[one.error, one.holds, one.holds_beside, one.fresh, naive] for one, naive in both]

        cell = (*(str(one) for one in vars(self).values()), str(labels))
        errors, holds, holds_beside, fresh, naive = campaigns(journal, cell, seeds, play).T
        unit, count = math.sqrt(fresh.mean()), len(seeds)
        return {
            **vars(self),
            "campaigns": count,
            "bias_over_se": errors.mean() / unit,
            "mc_error": errors.std(ddof=1) / math.sqrt(count) / unit,
            "bias": errors.mean(),
            "rmse_over_fresh": math.sqrt((errors**2).mean()) / unit,
            "rmse_error": math.sqrt((errors**2).mean()) / unit / math.sqrt(2 * count),
            "coverage": holds.mean(),
            "coverage_beside": holds_beside.mean(),
            "naive_bias": naive.mean(),
        }


def cells() -> list[Cell]:
    named = ("srs", "estimate", "balanced", "expose")
    return [
        *(Cell(field, design) for field in ("moderate", "VGG16_CIFAR10", "CN12_CIFAR10") for design in named),
        *(Cell(field, "expose", top_up=0.25) for field in ("CN12_CIFAR10", "VGG16_CIFAR10", "moderate")),
        *(Cell("moderate", design, change="near") for design in ("balanced", "estimate", "expose", "srs")),
        *(Cell("CN12_CIFAR10", design, rounds=3) for design in ("balanced", "estimate")),
        *(Cell("weak", design) for design in ("estimate", "balanced", "srs")),
        *(Cell("digits", design) for design in ("balanced", "estimate", "srs")),
        Cell("digits", "balanced", rounds=3),
        *(Cell("CN12_CIFAR10", design) for design in ("protected", "deepest")),
        *(Cell("model_G", design) for design in named),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=500)
    parser.add_argument("--labels", type=int, default=200)
    parser.add_argument("--first", type=int, default=10_000, help="first seed")
    parser.add_argument("--designs", default="", help="only cells of these: estimate,balanced")
    parser.add_argument("--out", type=Path, help="one line per campaign; what it has is not played again")
    given = parser.parse_args()
    seeds, head = range(given.first, given.first + given.campaigns), False
    for one in cells():
        if given.designs and one.design not in given.designs.split(","):
            continue
        row = one.measured(seeds, given.labels, given.out)
        if not head:
            print("\t".join(row), flush=True)
            head = True
        print(
            "\t".join(f"{value:.4f}" if isinstance(value, float) else str(value) for value in row.values()), flush=True
        )


if __name__ == "__main__":
    main()
