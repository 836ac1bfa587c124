"""Small real networks and the data they are trained on, for the studies beside this file.

    python benchmarks/networks.py        train all of them (minutes), and say how accurate they are

Data are read from the folder that FIELDCHECK_DATA names (``images/*.npz``). Weights are kept as safetensors in
``FIELDCHECK_CACHE`` (by default ``~/.cache/fieldcheck``), so that every study uses the same networks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load_file, save_file
from torch import nn

Images = npt.NDArray[np.uint8]
MUTATIONS = {"8-0": (8, 0), "7-1": (7, 1), "9-3": (9, 3)}
"""Label sets with two digits swapped, as in the study of CES (FSE'19)."""


def data_folder() -> Path:
    given = os.environ.get("FIELDCHECK_DATA")
    return Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "data"


def cache_folder() -> Path:
    folder = Path(os.environ.get("FIELDCHECK_CACHE", Path.home() / ".cache" / "fieldcheck"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@lru_cache
def mnist(part: str) -> tuple[Images, npt.NDArray[np.int64]]:
    """Images (28 x 28) and labels of ``train`` or ``test``."""
    with np.load(data_folder() / "images" / "mnist.npz") as file:
        return file[f"x_{part}"], file[f"y_{part}"].astype(np.int64)


@lru_cache
def cifar10(part: str) -> tuple[Images, npt.NDArray[np.int64]]:
    """Images (32 x 32 x 3, RGB) and labels of ``train`` or ``test``."""
    with np.load(data_folder() / "images" / f"cifar10_{part}_jpeg.npz") as file:
        return _decoded(file["jpeg"], file["offsets"]), file["y"].astype(np.int64)


@lru_cache
def steering() -> tuple[Images, npt.NDArray[np.float64]]:
    """Road images (66 x 160 x 3, RGB) in the order of time, and steering angles."""
    with np.load(data_folder() / "images" / "udacity_steering_jpeg.npz") as file:
        return _decoded(file["jpeg"], file["offsets"]), file["angle"].astype(np.float64)


def _decoded(data: npt.NDArray[np.uint8], offsets: npt.NDArray[Any]) -> Images:
    images = [np.asarray(cv2.imdecode(data[a:b], cv2.IMREAD_COLOR)) for a, b in pairwise(offsets)]
    return np.ascontiguousarray(np.stack(images)[..., ::-1])


def batch_of(images: npt.NDArray[Any]) -> torch.Tensor:
    """Images as the networks want them: float in [0, 1], channels first."""
    scaled = np.ascontiguousarray(images, dtype=np.float32) / 255
    return torch.from_numpy(scaled[:, None] if scaled.ndim == 3 else np.ascontiguousarray(scaled.transpose(0, 3, 1, 2)))


def lenet(kind: int) -> nn.Sequential:
    """LeNet-1, -4 or -5 (LeCun et al., 1998), with ReLU and max pooling, as in the study of CES."""
    first, second, padding = {1: (4, 12, 0), 4: (4, 16, 0), 5: (6, 16, 2)}[kind]
    size = {1: 4, 4: 4, 5: 5}[kind] ** 2 * second
    hidden = {1: [], 4: [120], 5: [120, 84]}[kind]
    layers: list[nn.Module] = [
        *(nn.Conv2d(1, first, 5, padding=padding), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(first, second, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
    ]
    for width in hidden:
        layers += [nn.Linear(size, width), nn.ReLU()]
        size = width
    return nn.Sequential(*layers, nn.Linear(size, 10))


class Residual(nn.Module):  # type: ignore[misc]
    """Two convolutions beside a short cut (He et al., CVPR'16)."""

    def __init__(self, channels: int, out: int, stride: int) -> None:
        super().__init__()
        self.main = nn.Sequential(
            *(nn.Conv2d(channels, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out), nn.ReLU()),
            *(nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out)),
        )
        self.short = nn.Identity() if stride == 1 and channels == out else nn.Conv2d(channels, out, 1, stride)

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.main(batch) + self.short(batch))


def resnet() -> nn.Sequential:
    """A small residual network for 32 x 32 colour images."""
    return nn.Sequential(
        *(nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()),
        *(Residual(16, 16, 1), Residual(16, 32, 2), Residual(32, 64, 2)),
        *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)),
    )


def dave() -> nn.Sequential:
    """A small steering network after DAVE-2 (Bojarski et al., 2016)."""
    return nn.Sequential(
        nn.BatchNorm2d(3),
        *(nn.Conv2d(3, 12, 5, 2), nn.ReLU(), nn.Conv2d(12, 18, 5, 2), nn.ReLU(), nn.Conv2d(18, 24, 5, 2), nn.ReLU()),
        *(nn.Conv2d(24, 32, 3), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 3 * 15, 64), nn.ReLU()),
        *(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1)),
    )


