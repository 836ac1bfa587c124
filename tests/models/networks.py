"""Small networks, trained here on scikit-learn's digits, for all frameworks."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.datasets import load_digits
from torch import nn

Array = npt.NDArray[Any]


@cache
def digits() -> tuple[Array, Array]:
    """Images of 8 x 8 from 0 to 1, flat, float32; and what they show."""
    data = load_digits()
    return (data.data / 16).astype(np.float32), data.target


def items(count: int = 40) -> Array:
    return digits()[0][-count:].copy()


class Cnn(nn.Module):
    """Convolution, normalisation, work in place, dropout, and a function between the last two layers."""

    def __init__(self, ends: int = 10) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.act = nn.ReLU(inplace=True)
        self.fc1 = nn.Linear(4 * 36, 16)
        self.fc2 = nn.Linear(16, ends)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.act(self.norm(self.conv(x))).flatten(1)
        return self.fc2(torch.relu(self.fc1(x)))

    def hidden(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.fc1(self.act(self.norm(self.conv(x))).flatten(1)))


def mlp(ends: int = 10, *last: nn.Module) -> nn.Sequential:
    return nn.Sequential(nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, ends), *last)


def train(
    net: nn.Module, x: Array, y: torch.Tensor, loss: Callable[..., torch.Tensor], *, steps: int = 60
) -> nn.Module:
    """The network after ``steps`` passes of Adam over all items."""
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    rows = torch.from_numpy(x)
    for _ in range(steps):
        optimizer.zero_grad()
        loss(net(rows), y).backward()
        optimizer.step()
    return net.eval()


@cache
def trained_cnn() -> Cnn:
    torch.manual_seed(0)
    x, y = digits()
    net = train(Cnn(), x.reshape(-1, 1, 8, 8), torch.from_numpy(y), nn.functional.cross_entropy, steps=30)
    assert isinstance(net, Cnn)
    return net


@cache
def trained_mlp(head: str) -> nn.Sequential:
    """``classes``: ten logits. ``odd``: one logit, of being odd. ``value``: the digit, as a number."""
    torch.manual_seed(1)
    x, y = digits()
    target = torch.from_numpy(y)
    if head == "classes":
        made, goal, loss = mlp(10), target, nn.functional.cross_entropy
    elif head == "odd":
        made, goal, loss = mlp(1), (target % 2).float()[:, None], nn.functional.binary_cross_entropy_with_logits
    else:
        made, goal, loss = mlp(1), target.float()[:, None], nn.functional.mse_loss
    train(made, x, goal, loss)
    return made


def save_script(net: nn.Module, path: Path, *, example: Array | None = None) -> Path:
    """TorchScript: scripted, or traced where there is an example. Torch calls both deprecated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        made = torch.jit.script(net) if example is None else torch.jit.trace(net, torch.from_numpy(example))
        made.save(str(path))
    return path


def save_onnx(net: nn.Module, path: Path, *, example: Array, fixed: bool = False) -> Path:
    """By torch's own exporter; ``fixed``: for batches of the size of the example only."""
    axes = None if fixed else {"x": {0: "n"}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        rows = torch.from_numpy(example)
        torch.onnx.export(net, (rows,), str(path), dynamo=False, input_names=["x"], dynamic_axes=axes)
    return path


def save_keras(net: Any, path: Path) -> Path:
    """On torch, Keras' way to numpy warns."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="__array__ implementation", category=DeprecationWarning)
        net.save(path)
    return path


def logits(net: nn.Module, x: Array) -> Array:
    with torch.no_grad():
        return net(torch.from_numpy(np.ascontiguousarray(x))).double().numpy()


def softmax(rows: Array) -> Array:
    return torch.softmax(torch.from_numpy(rows), dim=1).numpy()


def two_columns(one: Array) -> Array:
    return np.column_stack([1 - one.ravel(), one.ravel()])
