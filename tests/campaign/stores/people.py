"""A small pool, and what people would say about it."""

from __future__ import annotations

from functools import cache

import numpy as np

import fieldcheck as fc

CLASSES = ("cat", "dog", "owl")


@cache
def pool(size: int = 200) -> fc.Pool:
    """Three classes; the model is wrong on about a seventh, mostly where it is unsure."""
    rng = np.random.default_rng(11)
    doubt = rng.random(size) ** 4
    predicted = rng.integers(0, 3, size)
    return fc.from_arrays(
        ids=[f"img_{at:04d}" for at in range(size)],
        y_pred=np.array(CLASSES)[predicted],
        confidence=1 - doubt,
    )


@cache
def truth(size: int = 200) -> dict[str, str]:
    """The true class of each item."""
    items, rng = pool(size), np.random.default_rng(12)
    assert items.predictions is not None
    assert items.confidence is not None
    wrong = rng.random(size) < 0.03 + 0.6 * (1 - items.confidence)
    true = np.where(wrong, (items.predictions + 1) % 3, items.predictions)
    return {items.id_of(at): CLASSES[int(code)] for at, code in enumerate(true)}