def train(
    network: nn.Module,
    images: Images,
    truth: npt.NDArray[Any],
    *,
    epochs: int,
    seed: int,
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    flip: bool = False,
    rate: float = 2e-3,
    size: int = 128,
) -> nn.Module:
    """Adam with a rate that falls along a cosine."""
    generator = torch.Generator().manual_seed(seed)
    inputs, targets = batch_of(images), torch.from_numpy(truth)
    steps = epochs * (len(inputs) // size)
    optimiser = torch.optim.Adam(network.parameters(), rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    network.train()
    for _ in range(epochs):
        order = torch.randperm(len(inputs), generator=generator)
        for start in range(0, len(order) - size + 1, size):
            at = order[start : start + size]
            batch = inputs[at]
            if flip and torch.rand((), generator=generator) < 0.5:
                batch = batch.flip(-1)
            optimiser.zero_grad()
            loss(network(batch), targets[at]).backward()
            optimiser.step()
            schedule.step()
    return network.eval()


def _classify(build: Callable[[], nn.Module], images: Images, labels: npt.NDArray[np.int64], epochs: int) -> nn.Module:
    flip = images.ndim == 4
    return train(build(), images, labels, epochs=epochs, seed=0, loss=nn.functional.cross_entropy, flip=flip)


def _lenet(kind: int, *, epochs: int = 3, count: int = 60_000, swapped: Sequence[int] = ()) -> nn.Module:
    images, labels = (part[:count] for part in mnist("train"))
    if swapped:
        a, b = swapped
        labels = np.where(labels == a, b, np.where(labels == b, a, labels))
    return _classify(lambda: lenet(kind), images, labels, epochs)  # type: ignore[arg-type]


def _dave() -> nn.Module:
    images, angles = steering()
    first = len(images) // 2
    truth = angles[:first].astype(np.float32)[:, None]
    return train(dave(), images[:first], truth, epochs=30, seed=0, loss=nn.functional.mse_loss, rate=1e-3, size=32)


RECIPES: dict[str, tuple[Callable[[], nn.Module], Callable[[], nn.Module]]] = {
    "lenet1": (lambda: lenet(1), lambda: _lenet(1, epochs=3, count=18_000)),
    "lenet4": (lambda: lenet(4), lambda: _lenet(4, epochs=3, count=18_000)),
    "lenet5": (lambda: lenet(5), lambda: _lenet(5)),
    **{
        f"lenet5-{name}": (lambda: lenet(5), lambda pair=pair: _lenet(5, swapped=pair))  # type: ignore[misc]
        for name, pair in MUTATIONS.items()
    },
    "resnet": (resnet, lambda: _classify(resnet, *cifar10("train"), 12)),
    "dave": (dave, _dave),
}
"""By name, the empty network and how it is trained. LeNet-1 and -4 see few images: the study's had 93 and 97 %."""


def trained(name: str) -> nn.Module:
    """A trained network, ready to be asked; trained now where there are no weights yet."""
    empty, make = RECIPES[name]
    path = cache_folder() / f"{name}.safetensors"
    if path.exists():
        network = empty()
        network.load_state_dict(load_file(path))
        return network.eval()
    torch.manual_seed(0)
    network = make()
    save_file(network.state_dict(), path)
    return network


def answers(network: nn.Module, images: Images) -> npt.NDArray[np.float32]:
    """What the network says, one row per image."""
    with torch.inference_mode():
        parts = [network(batch_of(images[at : at + 500])) for at in range(0, len(images), 500)]
    found: npt.NDArray[np.float32] = torch.cat(parts).numpy()
    return found


def main() -> None:
    for name in RECIPES:
        network = trained(name)
        if name == "dave":
            images, angles = steering()
            at = len(images) // 2
            print(f"{name}: 1-MSE {1 - np.mean((answers(network, images[at:])[:, 0] - angles[at:]) ** 2):.3f}")
            continue
        images, labels = cifar10("test") if name == "resnet" else mnist("test")
        print(f"{name}: accuracy {np.mean(answers(network, images).argmax(axis=1) == labels):.4f}", flush=True)


if __name__ == "__main__":
    main()
