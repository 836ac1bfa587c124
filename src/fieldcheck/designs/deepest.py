"""DeepEST: adaptive sampling for rare failures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from fieldcheck.core.design import check_between
from fieldcheck.core.errors import DesignError
from fieldcheck.core.frame import Frame
from fieldcheck.core.rng import stream
from fieldcheck.core.sample import Sample
from fieldcheck.core.types import BoolArray, FloatArray, IntArray
from fieldcheck.numerics.draws import uniforms
from fieldcheck.numerics.urn import Urn


@dataclass(frozen=True)
class DeepEst:
    """Mostly pick items that look suspicious, now and then any; weigh each step by the chance it had.

    Made to expose failures: it finds several times as many as simple random sampling when the auxiliary variable is
    good. The estimate is unbiased, but its variance is large: a failure met by the uniform steps weighs N(1-r)⁻¹
    times more than the others.

    r
        Chance of a weight-based step.
    threshold
        Only items whose auxiliary variable exceeds it are suspicious; it applies to the column as given. Left out:
        0.3 for confidence and combined, mean + variance for lsa, mean + 2 standard deviations for all others, as in
        the paper.
    weights
        ``exceeding``: an item weighs its auxiliary value if that exceeds the threshold (this reproduces the published
        results). ``selected``: every item weighs its auxiliary value from the moment a selected one exceeds the
        threshold (the other reading of the text).
    """

    name: ClassVar[str] = "deepest"
    title: ClassVar[str] = "DeepEST"
    paper: ClassVar[str] = "Guerriero et al., Operation is the hardest teacher, ICSE 2021"
    needs: ClassVar[str] = "auxiliary"
    estimator: ClassVar[str] = "adaptive"

    auxiliary: str = "confidence"
    r: float = 0.8
    threshold: float | None = None
    weights: Literal["exceeding", "selected"] = "exceeding"

    def __post_init__(self) -> None:
        check_between(self.name, low=0, high=1, r=self.r)
        if self.r == 1.0:
            raise DesignError(
                "deepest: r is 1",
                rule="some steps must be uniform, or items stay unreachable",
                hint="deepest:r=0.8",
            )
        if self.weights not in ("exceeding", "selected"):
            raise DesignError(
                f"deepest: weights '{self.weights}'",
                rule="exceeding or selected",
                hint="deepest:weights=selected",
            )

    def draw(self, frame: Frame, losses: FloatArray | None, *, budget: int, seed: int) -> Sample:
        chi = frame.chi(self.auxiliary)
        limit = self.threshold if self.threshold is not None else default_threshold(self.auxiliary, chi)
        whole, cumulative = frame.memo(
            ("deepest", self.auxiliary, limit, self.weights), lambda: self._whole(chi, limit)
        )
        items, probability = self._walk(chi > limit, whole, cumulative, budget=budget, seed=seed)
        quiet = (
            ()
            if cumulative[-1] and (chi > limit).any()
            else (f"no item exceeds the threshold {limit:g}: every step is uniform",)
        )
        return Sample(
            frame.size,
            items,
            self.estimator,
            per_draw={"step_probability": probability},
            constants={"r": np.array([self.r])},
            prefix_valid=True,
            warnings=quiet,
        )

    def _whole(self, chi: FloatArray, limit: float) -> tuple[IntArray, IntArray]:
        """Weights as whole numbers, and their running sum."""
        weight = np.where(chi > limit, chi, 0.0) if self.weights == "exceeding" else chi
        top = float(weight.max())
        exponent = 51 - len(chi).bit_length()
        whole = np.rint(weight / (top if top > 0 else 1.0) * 2.0**exponent).astype(np.int64)
        return whole, np.cumsum(whole)

    def _walk(
        self, exceeds: BoolArray, whole: IntArray, cumulative: IntArray, *, budget: int, seed: int
    ) -> tuple[IntArray, FloatArray]:
        """The items in order, and the chance each had at its step."""
        population = len(whole)
        suspicious = Urn(cumulative, stream(seed, "deepest", "weighted"))
        everyone = Urn(np.arange(1, population + 1, dtype=np.int64), stream(seed, "deepest", "uniform"))
        coins = uniforms(stream(seed, "deepest", "coin"), budget).tolist()
        items, probability = np.empty(budget, dtype=np.int64), np.empty(budget)
        awake = self.weights == "exceeding"
        for step in range(budget):
            weighted = step > 0 and awake and suspicious.left > 0
            item = suspicious.draw() if weighted and coins[step] < self.r else everyone.draw()
            uniform = 1.0 / everyone.left
            probability[step] = (
                self.r * int(whole[item]) / suspicious.left + (1 - self.r) * uniform if weighted else uniform
            )
            items[step] = item
            suspicious.take(item)
            everyone.take(item)
            awake = awake or bool(exceeds[item])
        return items, probability


def default_threshold(auxiliary: str, chi: FloatArray) -> float:
    """The paper's threshold for an auxiliary variable, on the column as given."""
    if auxiliary in ("confidence", "combined"):
        return 0.3
    if auxiliary == "lsa":
        return float(chi.mean() + chi.var())
    return float(chi.mean() + 2 * chi.std())
