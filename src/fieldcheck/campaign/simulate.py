"""One campaign on a field: draw, look up the labels, estimate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fieldcheck import estimators
from fieldcheck.campaign.field import Field
from fieldcheck.core.design import Design
from fieldcheck.core.estimate import on_scale
from fieldcheck.core.sample import Labelled
from fieldcheck.core.types import IntArray


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a repetition of a comparison keeps.

    failures
        Failing draws, as the papers count them: with replacement, an item that is drawn twice counts twice.
    exposed
        Distinct failing items: what the next training round gets.
    items
        The distinct items labelled.
    """

    value: float
    low: float
    high: float
    trusted: bool
    failures: int
    exposed: int
    labels: int
    items: IntArray


def play(field: Field, design: Design, *, budget: int, seed: int) -> Labelled:
    """The labelled sample of one campaign."""
    sample = design.draw(field.frame, field.losses, budget=budget, seed=seed)
    return Labelled(sample, field.losses[sample.items], field.failed[sample.items], field.frame.task)


def simulate(field: Field, design: Design, *, budget: int, seed: int, level: float = 0.95) -> Outcome:
    """One campaign, as one point of a comparison."""
    labelled = play(field, design, budget=budget, seed=seed)
    found = estimators.estimate(labelled, level=level)
    interval = found.interval.map(lambda loss: on_scale(field.metric, loss))
    items = np.unique(labelled.sample.items)
    return Outcome(
        value=on_scale(field.metric, found.value),
        low=interval.low,
        high=interval.high,
        trusted=interval.trusted,
        failures=int(np.count_nonzero(labelled.failed)),
        exposed=int(np.count_nonzero(field.failed[items])),
        labels=len(items),
        items=items,
    )
