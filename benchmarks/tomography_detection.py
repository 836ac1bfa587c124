"""Where does an object detector break? A small one, trained here, put through a space of four perturbations.

Half of the images are a handwritten digit (scikit-learn's, 8 x 8, enlarged two or three times) somewhere on a noisy
canvas of 48 x 48, dark or grey, half of them two where there is room. A convolutional network gives for each cell of a
6 x 6 grid a score and a box. The check is that every digit is matched by a box with an overlap (IoU) of 0.5 or more.
The perturbations are photometric: true boxes stay where they are; geometric ones would move them. Digits in training
and test are different ones.

The run spreads its inferences over all tests; its answers stand beside those of fresh tests of the same region, which
no surrogate had a part in.

    OMP_NUM_THREADS=1 python benchmarks/tomography_detection.py
"""

from __future__ import annotations

import platform
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.core.inputs import Kind
from fieldcheck.core.measures import Detection
from fieldcheck.core.space import Axis, Space
from fieldcheck.core.types import IntArray
from fieldcheck.tomography import perturbations
from fieldcheck.tomography.answers.run import Run, measure
from fieldcheck.tomography.plans import Spread
from fieldcheck.tomography.quality.map import measure_quality
from fieldcheck.tomography.query import parse
from fieldcheck.tomography.setup.executor import Executor, against
from fieldcheck.tomography.setup.subject import Subject

Array = npt.NDArray[Any]

SIDE, CELLS, BOXES = 48, 6, 6
ATTEMPTS = 10
TRAINING, TEST, EPOCHS = 2000, 600, 12
BUDGET, FRESH = 8000, 2000
NAMES = ("brightness", "contrast", "gaussian-noise", "gaussian-blur")
QUERIES = (
    "order = 0",
    "order <= 1",
    "gaussian-noise <= 2 and gaussian-blur <= 2",
    "brightness >= 4",
    "gaussian-noise >= 4 and contrast >= 3",
    "order = 4",
)


@dataclass(frozen=True, eq=False)
class Scenes:
    """Images with digits, and their boxes x0, y0, x1, y1."""

    images: Array
    boxes: list[Array]
    name: str = "scenes"
    kind: Kind = "image"
    labels: None = None

    @property
    def ids(self) -> IntArray:
        return np.arange(len(self))

    def __len__(self) -> int:
        return len(self.images)

    def batch(self, start: int, stop: int) -> Array:
        return self.images[start:stop]


def scenes(digits: Array, count: int, seed: int) -> Scenes:
    rng = np.random.default_rng(seed)
    level, noise = rng.uniform(0.05, 0.45, (count, 1, 1)), rng.uniform(0.02, 0.12, (count, 1, 1))
    images = level + noise * rng.normal(size=(count, SIDE, SIDE))
    boxes = [_place(image, digits, rng, wanted=1 + at % 2) for at, image in enumerate(images)]
    return Scenes((255 * np.clip(images, 0, 1)).astype(np.uint8), boxes)


def _place(image: Array, digits: Array, rng: np.random.Generator, *, wanted: int) -> Array:
    """Draw some digits that do not touch, as far as there is room; the box of a digit is that of its ink."""
    taken = np.zeros((SIDE, SIDE), dtype=bool)
    boxes: list[list[int]] = []
    for _ in range(ATTEMPTS):
        factor = int(rng.integers(2, 4))
        ink = np.kron(digits[rng.integers(len(digits))], np.ones((factor, factor)))
        y, x = rng.integers(0, SIDE - len(ink) + 1, 2)
        window = np.s_[y : y + len(ink), x : x + len(ink)]
        if len(boxes) < wanted and not taken[window].any():
            taken[window] = True
            image[window] += (1 - image[window]) * rng.uniform(0.6, 1) * ink
            rows, columns = np.nonzero(ink > 0.25)
            boxes.append([x + columns.min(), y + rows.min(), x + columns.max() + 1, y + rows.max() + 1])
    return np.array(boxes, dtype=np.float64)


def middles() -> Array:
    """Middle of each cell as x, y, x, y, in shares of the side."""
    y, x = (np.indices((CELLS, CELLS)) + 0.5) / CELLS
    return np.stack([x, y, x, y])


def targets(boxes: list[Array]) -> tuple[Array, Array]:
    """Per cell of the grid whether the middle of a digit is in it, and the four borders from the middle of the cell."""
    present = np.zeros((len(boxes), CELLS, CELLS), dtype=np.float32)
    borders = np.zeros((len(boxes), 4, CELLS, CELLS), dtype=np.float32)
    for at, rows in enumerate(boxes):
        for box in rows:
            column, row = ((box[:2] + box[2:]) / 2 * CELLS / SIDE).astype(int)
            present[at, row, column] = 1
            borders[at, :, row, column] = box / SIDE - middles()[:, row, column]
    return present, borders


