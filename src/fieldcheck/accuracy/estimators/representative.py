"""The plain mean of a sample that was chosen to be representative."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from fieldcheck.accuracy.estimators.base import MeanLoss
from fieldcheck.accuracy.estimators.mean import mean_loss
from fieldcheck.core.draws import Draws, PurposiveDraws
from fieldcheck.core.sample import Labelled


class Representative:
    """Mean loss, with the interval that a simple random sample of this size would have.

    A purposive sample has no selection probabilities, hence no variance of its own: the interval holds only as far as
    the sample is at least as good as a random one, and says so.
    """

    name: ClassVar[str] = "representative"
    accepts: ClassVar[tuple[type[Draws], ...]] = (PurposiveDraws,)

    def estimate(self, labelled: Labelled, *, level: float) -> MeanLoss:
        result = mean_loss(labelled, level=level, population=labelled.sample.population)
        note = (
            "not a probability sample: assumes that the chosen items represent the pool at least as well as random ones"
        )
        return replace(result, interval=replace(result.interval, kind="model-based", note=note, basis="model"))
