"""Reconstruction error of a simple autoencoder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from fieldcheck.accuracy.auxiliary.base import Trace, Variable
from fieldcheck.accuracy.auxiliary.training.autoencoder import Autoencoder, FittedAutoencoder, fit_autoencoder
from fieldcheck.core.registry import check_between
from fieldcheck.core.types import Task


@dataclass(frozen=True)
class Sae(Variable):
    """Mean squared error with which an autoencoder with one hidden layer gives an input back.

    It is trained on the inputs of the reference, a tenth of which says when to stop: what is unlike them comes back
    changed (Hinton and Salakhutdinov, Science 2006; as an auxiliary variable: Guerriero et al., DeepSample, ICSE
    2024). It knows nothing of the model.

    hidden
        Neurons of the hidden layer, at most half of the numbers in an input.
    epochs
        At most so many passes over the reference.
    """

    name: ClassVar[str] = "sae"
    title: ClassVar[str] = "Reconstruction error of an autoencoder"
    paper: ClassVar[str] = "Hinton and Salakhutdinov, Science 2006; Guerriero et al., ICSE 2024"
    tasks: ClassVar[frozenset[Task]] = frozenset({"classification", "regression"})
    needs: ClassVar[frozenset[str]] = frozenset({"inputs"})
    needs_reference: ClassVar[frozenset[str]] = frozenset({"inputs"})
    helpful: ClassVar[bool] = True

    hidden: int = 64
    epochs: int = 50

    def __post_init__(self) -> None:
        check_between(self.name, low=1, high=100_000, hidden=self.hidden, epochs=self.epochs)

    def fit(self, reference: Trace | None, *, seed: int) -> FittedAutoencoder:
        return fit_autoencoder(self.name, reference, self._network, epochs=self.epochs, seed=seed)

    def _network(self, torch: Any, columns: int) -> Autoencoder:
        hidden = max(1, min(self.hidden, columns // 2))
        nn = torch.nn
        module = nn.Sequential(nn.Linear(columns, hidden), nn.ReLU(), nn.Linear(hidden, columns))

        def loss(rows: Any, noise: Any) -> Any:
            return (module(rows) - rows).square().mean()

        return Autoencoder(module, loss, module)
