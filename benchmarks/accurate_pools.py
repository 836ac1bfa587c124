"""Pools from accurate networks, most of them under-confident, for the studies beside this file.

    python benchmarks/accurate_pools.py [NAME ...]     train them (all: minutes on one core), say how accurate they are

Accurate models are what people want to release, and networks trained with label smoothing or mixup doubt more than
they fail. A few are poor, for the other end. They are kept as ``accurate/NAME.npz`` in
``FIELDCHECK_CACHE``: ``confidence``, ``predicted`` and ``failed``, one per item.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from networks import _decoded, cache_folder, cifar10, data_folder, mnist

Arrays = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]
"""Inputs and classes to train on, inputs and classes of the pool."""


@dataclass(frozen=True)
class Recipe:
    """How a network is trained: one of these is one pool."""

    data: Callable[[], Arrays]
    network: Callable[[], nn.Module]
    epochs: int
    smoothing: float = 0.0
    mixup: float = 0.0
    decay: float = 0.0
    seed: int = 0


def digits(count: int) -> Callable[[], Arrays]:
    """The first digits to train on, all test digits as the pool."""

    def load() -> Arrays:
        x, y = mnist("train")
        field, truth = mnist("test")
        return _tensor(x[:count]), torch.from_numpy(y[:count]), _tensor(field), torch.from_numpy(truth)

    return load


def shifted_digits() -> Arrays:
    """Three classes of the pool are shifted: two moved by three pixels, one in faint ink."""
    x, y, field, truth = digits(20_000)()
    for digit, change in ((2, _moved), (5, _moved), (7, lambda one: one * 0.3)):
        field[truth == digit] = change(field[truth == digit])
    return x, y, field, truth


def faint_digits() -> Arrays:
    """Half of the pool in faint ink, with noise."""
    x, y, field, truth = digits(10_000)()
    faint = torch.rand(len(field), generator=torch.Generator().manual_seed(1)) < 0.5
    noise = torch.randn(field.shape, generator=torch.Generator().manual_seed(2))
    field[faint] = (0.75 * field + 0.1 * noise)[faint].clamp(0, 1)
    return x, y, field, truth


def one_digit() -> Arrays:
    """Two classes: a digit, or any other."""
    x, y, field, truth = digits(30_000)()
    return x, (y == 6).long(), field, (truth == 6).long()


def even_digits() -> Arrays:
    """Two classes that look alike in pairs: even or odd."""
    x, y, field, truth = digits(30_000)()
    return x, (y % 2 == 0).long(), field, (truth % 2 == 0).long()


def limits() -> Arrays:
    """Two classes: a speed limit, or any other sign."""
    x, y, field, truth = signs()
    return x, _is_limit(y), field, _is_limit(truth)


def _is_limit(labels: torch.Tensor) -> torch.Tensor:
    return ((labels <= 8) & (labels != 6)).long()


def signs() -> Arrays:
    """German traffic signs, the official test images as the pool."""
    parts = []
    for part in ("train", "test"):
        with np.load(data_folder() / "signs" / f"gtsrb_{part}.npz") as file:
            images, labels = _decoded(file["data"], file["offsets"]), file["labels"].astype(np.int64)
        parts += [_tensor(images), torch.from_numpy(labels)]
    return parts[0], parts[1], parts[2], parts[3]


def photos(count: int) -> Callable[[], Arrays]:
    """The first small photographs to train on, all of the test part as the pool."""

    def load() -> Arrays:
        (x, y), (field, truth) = cifar10("train"), cifar10("test")
        return _tensor(x[:count]), torch.from_numpy(y[:count]), _tensor(field), torch.from_numpy(truth)

    return load


def _moved(images: torch.Tensor) -> torch.Tensor:
    return torch.roll(images, (3, 3), dims=(-2, -1))


def _tensor(images: npt.NDArray[np.uint8]) -> torch.Tensor:
    batch = torch.from_numpy(np.ascontiguousarray(images)).float() / 255
    return batch[:, None] if batch.ndim == 3 else batch.permute(0, 3, 1, 2).contiguous()


def dense() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 200), nn.ReLU(), nn.Linear(200, 10))


def convolutional(channels: int, classes: int, side: int, width: int = 16) -> Callable[[], nn.Module]:
    def build() -> nn.Module:
        return nn.Sequential(
            *(nn.Conv2d(channels, width, 5, padding=2), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(width, 2 * width, 3, padding=1), nn.BatchNorm2d(2 * width), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Flatten(), nn.Dropout(0.3), nn.Linear(2 * width * (side // 4) ** 2, 128), nn.ReLU()),
            nn.Linear(128, classes),
        )

    return build


POOLS = {
    "digits_smoothed": Recipe(digits(20_000), dense, 8, smoothing=0.1),
    "digits_mixup": Recipe(digits(20_000), convolutional(1, 10, 28, 8), 4, mixup=0.4),
    "digits_sharp": Recipe(digits(20_000), convolutional(1, 10, 28, 8), 4),
    "digits_decay": Recipe(digits(5_000), dense, 12, decay=3e-2),
    "digits_shifted": Recipe(shifted_digits, convolutional(1, 10, 28, 8), 3, smoothing=0.05),
    "one_digit": Recipe(one_digit, convolutional(1, 2, 28, 8), 4, smoothing=0.05),
    "signs_smoothed": Recipe(signs, convolutional(3, 43, 32, 24), 7, smoothing=0.1),
}
"""Those that weights and floor of ``waves`` were chosen on (``weights_study.py``)."""

TESTED = {
    "digits_careful": Recipe(digits(40_000), convolutional(1, 10, 28, 8), 4, smoothing=0.2),
    "digits_strong_decay": Recipe(digits(30_000), convolutional(1, 10, 28, 8), 4, decay=0.5),
    "even_digits": Recipe(even_digits, convolutional(1, 2, 28, 8), 4, smoothing=0.1),
    "limits": Recipe(limits, convolutional(3, 2, 32, 12), 4, mixup=0.3),
    "signs_mixup": Recipe(signs, convolutional(3, 43, 32, 24), 6, mixup=0.3),
    "digits_scarce": Recipe(digits(2_500), dense, 25, smoothing=0.05),
    "digits_faint": Recipe(faint_digits, dense, 10),
}
"""Those that nothing was chosen on."""

CORE = {
    "digits_blended": Recipe(digits(60_000), convolutional(1, 10, 28, 8), 4, smoothing=0.1, mixup=0.2, seed=11),
    "signs_quick": Recipe(signs, convolutional(3, 43, 32, 16), 4, smoothing=0.15, seed=12),
    "digits_few": Recipe(digits(2_000), dense, 30, mixup=0.3, seed=13),
    "photos_few": Recipe(photos(10_000), convolutional(3, 10, 32, 16), 6, smoothing=0.05, seed=14),
}
"""The core grid of ``right_numbers.py``: made after everything was chosen, nothing was chosen on them."""


def trained(recipe: Recipe) -> dict[str, npt.NDArray[np.generic]]:
    """The pool of one network."""
    torch.manual_seed(recipe.seed)
    torch.set_num_threads(1)
    x, y, field, truth = recipe.data()
    network, batch = recipe.network(), 128
    optimiser = torch.optim.AdamW(network.parameters(), lr=2e-3, weight_decay=recipe.decay)
    steps = recipe.epochs * (len(x) // batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 4e-3, total_steps=steps)
    for step in range(steps):
        chosen = torch.randint(len(x), (batch,))
        inputs, wanted = x[chosen], functional.one_hot(y[chosen], int(y.max()) + 1).float()
        if recipe.mixup:
            share = float(np.random.default_rng(step).beta(recipe.mixup, recipe.mixup))
            inputs = share * inputs + (1 - share) * inputs.flip(0)
            wanted = share * wanted + (1 - share) * wanted.flip(0)
        loss = functional.cross_entropy(network(inputs), wanted, label_smoothing=recipe.smoothing)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    network.eval()
    with torch.no_grad():
        chances = torch.cat([torch.softmax(network(part).double(), 1) for part in field.split(500)])
    confidence, predicted = chances.max(1)
    failed = (predicted != truth).numpy()
    return {"confidence": confidence.numpy(), "predicted": predicted.numpy(), "failed": failed}


def pool(name: str) -> dict[str, npt.NDArray[np.generic]]:
    """A pool by its name, trained when it is not there yet."""
    path = cache_folder() / "accurate" / f"{name}.npz"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        np.savez(path, **trained({**POOLS, **TESTED, **CORE}[name]))  # type: ignore[arg-type]
    with np.load(path) as file:
        return dict(file)


def main(*names: str) -> None:
    for name in names or (*POOLS, *TESTED, *CORE):
        started = time.perf_counter()
        arrays = pool(name)
        doubt = 1 - arrays["confidence"].astype(np.float64)
        print(
            f"{name:16} {len(doubt):6,} items, {1 - arrays['failed'].mean():.2%} right, mean confidence "
            f"{1 - doubt.mean():.2%} ({time.perf_counter() - started:.0f} s)",
            flush=True,
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
