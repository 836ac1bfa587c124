"""How well a small set represents a large one, neuron by neuron: the arithmetic of cross-entropy-based sampling.

Each neuron's range is cut into equal sections, and a set is described by how many of its members fall in each. Costs
are kept as whole numbers (logarithms rounded to 2**-20), so that the best group is the same on every machine and the
sums may be taken in any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.numerics.types import FloatArray, IntArray

_SCALE = 2.0**20

_CELLS = 2_000_000
"""Array cells handled at once: bounds the memory beside the codes themselves."""


@dataclass(frozen=True, eq=False)
class Sections:
    """A population, by the section in which each neuron's activation falls.

    codes
        One row per item, one column per neuron: number of the section.
    share
        One row per neuron, one column per section: share of the population in it.
    """

    codes: npt.NDArray[np.uint8]
    share: FloatArray

    def count(self, items: IntArray) -> IntArray:
        """Number of these items in each section, one row per neuron."""
        return _count(self.codes[items], self.share.shape[1])


def sections(activations: npt.NDArray[Any], k: int) -> Sections:
    """Cut the range of each neuron into k equal sections; the last includes its end, a constant neuron has one."""
    low, high = activations.min(axis=0), activations.max(axis=0)
    span = np.where(high > low, high - low, 1)
    codes = np.empty(activations.shape, dtype=np.uint8)
    total = np.zeros((activations.shape[1], k), dtype=np.int64)
    for rows in _chunks(len(activations), activations.shape[1]):
        part = (activations[rows] - low) / span * k
        np.minimum(part, k - 1, out=part)
        codes[rows] = part.astype(np.uint8)
        total += _count(codes[rows], k)
    return Sections(codes, total / len(activations))


def best_group(
    population: Sections, counts: IntArray, candidates: IntArray, *, score: str, smoothing: float
) -> IntArray:
    """The row of ``candidates`` that makes a set with these counts most like the population; the first of equals.

    counts
        Of the set so far, one row per neuron.
    candidates
        One row per group of items.
    """
    steps = _increments(population.share, counts, candidates.shape[1], score=score, smoothing=smoothing)
    flat = steps.reshape(steps.shape[0], -1)
    offset = np.arange(population.share.shape[0], dtype=np.int64) * population.share.shape[1]
    cost = np.empty(len(candidates), dtype=np.int64)
    for rows in _chunks(len(candidates), candidates.shape[1] * len(offset)):
        cost[rows] = _costs(population.codes[candidates[rows]], flat, offset)
    winner: IntArray = candidates[int(np.argmin(cost))]
    return winner


def _increments(share: FloatArray, counts: IntArray, size: int, *, score: str, smoothing: float) -> IntArray:
    """What the r-th further item in a section adds to the cost, for r = 0 .. size-1; one such table per r."""
    ladder = counts[None, :, :] + np.arange(size + 1)[:, None, None]
    if score == "kl":
        # Σ c log(c / share): up to terms that are the same for all groups, t · KL(sample ‖ population)
        safe = np.where(share > 0, share, 1.0)
        cost = ladder * (np.log(np.maximum(ladder, 1)) - np.log(safe))
    else:
        cost = -share * np.log(ladder + smoothing)
    return np.asarray(np.rint(np.diff(cost, axis=0) * _SCALE), dtype=np.int64)


def _costs(codes: npt.NDArray[np.uint8], steps: IntArray, offset: IntArray) -> IntArray:
    """Cost added by each group; ``codes`` is group × item × neuron, ``steps`` one row per rank within a section."""
    cost = np.zeros(len(codes), dtype=np.int64)
    for item in range(codes.shape[1]):
        before = _earlier(codes, item) * np.int64(steps.shape[1])
        cost += steps.ravel().take(before + (codes[:, item] + offset)).sum(axis=1)
    return cost


def _earlier(codes: npt.NDArray[np.uint8], item: int) -> npt.NDArray[np.unsignedinteger]:
    """How many earlier items of the group are in the section of this one: the second adds less than the first."""
    found = np.zeros(codes[:, 0].shape, dtype=np.min_scalar_type(item))  # bytes: half the time of words
    for earlier in range(item):
        found += codes[:, item] == codes[:, earlier]
    return found


def _count(codes: npt.NDArray[np.uint8], k: int) -> IntArray:
    neurons = codes.shape[1]
    index = codes + np.arange(neurons, dtype=np.int64) * k
    return np.bincount(index.ravel(), minlength=neurons * k).reshape(neurons, k)


def _chunks(rows: int, width: int) -> list[slice]:
    step = max(1, _CELLS // max(width, 1))
    return [slice(start, min(start + step, rows)) for start in range(0, rows, step)]
