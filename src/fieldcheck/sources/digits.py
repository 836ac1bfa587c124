"""Built-in data: a small network that reads digits, and a field in which it does worse than in the laboratory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.sources.pools.arrays import from_arrays

if TYPE_CHECKING:
    from sklearn.neural_network import MLPClassifier


SHIFTS = ("as in training", "noise", "faded", "moved")


@dataclass(frozen=True, eq=False)
class DigitsField:
    """The pool, and what only some techniques or a report look at.

    activations
        Of the hidden layer, one row per item.
    images
        8 × 8 grey values from 0 to 1, one per item.
    challenger
        The same items, as read by a second network that was trained on disturbed images too.
    laboratory_accuracy
        On images like those it was trained on: what one would report without looking at the field.
    network, fresh, truths
        The network, images as it was trained on but has not seen, and what they show.
    """

    pool: Pool
    activations: FloatArray
    images: FloatArray
    challenger: Pool
    laboratory_accuracy: float
    network: MLPClassifier
    fresh: FloatArray
    truths: IntArray


def digits_field(seed: int = 0) -> DigitsField:
    """Train on a third of scikit-learn's digits; the rest, half of it disturbed in three ways, is the field."""
    from sklearn.datasets import load_digits

    data = load_digits()
    images, labels = data.images / 16.0, data.target
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(images))
    train, check, field = order[:450], order[450:600], np.concatenate([order[600:], order[600:]])
    kind = np.where(np.arange(len(field)) < len(field) // 2, 0, rng.integers(1, len(SHIFTS), len(field)))
    seen = _disturb(images[field], kind, rng)
    network = _network(images[train], labels[train], seed)
    harder = _disturb(images[train], rng.integers(0, len(SHIFTS), len(train)), rng)
    rival = _network(np.concatenate([images[train], harder]), np.tile(labels[train], 2), seed)
    flat = seen.reshape(-1, 64)

    def as_pool(model: MLPClassifier, name: str) -> Pool:
        return from_arrays(
            ids=np.arange(len(field)),
            y_proba=model.predict_proba(flat),
            y_true=labels[field],
            metadata={"condition": [SHIFTS[code] for code in kind]},
            name=name,
        )

    return DigitsField(
        pool=as_pool(network, "digits"),
        activations=np.maximum(flat @ network.coefs_[0] + network.intercepts_[0], 0.0),
        images=seen,
        challenger=as_pool(rival, "challenger"),
        laboratory_accuracy=float(np.mean(network.predict(images[check].reshape(-1, 64)) == labels[check])),
        network=network,
        fresh=images[order[600:]],
        truths=labels[order[600:]],
    )


def _network(images: FloatArray, labels: IntArray, seed: int) -> MLPClassifier:
    from sklearn.neural_network import MLPClassifier

    network = MLPClassifier(hidden_layer_sizes=(40,), max_iter=400, random_state=seed, tol=1e-3)
    return network.fit(images.reshape(-1, 64), labels)


def _disturb(images: FloatArray, kind: IntArray, rng: np.random.Generator) -> FloatArray:
    noisy = images + rng.normal(0.0, 0.25, images.shape)
    faded = 0.35 + images * 0.4
    moved = np.roll(images, 1, axis=2)
    chosen = np.select([kind[:, None, None] == code for code in range(1, 4)], [noisy, faded, moved], images)
    return np.asarray(np.clip(chosen, 0.0, 1.0))