def trained(data: Scenes) -> Any:
    import torch
    from torch import nn

    torch.manual_seed(0)
    layers: list[nn.Module] = []
    for before, after in [(1, 16), (16, 32), (32, 64)]:
        layers += [nn.Conv2d(before, after, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
    network = nn.Sequential(*layers, nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 5, 1))
    present, borders = (torch.from_numpy(part) for part in targets(data.boxes))
    images = torch.from_numpy(data.images).float()[:, None] / 255
    optimiser = torch.optim.Adam(network.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, EPOCHS)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(images)).split(64):
            found = network(images[rows])
            here = present[rows]
            weight = torch.tensor(3.0)
            score = nn.functional.binary_cross_entropy_with_logits(
                found[:, 0], here, pos_weight=weight, reduction="sum"
            )
            miss = ((found[:, 1:] - borders[rows]).abs() * here[:, None]).sum()
            optimiser.zero_grad()
            ((score + 5 * miss) / here.sum()).backward()
            optimiser.step()
        schedule.step()
    return network.eval()


def detector(network: Any) -> Any:
    """From images to the boxes with the highest scores: images x boxes x (x0, y0, x1, y1, score)."""
    import torch

    def respond(images: Array) -> Array:
        with torch.inference_mode():
            found = network(torch.from_numpy(images).float()[:, None] / 255).flatten(2).numpy()
        scores = 1 / (1 + np.exp(-found[:, 0]))
        best = np.argsort(-scores, axis=1)[:, :BOXES]
        places = SIDE * (found[:, 1:] + middles().reshape(4, -1))
        borders = np.take_along_axis(places, best[:, None], axis=2)
        return np.concatenate([borders, np.take_along_axis(scores, best, axis=1)[:, None]], axis=1).swapaxes(1, 2)

    return respond


def hidden(network: Any) -> Any:
    """The layer before the last one, averaged over the grid."""
    import torch

    def show(images: Array) -> Array:
        with torch.inference_mode():
            return np.asarray(network[:-1](torch.from_numpy(images).float()[:, None] / 255).mean(dim=(2, 3)).numpy())

    return show


def executor(network: Any, data: Scenes) -> Executor:
    return Executor(
        space=Space(tuple(Axis(name, 5) for name in NAMES)),
        perturbations=[perturbations.registry.build(name) for name in NAMES],
        inputs=data,
        respond=detector(network),
        check=against(Detection(0.5, score=0.3), data.boxes),
        hidden=hidden(network),
    )


def fresh(running: Executor, query: str) -> tuple[float, float]:
    """The robustness of a region from random tests and inputs of it, and its standard error."""
    rng = np.random.default_rng(1)
    region = parse(query, running.space).tests()
    tests = rng.choice(region, FRESH)
    held = running.measure(tests, rng.integers(0, len(running.inputs), FRESH))
    return float(held.mean()), float(held.std() / np.sqrt(FRESH))


def answers(run: Run, running: Executor) -> None:
    print("| region | tests | robustness | 95 % band | fresh tests | off by, points |\n|---|---|---|---|---|---|")
    for query in QUERIES:
        answer = run.ask(query)
        truth, error = fresh(running, query)
        print(
            f"| `{query}` | {answer.tests:,} | {answer.robustness:.3f} | {answer.low:.3f} – {answer.high:.3f} "
            f"| {truth:.3f} ± {1.96 * error:.3f} | {100 * (answer.robustness - truth):+.1f} |"
        )


def main() -> None:
    from sklearn.datasets import load_digits

    digits = load_digits().images / 16
    started = time.process_time()
    network = trained(scenes(digits[:1200], TRAINING, seed=0))
    print(f"Python {platform.python_version()}; trained in {time.process_time() - started:.0f} s of CPU\n")
    data = scenes(digits[1200:], TEST, seed=1)
    running = executor(network, data)
    subject = Subject(running.space, len(data), running.measure)
    started = time.process_time()
    run = measure(subject, plan=Spread(), budget=BUDGET)
    spent = time.process_time() - started
    print(f"{len(run.outcomes):,} inferences in {running.space.size:,} tests: {spent:.1f} s of CPU, ", end="")
    print(f"{running.clock.share:.0%} of it in the model\n")
    answers(run, running)
    print("\nSurrogate:", "; ".join(run.fitted.notes))
    print("\nWeakest tests:", *(f"{one.severities}: {one.robustness:.2f}" for one in run.ask("order <= 2").worst[:3]))
    for name in ("kid", "ssim"):
        quality = measure_quality(running, score=name)
        print(f"\nQuality, {name}: {'; '.join(quality.notes)}")


if __name__ == "__main__":
    main()
