"""Cross-entropy-based sampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from fieldcheck.core.draws import PurposiveDraws
from fieldcheck.core.errors import DesignError
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.registry import check_between
from fieldcheck.core.rng import stream
from fieldcheck.core.sample import Sample
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.numerics.sampling import draws, representative


@dataclass(frozen=True)
class _Settings:
    """What depends on how much there is to choose from."""

    start: int
    score: str


_LARGE = _Settings(30, "cross-entropy")

_SMALL = _Settings(5, "kl")


@dataclass(frozen=True)
class Ces:
    """Choose items so that the activations of the sample look like those of the whole pool.

    Good for the estimate where activations say something about failures. The sample is not a probability sample:
    nothing guarantees that the plain mean is unbiased, and its interval rests on the assumption that the sample is at
    least as good as a random one. It does not look for failures.

    Two settings follow the pool and the budget, as in the paper, unless they are given: in pools under 1,000 items, and
    with budgets that 30 random items would use up, 5 random items and ``kl``; else 30 and ``cross-entropy``. The sample
    says so when it has those of small pools.

    k
        Number of equal sections that each neuron's range is cut into.
    start
        Random items to begin with.
    groups, size
        At every step the best of ``groups`` random groups of ``size`` items is added.
    score
        ``cross-entropy`` between the pool's distribution and the sample's, or ``kl``: the divergence KL(sample‖pool).
    smoothing
        Pseudo-count added to every section of the sample, so that an empty section has a finite logarithm. 0.1 was
        chosen on the six networks of the FSE'19 study, by any five of them; a smaller one draws fewer failures.
    """

    name: ClassVar[str] = "ces"
    title: ClassVar[str] = "Cross-entropy-based sampling"
    paper: ClassVar[str] = "Li et al., Boosting operational DNN testing efficiency through conditioning, ESEC/FSE 2019"
    needs: ClassVar[str] = "activations"
    estimator: ClassVar[str] = "representative"
    caveat: ClassVar[str] = "Not a probability sample: its interval is model-based."
    small_pool: ClassVar[int] = 1_000
    """Pools of fewer items are small: the paper's are of 100 and 300, its large ones of thousands."""

    k: int = 20
    start: int | None = None
    groups: int = 300
    size: int = 5
    score: Literal["auto", "cross-entropy", "kl"] = "auto"
    smoothing: float = 0.1

    def __post_init__(self) -> None:
        check_between(self.name, low=2, high=255, k=self.k)
        check_between(self.name, low=1, high=1_000_000, groups=self.groups, size=self.size)
        if self.start is not None:
            check_between(self.name, low=1, high=1_000_000, start=self.start)
        check_between(self.name, low=1e-6, high=1000, smoothing=self.smoothing)
        if self.score not in ("auto", "cross-entropy", "kl"):
            raise DesignError(f"ces: score '{self.score}'", rule="auto, cross-entropy or kl", hint="ces:score=kl")

    def draw(self, frame: Frame, losses: FloatArray | None, *, budget: int, seed: int) -> Sample:
        activations = frame.activations
        if activations is None:
            raise DesignError(
                "ces needs the activations of a layer, and there are none",
                rule="an array with one row per item and one column per neuron",
                hint="--activations layer.npy",
            )
        pool = frame.memo(("ces", self.k), lambda: representative.sections(activations, self.k))
        taken = self._settings(frame.size, budget)
        items = self._walk(pool, frame.size, taken, budget=budget, seed=seed)
        return Sample(
            frame.size,
            items,
            self.estimator,
            PurposiveDraws(),  # with the settings taken, the first 30 of 100 are random: a fair sample too
            warnings=self._remarks(taken, frame.size, budget),
        )

    def _settings(self, population: int, budget: int) -> _Settings:
        usual = _SMALL if self._small(population, budget) else _LARGE
        return _Settings(self.start or usual.start, usual.score if self.score == "auto" else self.score)

    def _small(self, population: int, budget: int) -> bool:
        return population < self.small_pool or budget <= _LARGE.start

    def _remarks(self, taken: _Settings, population: int, budget: int) -> tuple[str, ...]:
        """What was chosen for the user, and whether it was chosen in vain."""
        if budget <= taken.start:
            return (f"all {budget} items are random ones: ces only chooses after the first {taken.start} (start)",)
        own = [name for name in ("start", "score") if getattr(self, name) in (None, "auto")]
        if not own or not self._small(population, budget):
            return ()
        values = ",".join(f"{name}={getattr(taken, name)}" for name in own)
        cause = f"pools under {self.small_pool:,} items and budgets up to {_LARGE.start}"
        return (f"ces took {values} by itself: its paper's settings for small pools, taken for {cause}",)

    def _walk(
        self, pool: representative.Sections, population: int, taken: _Settings, *, budget: int, seed: int
    ) -> IntArray:
        chosen = draws.without_replacement(stream(seed, "ces", "start"), min(taken.start, budget), population)
        counts = pool.count(chosen)
        free = np.ones(population, dtype=bool)
        free[chosen] = False
        step = 0
        while len(chosen) < budget:
            left = np.flatnonzero(free)
            size = min(self.size, budget - len(chosen))
            candidates = _random_groups(left, self.groups, size, stream(seed, "ces", "step", step))
            winner = representative.best_group(pool, counts, candidates, score=taken.score, smoothing=self.smoothing)
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
        return left[np.stack([draws.without_replacement(rng, size, len(left)) for _ in range(groups)])]
    rows = draws.below(rng, groups * size, len(left)).reshape(groups, size)
    while True:
        ordered = np.sort(rows, axis=1)
        again = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
        if not len(again):
            return left[rows]
        rows[again] = draws.below(rng, len(again) * size, len(left)).reshape(len(again), size)
