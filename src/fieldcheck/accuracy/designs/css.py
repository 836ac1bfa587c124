"""Confidence-stratified sampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from fieldcheck.core.draws import StratifiedDraws
from fieldcheck.core.errors import DesignError
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.rng import stream
from fieldcheck.core.sample import Sample
from fieldcheck.core.types import FloatArray
from fieldcheck.numerics.sampling import partition
from fieldcheck.numerics.sampling.allocation import allocate
from fieldcheck.numerics.sampling.stratified import stratified_draw


@dataclass(frozen=True)
class Css:
    """Cut the pool into three strata by confidence and label mostly the least confident fifth.

    Good when the model is confident where it is right. Where it is confident and wrong, most failures hide in the
    stratum that gets the fewest labels, and it does worse than simple random sampling.

    auxiliary
        What to sort by; the paper sorts by confidence, and also tried surprise. Regression has no confidence: name
        another.
    shares
        Size of each stratum in percent, safest first; a single number is that many equal ones.
    by
        ``pool``: shares are of the items. ``range``: of the way from the smallest to the largest value, which is how
        the paper introduces it; a section without items is left out, with its labels.
    allocation
        Share of the labels for each stratum in percent, or ``proportional`` to its size.
    """

    name: ClassVar[str] = "css"
    title: ClassVar[str] = "Confidence-stratified sampling"
    paper: ClassVar[str] = "Li et al., Boosting operational DNN testing efficiency through conditioning, ESEC/FSE 2019"
    needs: ClassVar[str] = "auxiliary"
    estimator: ClassVar[str] = "stratified"
    partitions: ClassVar[bool] = True

    auxiliary: str = "confidence"
    shares: str = "80/10/10"
    allocation: str = "20/40/40"
    by: Literal["pool", "range"] = "pool"

    def __post_init__(self) -> None:
        shares = _shares(self.shares)
        if self.by not in ("pool", "range"):
            raise DesignError(
                f"css: by '{self.by}'", rule="pool or range", hint="css:by=range,shares=5,allocation=proportional"
            )
        if self.allocation != "proportional" and len(_percentages(self.allocation, "allocation")) != len(shares):
            raise DesignError(
                f"css: {len(shares)} shares '{self.shares}' but allocation '{self.allocation}'",
                rule="one percentage of the labels per stratum",
                hint="css:shares=80/10/10,allocation=20/40/40, or allocation=proportional",
            )

    def draw(self, frame: Frame, losses: FloatArray | None, *, budget: int, seed: int) -> Sample:
        enough = min(budget, len(_shares(self.shares)))
        strata, wanted = frame.memo(
            ("css", self.auxiliary, self.shares, self.allocation, self.by, enough),
            lambda: self._strata(frame, budget),
        )
        counts = allocate(budget, strata.sizes, wanted)
        items, stratum = stratified_draw(strata, counts, stream(seed, "css"))
        return Sample(
            frame.size,
            items,
            self.estimator,
            StratifiedDraws(stratum, strata.sizes),
        )

    def _strata(self, frame: Frame, budget: int) -> tuple[partition.Partition, FloatArray]:
        """Strata and what each gets; with fewer labels than strata the riskiest are merged: none is left out."""
        values = frame.values(self.auxiliary)
        order = np.argsort(values, kind="stable").astype(np.int64, copy=False)
        ends = self._ends(values[order])
        sizes = np.diff([0, *ends])
        labels = sizes if self.allocation == "proportional" else _percentages(self.allocation, "allocation")
        wanted = [w for w, size in zip(labels, sizes, strict=True) if size > 0]
        groups = list(partition.cut(order, ends).members)
        while len(groups) > budget:
            last, share = groups.pop(), wanted.pop()
            groups[-1], wanted[-1] = np.concatenate([groups[-1], last]), wanted[-1] + share
        return partition.Partition(tuple(groups)), np.array(wanted, dtype=np.float64)

    def _ends(self, ordered: FloatArray) -> list[int]:
        """Where each stratum ends among the sorted values."""
        edges = np.cumsum(_shares(self.shares))
        if self.by == "pool":
            return [int(end) for end in np.rint(edges * len(ordered))]
        low, high = float(ordered[0]), float(ordered[-1])
        inner = np.searchsorted(ordered, low + edges[:-1] * (high - low), side="right")
        return [*(int(end) for end in inner), len(ordered)]


def _shares(text: str) -> FloatArray:
    """``80/10/10`` as percentages, ``5`` as five equal ones."""
    equal = text.isdigit() and 1 < int(text) < 100
    return np.full(int(text), 1 / int(text)) if equal else _percentages(text, "shares")


def _percentages(text: str, what: str) -> FloatArray:
    try:
        values = np.array([float(part) for part in text.split("/")])
    except ValueError:
        values = np.array([-1.0])
    if np.any(values < 0) or not 99.9 <= values.sum() <= 100.1:
        raise DesignError(
            f"css: {what} '{text}' are not percentages that add up to 100",
            rule="numbers between slashes, one per stratum, safest first",
            hint="css:shares=80/10/10,allocation=20/40/40",
        )
    return np.asarray(values / values.sum())
