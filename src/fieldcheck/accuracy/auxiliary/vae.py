"""Reconstruction error of a variational autoencoder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from fieldcheck.accuracy.auxiliary.base import Trace, Variable
from fieldcheck.accuracy.auxiliary.training.autoencoder import Autoencoder, FittedAutoencoder, fit_autoencoder
from fieldcheck.core.registry import check_between
from fieldcheck.core.types import Task

PRECISION = 4.0
"""Of the normal errors that the decoder is taken to make, on inputs with standard deviation 1."""


@dataclass(frozen=True)
class Vae(Variable):
    """Mean squared error with which a variational autoencoder gives an input back, by the mean of its code.

    It is trained on the inputs of the reference, a tenth of which says when to stop (Kingma and Welling,
    Auto-encoding variational Bayes, ICLR 2014; as an auxiliary variable: Guerriero et al., DeepSample, ICSE 2024). It
    knows nothing of the model.

    hidden, latent
        Neurons of the hidden layers; numbers in the code, at most half of those in an input.
    epochs
        At most so many passes over the reference.
    """

    name: ClassVar[str] = "vae"
    title: ClassVar[str] = "Reconstruction error of a variational autoencoder"
    paper: ClassVar[str] = "Kingma and Welling, ICLR 2014; Guerriero et al., ICSE 2024"
    tasks: ClassVar[frozenset[Task]] = frozenset({"classification", "regression"})
    needs: ClassVar[frozenset[str]] = frozenset({"inputs"})
    needs_reference: ClassVar[frozenset[str]] = frozenset({"inputs"})
    helpful: ClassVar[bool] = True

    hidden: int = 128
    latent: int = 16
    epochs: int = 50

    def __post_init__(self) -> None:
        check_between(self.name, low=1, high=100_000, hidden=self.hidden, latent=self.latent, epochs=self.epochs)

    def fit(self, reference: Trace | None, *, seed: int) -> FittedAutoencoder:
        return fit_autoencoder(self.name, reference, self._network, epochs=self.epochs, seed=seed)

    def _network(self, torch: Any, columns: int) -> Autoencoder:
        latent, nn = max(1, min(self.latent, columns // 2)), torch.nn
        encoder = nn.Sequential(nn.Linear(columns, self.hidden), nn.ReLU(), nn.Linear(self.hidden, 2 * latent))
        decoder = nn.Sequential(nn.Linear(latent, self.hidden), nn.ReLU(), nn.Linear(self.hidden, columns))

        def loss(rows: Any, noise: Any) -> Any:
            mean, log_variance = encoder(rows).chunk(2, dim=1)
            code = mean + torch.randn(mean.shape, generator=noise) * (0.5 * log_variance).exp()
            error = 0.5 * PRECISION * (decoder(code) - rows).square().sum(dim=1)
            divergence = 0.5 * (mean.square() + log_variance.exp() - 1 - log_variance).sum(dim=1)
            return (error + divergence).mean() / columns

        def rebuilt(rows: Any) -> Any:
            return decoder(encoder(rows).chunk(2, dim=1)[0])

        return Autoencoder(nn.ModuleList([encoder, decoder]), loss, rebuilt)
