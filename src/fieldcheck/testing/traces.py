"""Small traces for the checks of auxiliary variables."""

from __future__ import annotations

import numpy as np

from fieldcheck.accuracy.auxiliary import base as auxiliary
from fieldcheck.core.types import FloatArray, IntArray


def shares(rng: np.random.Generator, items: int, classes: int) -> FloatArray:
    """Probabilities: positive rows that sum to 1."""
    raw = rng.random((items, classes)) ** 3 + 1e-3
    return np.asarray(raw / raw.sum(axis=1, keepdims=True))


def trace(
    rng: np.random.Generator,
    items: int,
    *,
    classes: int = 3,
    neurons: int = 5,
    labels: bool = False,
    shift: float = 0.0,
) -> auxiliary.Trace:
    """A classifier's trace with every part. Activations and inputs depend on the predicted class."""
    probabilities = shares(rng, items, classes)
    said = probabilities.argmax(axis=1)
    spread = rng.standard_normal((items, neurons)) + shift
    return auxiliary.Trace(
        task="classification",
        predictions=said,
        probabilities=probabilities,
        activations=(spread + 2 * np.eye(classes, neurons)[said]).astype(np.float32),
        inputs=(rng.standard_normal((items, 6)) + said[:, None] + shift).astype(np.float32),
        mirrored=shares(rng, items, classes),
        member=shares(rng, items, classes),
        features=rng.integers(0, 5, (items, 3)).astype(np.float32),
        labels=rng.integers(0, classes, items) if labels else None,
    )


def part(whole: auxiliary.Trace, chosen: IntArray) -> auxiliary.Trace:
    """Some items of a trace."""
    return auxiliary.Trace(task=whole.task, **{name: getattr(whole, name)[chosen] for name in whole.has() - {"task"}})


def lean(whole: auxiliary.Trace, parts: frozenset[str]) -> auxiliary.Trace:
    """A trace with these parts and the predictions, and no others."""
    return auxiliary.Trace(**{name: getattr(whole, name) for name in parts | {"task", "predictions"}})
