"""Built-in data: a small network that reads digits, and a field in which it does worse than in the laboratory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fieldcheck.core.pool import Pool
from fieldcheck.core.types import FloatArray, IntArray

SHIFTS = ("as in training", "noise", "faded", "moved")


@dataclass(frozen=True, eq=False)
class DigitsField:
    """The pool, and what only some techniques or a report look at.

    activations
        Of the hidden layer, one row per item.
    images
        8 × 8 grey values from 0 to 1, one per item.
    laboratory_accuracy
        On images like those it was trained on: what one would report without looking at the field.
    """

    pool: Pool
    activations: FloatArray
    images: FloatArray
    laboratory_accuracy: float


def digits_field(seed: int = 0) -> DigitsField:
    """Train on a third of scikit-learn's digits; the rest, half of it disturbed in three ways, is the field."""
    from sklearn.datasets import load_digits
    from sklearn.neural_network import MLPClassifier

    data = load_digits()
    images, labels = data.images / 16.0, data.target
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(images))
    train, check, field = order[:450], order[450:600], np.concatenate([order[600:], order[600:]])
    network = MLPClassifier(hidden_layer_sizes=(40,), max_iter=400, random_state=seed, tol=1e-3)
    network.fit(images[train].reshape(-1, 64), labels[train])
    kind = np.where(np.arange(len(field)) < len(field) // 2, 0, rng.integers(1, len(SHIFTS), len(field)))
    seen = _disturb(images[field], kind, rng)
    probabilities = network.predict_proba(seen.reshape(-1, 64))
    hidden = np.maximum(seen.reshape(-1, 64) @ network.coefs_[0] + network.intercepts_[0], 0.0)
    pool = Pool.from_arrays(
        ids=np.arange(len(field)),
        y_proba=probabilities,
        y_true=labels[field],
        metadata={"condition": [SHIFTS[code] for code in kind]},
        name="digits",
    )
    accuracy = float(np.mean(network.predict(images[check].reshape(-1, 64)) == labels[check]))
    return DigitsField(pool, hidden, seen, accuracy)


def _disturb(images: FloatArray, kind: IntArray, rng: np.random.Generator) -> FloatArray:
    noisy = images + rng.normal(0.0, 0.25, images.shape)
    faded = 0.35 + images * 0.4
    moved = np.roll(images, 1, axis=2)
    chosen = np.select([kind[:, None, None] == code for code in range(1, 4)], [noisy, faded, moved], images)
    return np.asarray(np.clip(chosen, 0.0, 1.0))
