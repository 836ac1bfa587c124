"""Simple random sampling inside each group of a partition."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fieldcheck.numerics.sampling.draws import permutation, without_replacement
from fieldcheck.numerics.sampling.partition import Partition


def stratified_draw(
    strata: Partition, counts: npt.NDArray[np.int64], rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Items drawn without replacement, and the stratum of each.

    One item of every stratum comes first, the others follow, both in random order: whoever stops half-way has every
    stratum, and what was labelled of a stratum is a random part of it.
    """
    drawn = [
        group[without_replacement(rng, int(count), len(group))]
        for group, count in zip(strata.members, counts, strict=True)
    ]
    stratum = np.repeat(np.arange(len(strata)), counts)
    leads = np.concatenate([[0], np.cumsum(counts)[:-1]])[counts > 0]
    order = permutation(rng, len(stratum))
    later = np.ones(len(stratum), dtype=bool)
    later[leads] = False
    order = order[np.argsort(later[order], kind="stable")]
    return np.concatenate(drawn)[order], stratum[order]
