"""Small traces for the tests of auxiliary variables."""

from __future__ import annotations

import numpy as np

from fieldcheck.accuracy.auxiliary.base import Trace


def shares(rng, items, classes):
    """Probabilities: positive rows that sum to 1."""
    raw = rng.random((items, classes)) ** 3 + 1e-3
    return raw / raw.sum(axis=1, keepdims=True)


def trace(rng, items, *, classes=3, neurons=5, labels=False, shift=0.0):
    """A classifier's trace with every part. Activations and inputs depend on the predicted class."""
    probabilities = shares(rng, items, classes)
    said = probabilities.argmax(axis=1)
    spread = rng.standard_normal((items, neurons)) + shift
    return Trace(
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


def part(whole, chosen):
    """Some items of a trace."""
    fields = {name: getattr(whole, name)[chosen] for name in whole.has() - {"task"}}
    return Trace(task=whole.task, **fields)


def activations_only(activations, said=None):
    """A trace with nothing but activations; without predicted classes it is one of a regression."""
    rows = np.asarray(activations, dtype=np.float32)
    if said is None:
        return Trace(task="regression", predictions=np.zeros(len(rows)), activations=rows)
    return Trace(task="classification", predictions=np.asarray(said, dtype=np.int64), activations=rows)
