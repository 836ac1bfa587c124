"""CES as its authors' code runs it, which is not what the paper's text says; written from a description of that code.

Each neuron's range is cut into equal sections whose *two* edges are both left out: every value on an edge, and so every
zero of a ReLU, is in no section. A step looks at 30 random groups of five items, which may repeat items that are
selected already, and adds the one with the smallest score. The number of sections and the score differ by network.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

TINY = 1e-9
"""In place of a share of zero under a logarithm."""


@dataclass(frozen=True)
class Settings:
    """Of one network."""

    sections: int
    score: Literal["kl", "cross-entropy"] = "kl"
    groups: int = 30
    start: int = 30
    size: int = 5


@dataclass(frozen=True, eq=False)
class Population:
    """``codes``: section of each item (row) and neuron (column), the last one for "in none"; ``share`` of all."""

    codes: Ints
    share: Floats


def population(activations: npt.NDArray[np.float32], sections: int) -> Population:
    values = activations.astype(np.float64)
    low, high = values.min(axis=0), values.max(axis=0)
    width = np.where(high > low, high - low, 1.0) / sections
    place = (values - low) / width
    codes = np.where(place == np.floor(place), sections, np.floor(place)).astype(np.int64)
    counts = np.stack([np.bincount(column, minlength=sections + 1)[:sections] for column in codes.T])
    return Population(codes, counts / len(values))


def walk(whole: Population, settings: Settings, budget: int, rng: np.random.Generator) -> Ints:
    """The selected items in their order; an item may be there twice."""
    items, sections = len(whole.codes), whole.share.shape[1]
    chosen = rng.choice(items, settings.start, replace=False)
    counts = np.stack([np.bincount(column, minlength=sections + 1)[:sections] for column in whole.codes[chosen].T])
    while len(chosen) < budget:
        groups = rng.integers(0, items, size=(settings.groups, settings.size))
        added = _counts(whole.codes[groups], sections)
        scores = _scores(counts + added, whole.share, len(chosen) + settings.size, settings.score)
        best = int(np.argmin(scores))
        chosen, counts = np.concatenate([chosen, groups[best]]), counts + added[best]
    return chosen


def _counts(codes: Ints, sections: int) -> Ints:
    """Group × neuron × section, from the sections of its items (group × item × neuron)."""
    groups, _, neurons = codes.shape
    found = np.zeros((groups, neurons, sections + 1), dtype=np.int64)
    for item in range(codes.shape[1]):
        found[np.arange(groups)[:, None], np.arange(neurons)[None, :], codes[:, item]] += 1
    return found[:, :, :sections]


def _scores(counts: Ints, share: Floats, size: int, score: str) -> Floats:
    sample = counts / size
    if score == "kl":
        terms = sample * np.log(np.maximum(sample, TINY) / np.maximum(share, TINY))
    else:
        terms = -share * np.log(np.maximum(sample, TINY))
    return np.asarray(terms.sum(axis=(1, 2)))
