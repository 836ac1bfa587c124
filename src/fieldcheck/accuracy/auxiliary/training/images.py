"""A second model for images."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.accuracy.auxiliary.traces.parts import numbers
from fieldcheck.accuracy.auxiliary.training.augmentations import augmented
from fieldcheck.accuracy.auxiliary.training.lesson import Lesson
from fieldcheck.accuracy.auxiliary.training.torch import need_torch, seeded
from fieldcheck.core.errors import InputsError
from fieldcheck.core.types import FloatArray, IntArray

USUAL, MOST = 8, 60
"""Epochs on a large reference, and on a small one."""

STEPS = 2_000
"""Batches that a network should see, where that does not take too many epochs."""

BATCH = 128


@dataclass(frozen=True, eq=False)
class _Images:
    """Images as the network gets them: channels first, from 0 to 1 on the reference."""

    shape: tuple[int, ...]
    low: float
    high: float
    channels_last: bool

    @classmethod
    def of(cls, inputs: npt.NDArray[Any]) -> _Images:
        low, high = float(inputs.min()), float(inputs.max())
        last = inputs.ndim == 4 and inputs.shape[-1] <= 4 < inputs.shape[1]
        return cls(inputs.shape[1:], low, high if high > low else low + 1, last)

    def tensor(self, torch: Any, batch: Any) -> Any:
        array = numbers(batch, by="member").astype(np.float32)
        if array.shape[1:] != self.shape:
            raise InputsError(
                f"member: images of shape {array.shape[1:]}, it was trained on {self.shape}",
                rule="the pool and the reference are prepared alike",
            )
        if array.ndim == 3:
            array = array[:, None]
        elif self.channels_last:
            array = np.moveaxis(array, -1, 1)
        return torch.from_numpy(np.ascontiguousarray((array - self.low) / (self.high - self.low)))


def train_images(
    inputs: npt.NDArray[Any], lesson: Lesson, augmentations: tuple[str, ...]
) -> tuple[Callable[[Any], FloatArray], tuple[str, ...]]:
    """A small convolutional network (LeCun et al., Proc. IEEE 1998), and what it was taught with."""
    torch = need_torch("member")
    images, rng = _Images.of(inputs), lesson.rng("images")
    # The layers of PyTorch take their first weights from a global source: it is put back afterwards.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(rng.integers(2**62)))
        network = _network(torch.nn, images.tensor(torch, inputs[:1]).shape[1], lesson.classes)
    noise = seeded(torch, int(rng.integers(2**62)))

    def seen(some: IntArray) -> Any:
        return augmented(torch, images.tensor(torch, inputs[some]), augmentations, noise)

    def predict(batch: Any) -> FloatArray:
        with torch.inference_mode():
            parts = [
                network(images.tensor(torch, batch[start : start + 512])).double().softmax(dim=1).numpy()
                for start in range(0, len(batch), 512)
            ]
        return np.concatenate([np.zeros((0, lesson.classes)), *parts])

    _teach(torch, network, lesson, seen=seen, rng=rng)
    return predict, augmentations


def _teach(
    torch: Any, network: Any, lesson: Lesson, *, seen: Callable[[IntArray], Any], rng: np.random.Generator
) -> None:
    """Adam with a step that fades; ``seen`` gives items as they are shown."""
    epochs = lesson.passes(int(np.clip(STEPS * BATCH // len(lesson.learn), USUAL, MOST)))
    optimiser = torch.optim.Adam(network.parameters(), lr=2e-3)
    fading = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, max(len(epochs), 1))
    for epoch in epochs:
        order = rng.permutation(lesson.learn)
        for start in range(0, len(order), BATCH):
            some = np.sort(order[start : start + BATCH])
            optimiser.zero_grad()
            torch.nn.functional.cross_entropy(network(seen(some)), torch.from_numpy(lesson.labels[some])).backward()
            optimiser.step()
        fading.step()
        lesson.told(epoch, epochs)
    network.eval()


def _network(nn: Any, channels: int, classes: int) -> Any:
    """Normalised within each image, so that an answer does not depend on the rest of its batch."""

    def layer(before: int, after: int) -> list[Any]:
        return [nn.Conv2d(before, after, 3, padding=1), nn.GroupNorm(4, after), nn.ReLU()]

    def half() -> Any:
        return nn.MaxPool2d(2, ceil_mode=True)

    return nn.Sequential(
        *layer(channels, 16),
        half(),
        *layer(16, 32),
        half(),
        *layer(32, 64),
        nn.AdaptiveAvgPool2d(3),
        nn.Flatten(),
        nn.Linear(9 * 64, classes),
    )
