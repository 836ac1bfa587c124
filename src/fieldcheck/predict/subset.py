"""A random part of the reference."""

from __future__ import annotations

import numpy as np

from fieldcheck.core.inputs import Inputs
from fieldcheck.core.rng import stream
from fieldcheck.core.subset import Subset


def limited(inputs: Inputs, limit: int | None, *, seed: int) -> tuple[Inputs, tuple[str, ...]]:
    """The inputs, or ``limit`` of them drawn at random, and what to say about it."""
    if limit is None or limit >= len(inputs):
        return inputs, ()
    # The raw output of the generator is what numpy promises to keep: its order is a permutation.
    raw = stream(seed, "predict", "reference").bit_generator.random_raw(len(inputs))
    chosen = np.sort(np.argsort(raw, kind="stable")[:limit])
    return Subset(inputs, chosen), (f"{limit:,} of {len(inputs):,} reference items, drawn at random (seed {seed})",)
