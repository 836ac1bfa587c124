"""Cross-entropy-based sampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from fieldcheck.core.design import check_between
from fieldcheck.core.errors import DesignError
from fieldcheck.core.frame import Frame
from fieldcheck.core.rng import stream
from fieldcheck.core.sample import Sample
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.numerics.draws import below, without_replacement
from fieldcheck.numerics.representative import Sections, best_group, sections


@dataclass(frozen=True)
class Ces:
    """Choose items so that the activations of the sample look like those of the whole pool.

    Good for the estimate where activations say something about failures. The sample is not a probability sample:
    nothing guarantees that the plain mean is unbiased, and its interval rests on the assumption that the sample is at
    least as good as a random one. It does not look for failures.

    k
        Number of equal sections that each neuron's range is cut into.
    start
        Random items to begin with (the paper: 30, and 5 for pools of hundreds).
    groups, size
        At every step the best of ``groups`` random groups of ``size`` items is added.
    score
        ``cross-entropy`` between the pool's distribution and the sample's, or ``kl``: the divergence KL(sample‖pool)
        that the paper uses for small pools.
    smoothing
        Pseudo-count added to every section of the sample, so that an empty section has a finite logarithm.
    """

    name: ClassVar[str] = "ces"
    title: ClassVar[str] = "Cross-entropy-based sampling"
    paper: ClassVar[str] = "Li et al., Boosting operational DNN testing efficiency through conditioning, ESEC/FSE 2019"
    needs: ClassVar[str] = "activations"
    estimator: ClassVar[str] = "representative"

    k: int = 20
    start: int = 30
    groups: int = 300
    size: int = 5
    score: Literal["cross-entropy", "kl"] = "cross-entropy"
    smoothing: float = 0.5

    def __post_init__(self) -> None:
        check_between(self.name, low=2, high=255, k=self.k)
        check_between(self.name, low=1, high=1_000_000, start=self.start, groups=self.groups, size=self.size)
        check_between(self.name, low=1e-6, high=1000, smoothing=self.smoothing)
        if self.score not in ("cross-entropy", "kl"):
            raise DesignError(f"ces: score '{self.score}'", rule="cross-entropy or kl", hint="ces:score=kl")

    def draw(self, frame: Frame, losses: FloatArray | None, *, budget: int, seed: int) -> Sample:
        activations = frame.activations
        if activations is None:
            raise DesignError(
                "ces needs the activations of a layer, and there are none",
                rule="an array with one row per item and one column per neuron",
                hint="--activations layer.npy",
            )
        pool = frame.memo(("ces", self.k), lambda: sections(activations, self.k))
        items = self._walk(pool, frame.size, budget=budget, seed=seed)
        return Sample(frame.size, items, self.estimator, constants={"purposive": np.array([1.0])}, prefix_valid=True)

    def _walk(self, pool: Sections, population: int, *, budget: int, seed: int) -> IntArray:
        chosen = without_replacement(stream(seed, "ces", "start"), min(self.start, budget), population)
        counts = pool.count(chosen)
        free = np.ones(population, dtype=bool)
        free[chosen] = False
        step = 0
        while len(chosen) < budget:
            left = np.flatnonzero(free)
            size = min(self.size, budget - len(chosen))
            candidates = _random_groups(left, self.groups, size, stream(seed, "ces", "step", step))
            winner = best_group(pool, counts, candidates, score=self.score, smoothing=self.smoothing)
            counts += pool.count(winner)
            free[winner] = False
            chosen = np.concatenate([chosen, winner])
            step += 1
        return chosen


def _random_groups(left: IntArray, groups: int, size: int, rng: np.random.Generator) -> IntArray:
    """``groups`` rows of ``size`` different items that are still free."""
    if len(left) == size:
        return left[None, :]
    if size * size > len(left):  # nearly every row of independent draws would have a repeat
        return left[np.stack([without_replacement(rng, size, len(left)) for _ in range(groups)])]
    rows = below(rng, groups * size, len(left)).reshape(groups, size)
    while True:
        ordered = np.sort(rows, axis=1)
        again = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
        if not len(again):
            return left[rows]
        rows[again] = below(rng, len(again) * size, len(left)).reshape(len(again), size)
