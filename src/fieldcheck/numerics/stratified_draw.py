"""Simple random sampling inside each group of a partition."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fieldcheck.numerics.draws import permutation, without_replacement
from fieldcheck.numerics.partition import Partition


def stratified_draw(
    strata: Partition, counts: npt.NDArray[np.int64], rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Items drawn without replacement, and the stratum of each; in random order over all strata."""
    drawn = [
        group[without_replacement(rng, int(count), len(group))]
        for group, count in zip(strata.members, counts, strict=True)
    ]
    order = permutation(rng, int(counts.sum()))
    stratum = np.repeat(np.arange(len(strata), dtype=np.float64), counts)
    return np.concatenate(drawn)[order], stratum[order]
