"""What the autoencoders share: how they are trained on the reference, and the error of what they give back."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.accuracy.auxiliary.base import AsIs, Trace
from fieldcheck.accuracy.auxiliary.traces.parts import needed, numbers, reference_of
from fieldcheck.accuracy.auxiliary.training.scaling import Scaling
from fieldcheck.accuracy.auxiliary.training.torch import need_torch, seeded
from fieldcheck.core.rng import stream
from fieldcheck.core.types import FloatArray, IntArray

BATCH = 128

PATIENCE = 5
"""Epochs without a better validation loss after which training stops."""

HELD_OUT = 10
"""One item of so many is for validation."""


@dataclass(frozen=True, eq=False)
class Autoencoder:
    """An autoencoder.

    module
        Holds the weights.
    loss
        Of rows, with a source of random numbers: what is made small.
    rebuilt
        What comes back for rows; nothing random.
    """

    module: Any
    loss: Callable[[Any, Any], Any]
    rebuilt: Callable[[Any], Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedAutoencoder(AsIs):
    """A trained network. It works in double precision: values of different batches agree to about 1e-12."""

    name: str
    scaling: Scaling
    network: Autoencoder

    def values(self, trace: Trace) -> FloatArray:
        rows = self.scaling.rows(needed(trace, "inputs", by=self.name), by=self.name)
        torch = need_torch(self.name)
        parts = [np.zeros(0)]
        with torch.inference_mode():
            for start in range(0, len(rows), 1_024):
                given = torch.from_numpy(rows[start : start + 1_024]).double()
                parts.append(np.square((self.network.rebuilt(given) - given).numpy()).mean(axis=1))
        return np.concatenate(parts)


def fit_autoencoder(
    name: str, reference: Trace | None, build: Callable[[Any, int], Autoencoder], *, epochs: int, seed: int
) -> FittedAutoencoder:
    """Train on the inputs of the reference.

    build
        From PyTorch and the number of columns to a network.
    """
    torch = need_torch(name)
    inputs = numbers(needed(reference_of(reference, by=name), "inputs", by=name), by=name)
    scaling = Scaling.of(inputs)
    numbers_of = stream(seed, name)
    # The layers of PyTorch take their first weights from a global source: it is put back afterwards.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(numbers_of.integers(2**62)))
        network = build(torch, int(np.prod(inputs.shape[1:])))
    rows = _Rows(torch, scaling, inputs, name)
    used, loss = _train(torch, network, rows, epochs=epochs, rng=numbers_of)
    network.module.double().eval()
    return FittedAutoencoder(notes=_notes(name, len(rows), used, loss), name=name, scaling=scaling, network=network)


@dataclass(frozen=True, eq=False)
class _Rows:
    """The reference, scaled when it is asked for: inputs may be a file that is larger than the memory."""

    torch: Any
    scaling: Scaling
    inputs: npt.NDArray[Any]
    name: str

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, positions: IntArray) -> Any:
        return self.torch.from_numpy(self.scaling.rows(self.inputs[np.sort(positions)], by=self.name))


def _train(
    torch: Any, network: Autoencoder, rows: _Rows, *, epochs: int, rng: np.random.Generator
) -> tuple[int, float]:
    """Adam until the validation loss stops falling; the best weights stay. Epochs that were run, and that loss."""
    order = rng.permutation(len(rows))
    held = max(1, len(rows) // HELD_OUT)
    # A single item has to do for both.
    check, learn = order[:held], order[held:] if len(rows) > 1 else order
    optimiser = torch.optim.Adam(network.module.parameters(), lr=1e-3)
    noise = seeded(torch, int(rng.integers(2**62)))
    best, best_at, weights = float("inf"), 0, copy.deepcopy(network.module.state_dict())
    for epoch in range(1, epochs + 1):
        _one_epoch(network, optimiser, rows, rng.permutation(learn), noise=noise)
        loss = _validation(torch, network, rows, check)
        if loss < best:
            best, best_at, weights = loss, epoch, copy.deepcopy(network.module.state_dict())
        if epoch - best_at >= PATIENCE:
            break
    network.module.load_state_dict(weights)
    return epoch, best


def _one_epoch(network: Autoencoder, optimiser: Any, rows: _Rows, order: IntArray, *, noise: Any) -> None:
    network.module.train()
    for start in range(0, len(order), BATCH):
        optimiser.zero_grad()
        network.loss(rows[order[start : start + BATCH]], noise).backward()
        optimiser.step()


def _validation(torch: Any, network: Autoencoder, rows: _Rows, check: IntArray) -> float:
    """Mean loss; the same random numbers every time."""
    network.module.eval()
    noise, total = seeded(torch, 0), 0.0
    with torch.inference_mode():
        for start in range(0, len(check), 1_024):
            part = check[start : start + 1_024]
            total += float(network.loss(rows[part], noise)) * len(part)
    return total / len(check)


def _notes(name: str, items: int, epochs: int, loss: float) -> tuple[str, ...]:
    trained = f"{name}: trained on {items:,} reference inputs for {epochs} epochs, validation loss {loss:.4g}"
    few = (f"{name}: {items:,} reference inputs are few to learn from",) if items < 100 else ()
    return (trained, *few)
