"""A pool whose truth is known, ready to be simulated on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.core.measures.base import SCALES
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.types import BoolArray, FloatArray, Loss


@dataclass(frozen=True, eq=False)
class Field:
    """What a simulated campaign draws from and is judged by. Arrays have one value per item.

    losses
        Classification: 1.0 where the model fails. Regression: squared or absolute error.
    failed
        True where an item counts as a failure.
    offsets
        Regression: absolute error.
    metric, truth
        What is estimated, and its true value.
    """

    name: str
    frame: Frame
    losses: FloatArray
    failed: BoolArray
    offsets: FloatArray | None
    metric: str
    truth: float

    @classmethod
    def of(
        cls,
        pool: Pool,
        *,
        auxiliary: Sequence[str] = (),
        loss: Loss = "squared",
        threshold: float | None = None,
        activations: npt.NDArray[Any] | None = None,
    ) -> Field:
        """The field of a pool with known truth."""
        if not pool.truth_known:
            raise pool.no_truth()
        measure, losses = pool.measure(loss, threshold), pool.losses(loss)
        offsets = pool.losses("absolute") if pool.task == "regression" else None
        metric = measure.scales[0]
        frame = derived.frame(pool, auxiliary, activations)
        return cls(
            pool.name, frame, losses, measure.failed(losses), offsets, metric, SCALES[metric].of(float(losses.mean()))
        )
