"""What every measure must pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fieldcheck.core.measures.base import SCALES, Measure
from fieldcheck.testing.require import check_described, made_of, require


def check_measure(measure: Measure | type[Measure], outputs: Sequence[Any], truths: Sequence[Any]) -> None:
    """One loss per item, within its range and whatever stands beside it; more loss is never less of a failure."""
    made: Measure = made_of(measure)
    check_described(made, Measure, "scales")
    low, high = made.range
    require(low < high, f"{made.name}: a range from {low} to {high}")
    require(set(made.scales) <= set(SCALES), f"{made.name}: there are the scales {', '.join(SCALES)}")
    losses = made.losses(outputs, truths)
    require(losses.shape == (len(truths),) and losses.dtype == np.float64, f"{made.name}: one number per item")
    require(((losses >= low) & (losses <= high)).all(), f"{made.name}: a loss outside of {low} to {high}")
    alone = [made.losses([said], [truth])[0] for said, truth in zip(outputs, truths, strict=True)]
    require(np.array_equal(losses, alone), f"{made.name}: a loss depends on other items")
    failed = made.failed(np.sort(losses))
    require((np.diff(failed.astype(int)) >= 0).all(), f"{made.name}: a smaller loss fails where a larger one does not")
