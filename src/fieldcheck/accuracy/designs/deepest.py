"""DeepEST: adaptive sampling for rare failures."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from fieldcheck.core.draws import StepDraws
from fieldcheck.core.errors import DesignError
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.registry import check_between
from fieldcheck.core.rng import stream
from fieldcheck.core.sample import Sample
from fieldcheck.core.types import BoolArray, FloatArray, IntArray
from fieldcheck.numerics.sampling import draws
from fieldcheck.numerics.sampling.urn import Urn


@dataclass(frozen=True)
class DeepEst:
    """Mostly pick items that look suspicious, now and then any; weigh each step by the chance it had.

    Made to expose failures: it finds several times as many as simple random sampling when the auxiliary variable is
    good. The estimate is unbiased, but its variance is large: a failure met by the uniform steps weighs N(1-r)⁻¹
    times more than the others.

    r
        Chance of a weight-based step.
    threshold
        Only items whose auxiliary variable exceeds it are suspicious; it applies to the column as given. A number, or
        ``mean+sd``, ``mean+2sd``, ``mean+var`` of the column. Left out: 0 in regression (every item weighs its value);
        else what the variable declares (0.3 for confidence and combined, mean+sd for lsa, mean+2sd for all others),
        and 0 if no item exceeds that mean and its deviations. The papers' own but for lsa: their mean+var changes with
        the unit, and may lie above every value, which switches the technique off.
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
    rules: ClassVar[Mapping[str, Callable[[FloatArray], float]]] = {
        "mean+sd": lambda values: float(values.mean() + values.std()),
        "mean+2sd": lambda values: float(values.mean() + 2 * values.std()),
        "mean+var": lambda values: float(values.mean() + values.var()),
    }

    auxiliary: str = "confidence"
    r: float = 0.8
    threshold: float | str | None = None
    weights: Literal["exceeding", "selected"] = "exceeding"

    def __post_init__(self) -> None:
        check_between(self.name, low=0, high=1, r=self.r)
        if self.r == 1.0:
            raise DesignError(
                "deepest: r is 1",
                rule="some steps must be uniform, or items stay unreachable",
                hint="deepest:r=0.8",
            )
        if not (self.threshold is None or self.threshold in self.rules or _finite(self.threshold)):
            raise DesignError(
                f"deepest: threshold '{self.threshold}'",
                rule="a number, or one of " + ", ".join(self.rules),
                hint="deepest:threshold=mean+sd",
            )
        if self.weights not in ("exceeding", "selected"):
            raise DesignError(
                f"deepest: weights '{self.weights}'",
                rule="exceeding or selected",
                hint="deepest:weights=selected",
            )

    def draw(self, frame: Frame, losses: FloatArray | None, *, budget: int, seed: int) -> Sample:
        values = frame.values(self.auxiliary)
        limit, remarks = self.limit(frame)
        whole, cumulative = frame.memo(
            ("deepest", self.auxiliary, limit, self.weights), lambda: self._whole(values, limit)
        )
        items, probability = self._walk(values > limit, whole, cumulative, budget=budget, seed=seed)
        return Sample(
            frame.size,
            items,
            self.estimator,
            StepDraws(probability, self.r),
            warnings=remarks,
        )

    def chances(self, frame: Frame, draws: int) -> FloatArray | None:
        """By what is left of every item on average: a step takes its share of each.

        Not the exact chances, which depend on the order of all draws; against real draws their error is small beside
        the scatter. Where weights wait for the first item over the threshold, they depend on it.
        """
        if self.weights != "exceeding":
            return None
        values = frame.values(self.auxiliary)
        weight = np.where(values > self.limit(frame)[0], values, 0.0)
        left = np.ones(frame.size)
        for step in range(draws):
            everyone, suspicious = float(left.sum()), float((weight * left).sum())
            if step == 0 or suspicious <= 0:
                left *= 1 - 1 / everyone
            else:
                left *= np.clip(1 - self.r * weight / suspicious - (1 - self.r) / everyone, 0.0, 1.0)
        return 1 - left

    def limit(self, frame: Frame) -> tuple[float, tuple[str, ...]]:
        """The threshold for its column, and what to say about it."""
        values = frame.values(self.auxiliary)
        asked = self._usual(frame) if self.threshold is None else self.threshold
        limit = self.rules[asked](values) if isinstance(asked, str) else asked
        if (values > limit).any():
            return limit, ()
        if self.threshold is None and isinstance(asked, str) and (values > 0).any():
            return 0.0, (f"no item exceeds {asked} of {self.auxiliary}, {limit:g}: every item weighs its value",)
        return limit, (f"no item exceeds the threshold {limit:g}: every step is uniform",)

    def _usual(self, frame: Frame) -> float | str:
        return 0.0 if frame.task == "regression" else frame.trait(self.auxiliary).threshold

    def _whole(self, values: FloatArray, limit: float) -> tuple[IntArray, IntArray]:
        """Weights as whole numbers, and their running sum."""
        weight = np.where(values > limit, values, 0.0) if self.weights == "exceeding" else values
        top = float(weight.max())
        exponent = 51 - len(values).bit_length()
        whole = np.rint(weight / (top if top > 0 else 1.0) * 2.0**exponent).astype(np.int64)
        return whole, np.cumsum(whole)

    def _walk(
        self, exceeds: BoolArray, whole: IntArray, cumulative: IntArray, *, budget: int, seed: int
    ) -> tuple[IntArray, FloatArray]:
        """The items in order, and the chance each had at its step."""
        population = len(whole)
        suspicious = Urn(cumulative, stream(seed, "deepest", "weighted"))
        everyone = Urn(np.arange(1, population + 1, dtype=np.int64), stream(seed, "deepest", "uniform"))
        coins = draws.uniforms(stream(seed, "deepest", "coin"), budget).tolist()
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


def _finite(threshold: float | str) -> bool:
    return not isinstance(threshold, str) and math.isfinite(threshold)
