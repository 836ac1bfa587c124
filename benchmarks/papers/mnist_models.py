"""Models A, B and C of ICSE'24 rebuilt: neither the networks nor their answers on MNIST are in the data folder.

    python benchmarks/papers/mnist_models.py DATA FOLDER       their pools and activations, about two CPU minutes

Networks of the published sizes learn from 7,000 images until they are right on 2,500 others as often as published; the
remaining 60,500 are the field. What a pool needs comes from ``predict``: confidence, DSA and LSA with the 7,000 as
reference (from 0 to 1, as the published files have them), and the activations of the last hidden layer for CES.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from fieldcheck import Pool, predict, save

TRAIN, VERIFY = 7_000, 2_500
BATCH, RATE, STEPS = 64, 5e-4, 4_000
"""Of training; most that it takes. A small rate, so that the accuracy is met on the way and not jumped over."""
LOOK = 5
"""Steps between two looks at the verification images."""


@dataclass(frozen=True)
class Model:
    """Its layers, and the published accuracy."""

    build: Callable[[], nn.Sequential]
    accuracy: float


def _dense(size: int, *widths: int) -> list[nn.Module]:
    layers: list[nn.Module] = []
    for width in widths:
        layers += [nn.Linear(size, width), nn.ReLU()]
        size = width
    return [*layers, nn.Linear(size, 10)]


def _convolved(first: int, second: int, kernel: int, hidden: int) -> nn.Sequential:
    side = ((28 - kernel + 1) // 2 - kernel + 1) // 2
    return nn.Sequential(
        *(nn.Conv2d(1, first, kernel), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(first, second, kernel), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), *_dense(side * side * second, hidden)),
    )


MODELS = {
    "model_A": Model(lambda: _convolved(6, 12, 5, 21), 0.903),
    "model_B": Model(lambda: nn.Sequential(nn.Flatten(), *_dense(784, 120, 22)), 0.948),
    "model_C": Model(lambda: _convolved(32, 64, 3, 327), 0.933),
}
"""6,241, 97,092 and 545,623 parameters; published are 6,237, 97,114 and 545,546, in layers that are not told."""


@dataclass(frozen=True, eq=False)
class Part:
    """Some of the images (0 to 1, with one channel), and their digits."""

    images: npt.NDArray[np.float32]
    labels: npt.NDArray[np.int64]

    def at(self, rows: npt.NDArray[np.int64]) -> Part:
        return Part(self.images[rows], self.labels[rows])

    def tensors(self) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.from_numpy(self.images), torch.from_numpy(self.labels)


def parts(data: Path, *, short: bool = False) -> tuple[Part, Part, Part]:
    """To train on, to verify with, and the field; in a short run few of each."""
    with np.load(data / "images" / "mnist.npz") as file:
        images = np.asarray(np.concatenate([file["x_train"], file["x_test"]])[:, None] / 255, dtype=np.float32)
        whole = Part(images, np.concatenate([file["y_train"], file["y_test"]]).astype(np.int64))
    order = np.random.default_rng(0).permutation(len(images))
    train, verify, field = (
        whole.at(rows[: 1_000 if short else None]) for rows in np.split(order, [TRAIN, TRAIN + VERIFY])
    )
    return train, verify, field


def trained(model: Model, train: Part, verify: Part) -> nn.Sequential:
    """Stopped as soon as it is as accurate on the verification images as the published one."""
    torch.manual_seed(0)
    network, (inputs, digits), (asked, right) = model.build(), train.tensors(), verify.tensors()
    optimiser = torch.optim.Adam(network.parameters(), RATE)
    for step in range(STEPS):
        at = torch.randint(len(inputs), (BATCH,))
        optimiser.zero_grad()
        nn.functional.cross_entropy(network(inputs[at]), digits[at]).backward()
        optimiser.step()
        if step % LOOK == 0 and _accuracy(network, asked, right) >= model.accuracy:
            break
    return network.eval()


def _accuracy(network: nn.Module, inputs: torch.Tensor, digits: torch.Tensor) -> float:
    with torch.inference_mode():
        return float((network(inputs).argmax(dim=1) == digits).double().mean())


def pools(data: Path, folder: Path, *, short: bool = False) -> dict[str, tuple[Path, Path]]:
    """The pool and the activations of each model, in a short run of one, made where they are not in the folder yet."""
    folder.mkdir(parents=True, exist_ok=True)
    names = list(MODELS)[: 1 if short else None]
    found = {name: (folder / f"{name}.parquet", folder / f"{name}.npy") for name in names}
    missing = [name for name, files in found.items() if not all(file.exists() for file in files)]
    train, verify, field = parts(data, short=short) if missing else (None, None, None)
    for name in missing:
        assert train is not None
        assert verify is not None
        assert field is not None
        pool, activations = found[name]
        made = predict.predict(
            trained(MODELS[name], train, verify),
            field.images,
            reference=train.images,
            auxiliary=("confidence", "dsa", "lsa"),
            activations=activations,
            labels=field.labels,
        )
        save(normalised(made), pool)
    return found


def normalised(pool: Pool) -> Pool:
    """With surprise from 0 to 1, as in the published files: SUPS and the threshold of DeepEST depend on it."""
    scaled = {name: np.asarray(pool.columns[name], dtype=np.float64) for name in ("dsa", "lsa")}
    return replace(pool, columns={**pool.columns, **{name: (v - v.min()) / np.ptp(v) for name, v in scaled.items()}})


if __name__ == "__main__":
    for pool, activations in pools(Path(sys.argv[1]), Path(sys.argv[2])).values():
        print(pool, activations)
