"""Labels that train: what they buy. Accuracy gained on *fresh* items of the field, by how the labels were chosen.

    FIELDCHECK_DATA=.../data python benchmarks/training_gain.py [--seeds 5] [--labels 200] [--out rows.tsv]

A small network is trained on clean pictures of digits (MNIST), of things (CIFAR-10) or of traffic signs (GTSRB), once.
In the field, pictures are disturbed, each by another amount. For each seed the field is split anew into a pool and
fresh items; each design draws labels from the pool by what the first version says of it, the network is fine-tuned on
them and on as many of its old pictures per step, and both versions are run on the fresh items. Rate and epochs are
chosen on seed 0 with random labels, which is not counted. Beside the gain: the failures among the labels, and the error
of the accuracy that the same labels estimate (100 draws from one pool, relative to simple random sampling).
"""

from __future__ import annotations

import argparse
import copy
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import nn

import fieldcheck as fc
from fieldcheck.accuracy import designs, estimators
from fieldcheck.accuracy.assessment import sampling
from fieldcheck.core.sample import Labelled
from networks import cifar10, data_folder, mnist

HALF, DRAWS = 4_000, 100
DESIGNS = (
    "srs",
    "ssrs",
    "sups",
    "deepest",
    "waves:objective=protected",
    "waves:objective=estimate",
    "waves:objective=balanced",
    "waves:objective=expose",
)
SETTINGS = [(rate, epochs) for rate in (1e-3, 3e-3) for epochs in (10, 20)]
Disturb = Callable[[np.ndarray, np.random.Generator], np.ndarray]


def turned(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """By up to 35 degrees, and moved by up to three pixels."""
    matrix = cv2.getRotationMatrix2D((13.5, 13.5), float(rng.uniform(-35, 35)), 1.0)
    matrix[:, 2] += rng.uniform(-3, 3, size=2)
    return np.asarray(cv2.warpAffine(image, matrix, (28, 28)))


def foggy(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Less contrast, blurred, and noisy, each by another amount."""
    blurred = cv2.GaussianBlur(image.astype(np.float32), (0, 0), float(rng.uniform(0.1, 1.2)))
    pale = 128 + (blurred - 128) * rng.uniform(0.3, 1.0) + rng.uniform(-50, 50)
    return np.asarray(np.clip(pale + rng.normal(0, rng.uniform(0, 15), image.shape), 0, 255).astype(np.uint8))


def signs(part: str) -> tuple[np.ndarray, np.ndarray]:
    with np.load(data_folder() / "signs" / f"gtsrb_{part}.npz") as file:
        data, offsets, labels = file["data"], file["offsets"], file["labels"].astype(np.int64)
    images = [np.asarray(cv2.imdecode(data[a:b], cv2.IMREAD_COLOR))[..., ::-1] for a, b in pairwise(offsets)]
    return np.stack(images), labels


@dataclass(frozen=True)
class Subject:
    """Pictures, how they are disturbed in the field, and how long the first version learns."""

    read: Callable[[str], tuple[np.ndarray, np.ndarray]]
    disturb: Disturb
    known: int
    epochs: int


SUBJECTS = {
    "digits": Subject(mnist, turned, 6_000, 3),
    "CIFAR-10": Subject(cifar10, foggy, 10_000, 8),
    "traffic signs": Subject(signs, foggy, 8_000, 8),
}


def batch(images: np.ndarray) -> torch.Tensor:
    whole = torch.from_numpy(np.ascontiguousarray(images)).float() / 255 - 0.5
    return whole[:, None] if whole.ndim == 3 else whole.permute(0, 3, 1, 2).contiguous()


def network(channels: int, classes: int, width: int) -> nn.Module:
    """Three convolutions: a quarter of a millisecond a picture."""
    layers: list[nn.Module] = []
    for more in (width, 2 * width, 2 * width):
        layers += [nn.Conv2d(channels, more, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
        channels = more
    return nn.Sequential(*layers, nn.Flatten(), nn.LazyLinear(64), nn.ReLU(), nn.Linear(64, classes))


@dataclass(frozen=True)
class Pictures:
    """Ready for a network."""

    inputs: torch.Tensor
    truth: torch.Tensor

    def at(self, items: np.ndarray) -> Pictures:
        chosen = torch.from_numpy(items)
        return Pictures(self.inputs[chosen], self.truth[chosen])

    def __len__(self) -> int:
        return len(self.truth)


def learn(
    model: nn.Module, pictures: Pictures, old: Pictures | None, *, rate: float, epochs: int, seed: int
) -> nn.Module:
    """Adam, with a rate that falls along a cosine; each step sees as many old pictures as new ones."""
    rng, size = np.random.default_rng(seed), min(64, len(pictures))
    steps = epochs * math.ceil(len(pictures) / size)
    optimiser = torch.optim.Adam(model.parameters(), rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    order = np.concatenate([rng.permutation(len(pictures)) for _ in range(epochs)])
    model.train()
    for part in np.array_split(order, steps):
        now = pictures.at(part)
        inputs, truth = now.inputs, now.truth
        if old is not None:
            more = old.at(rng.integers(len(old), size=len(part)))
            inputs, truth = torch.cat([inputs, more.inputs]), torch.cat([truth, more.truth])
        optimiser.zero_grad()
        nn.functional.cross_entropy(model(inputs), truth).backward()
        optimiser.step()
        schedule.step()
    return model.eval()


@torch.no_grad()
def chances(model: nn.Module, pictures: Pictures) -> np.ndarray:
    parts = [torch.softmax(model(part), dim=1) for part in pictures.inputs.split(500)]
    return np.asarray(torch.cat(parts).numpy())


@dataclass(frozen=True)
class Field:
    """One subject: the first version, what it knows, and all pictures of the field with what it says of them."""

    first: nn.Module
    known: Pictures
    pictures: Pictures
    said: np.ndarray

    @classmethod
    def of(cls, subject: Subject) -> Field:
        (clean, known), (images, truth) = subject.read("train"), subject.read("test")
        rng = np.random.default_rng(5)
        chosen = rng.permutation(len(clean))[: subject.known]
        others = rng.permutation(len(images))[: 2 * HALF]
        disturbed = np.stack([subject.disturb(images[at], rng) for at in others])
        before = Pictures(batch(clean[chosen]), torch.from_numpy(known[chosen]))
        pictures = Pictures(batch(disturbed), torch.from_numpy(truth[others]))
        torch.manual_seed(0)
        model = network(before.inputs.shape[1], int(known.max()) + 1, 12 if before.inputs.shape[1] == 1 else 20)
        model(before.inputs[:2])
        learn(model, before, None, rate=2e-3, epochs=subject.epochs, seed=0)
        return cls(model, before, pictures, chances(model, pictures))

    def halves(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """The pool and the fresh items."""
        order = np.random.default_rng(100 + seed).permutation(len(self.pictures))
        return np.sort(order[:HALF]), np.sort(order[HALF:])

    def pool(self, items: np.ndarray) -> fc.Pool:
        said = self.said[items]
        names = np.array([f"c{number:02d}" for number in range(said.shape[1])])
        return fc.from_arrays(
            y_pred=names[said.argmax(axis=1)],
            y_true=names[self.pictures.truth[torch.from_numpy(items)].numpy()],
            confidence=np.clip(said.max(axis=1), 1e-4, 0.9999),
        )

    def gain(self, taught: np.ndarray, fresh: np.ndarray, setting: tuple[float, int], seed: int) -> float:
        """In points."""
        rate, epochs = setting
        model = copy.deepcopy(self.first)
        model = learn(model, self.pictures.at(taught), self.known, rate=rate, epochs=epochs, seed=seed)
        new = self.pictures.at(fresh)
        truth = new.truth.numpy()
        after, before = chances(model, new).argmax(axis=1) == truth, self.said[fresh].argmax(axis=1) == truth
        return 100 * float(after.mean() - before.mean())


def drawn(name: str, pool: fc.Pool, labels: int, seed: int) -> Labelled:
    design = designs.registry.build(name)
    losses = pool.losses()
    sample = design.draw(sampling.frame_for(pool, design, "confidence"), losses, budget=labels, seed=seed)
    return Labelled(sample, losses[sample.items], losses[sample.items] > 0)


def chosen(name: str, pool: fc.Pool, doubt: np.ndarray, labels: int, seed: int) -> np.ndarray:
    if name == "top uncertainty":
        return np.sort(np.argsort(doubt, kind="stable")[-labels:])
    return np.unique(drawn(name, pool, labels, seed).sample.items)


def estimate_error(name: str, pool: fc.Pool, labels: int) -> float:
    """Root mean squared error of the failure rate, relative to simple random sampling."""
    truth = float(pool.losses().mean())
    errors = [estimators.estimate(drawn(name, pool, labels, seed)).value - truth for seed in range(DRAWS)]
    fresh = truth * (1 - truth) / labels * (1 - labels / len(pool))
    return math.sqrt(float(np.mean(np.square(errors))) / fresh)


def study(name: str, labels: int, seeds: int) -> list[str]:
    field = Field.of(SUBJECTS[name])
    right = field.said.argmax(axis=1) == field.pictures.truth.numpy()
    pool, fresh = field.halves(0)
    taught = pool[chosen("srs", field.pool(pool), NOBODY, labels, 0)]
    tried = {one: field.gain(taught, fresh, one, 0) for one in SETTINGS}
    setting = max(tried, key=lambda one: tried[one])
    print(f"{name}: accuracy in the field {right.mean():.3f}, setting {setting}", tried, file=sys.stderr, flush=True)
    rows = [(one, labels) for one in (*DESIGNS, "top uncertainty")] + [("srs", 2 * labels)]
    gains, failures = np.empty((len(rows), seeds)), np.empty((len(rows), seeds))
    for seed in range(1, seeds + 1):
        pool, fresh = field.halves(seed)
        there, doubt = field.pool(pool), 1 - field.said[pool].max(axis=1)
        for at, (design, count) in enumerate(rows):
            taught = pool[chosen(design, there, doubt, count, seed)]
            gains[at, seed - 1] = field.gain(taught, fresh, setting, seed)
            failures[at, seed - 1] = np.count_nonzero(~right[taught])
    there = field.pool(field.halves(1)[0])
    lines = []
    for at, (design, count) in enumerate(rows):
        error = math.nan if design == "top uncertainty" or count != labels else estimate_error(design, there, count)
        more = gains[at] - gains[0]
        shown = (gains[at].mean(), spread(gains[at]), more.mean(), spread(more), failures[at].mean(), error)
        lines.append("\t".join([name, design, str(count), str(seeds), *(f"{one:.2f}" for one in shown)]))
        print(lines[-1], flush=True)
    return lines


NOBODY = np.zeros(0)


def spread(values: np.ndarray) -> float:
    """The standard error of the mean."""
    return float(values.std(ddof=1) / math.sqrt(len(values)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--labels", type=int, default=200)
    parser.add_argument("--subjects", nargs="+", default=list(SUBJECTS), choices=list(SUBJECTS))
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    torch.set_num_threads(1)
    columns = [
        "subject",
        "design",
        "labels",
        "seeds",
        "gain",
        "gain_error",
        "over_srs",
        "over_srs_error",
        "failures",
        "estimate_error",
    ]
    lines = ["\t".join(columns)]
    print(lines[0], flush=True)
    for name in given.subjects:
        lines += study(name, given.labels, given.seeds)
    if given.out is not None:
        given.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
