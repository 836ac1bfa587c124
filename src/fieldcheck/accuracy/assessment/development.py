"""How the estimate developed with the labels: cheap to ask for after each of them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from fieldcheck.accuracy import estimators
from fieldcheck.core import measures
from fieldcheck.core.draws import WaveDraws
from fieldcheck.core.errors import LabelError
from fieldcheck.core.measures.base import SCALES
from fieldcheck.core.sample import Labelled
from fieldcheck.core.types import Loss

LEAST = 5
"""Labels before the first point."""

DENSE = 50_000
"""Items of a pool up to which waves are also looked at between their ends: each look predicts the whole pool."""

REMEMBERED = 1_000
"""Points."""


class Development:
    """Points that were computed before are remembered, as long as the labels up to them stay what they are."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, float], Point | None] = {}

    def points(
        self, labelled: Labelled, *, loss: Loss, level: float, most: int, newest: Point | None = None
    ) -> list[Point]:
        """About ``most`` points, the newest always among them; it need not be computed where it is known."""
        if len(self._known) > REMEMBERED:
            self._known.clear()
        if newest is not None:
            self._known[_digest(labelled, len(labelled.sample)), level] = newest
        found = [self._point(labelled, draws, loss=loss, level=level) for draws in looks(labelled, most)]
        return [point for point in found if point is not None]

    def _point(self, labelled: Labelled, draws: int, *, loss: Loss, level: float) -> Point | None:
        key = (_digest(labelled, draws), level)
        if key not in self._known:
            self._known[key] = point(labelled, draws, loss=loss, level=level)
        return self._known[key]


def looks(labelled: Labelled, most: int) -> list[int]:
    """Numbers of draws to look at; only the last where no smaller sample is a sample."""
    draws, how = len(labelled.sample), labelled.sample.draws
    if not how.prefix_valid:
        return [draws]
    if not isinstance(how, WaveDraws):
        return grid(draws, most)
    ends = (np.flatnonzero(np.diff(how.wave)) + 1).tolist()
    between = grid(draws, most - len(ends)) if labelled.sample.population <= DENSE and len(ends) < most else []
    return sorted({*ends[:: max(1, -(-len(ends) // most))], *between, draws})


def grid(draws: int, most: int) -> list[int]:
    """Multiples of a step that is a power of two, and the last.

    Points are added one by one as labels come in, and when there are too many every second one goes: hardly any is
    computed twice.
    """
    step = 1
    while draws > most * step:
        step *= 2
    return [*(at for at in range(step, draws, step) if at >= LEAST), draws]


def point(labelled: Labelled, draws: int, *, loss: Loss, level: float) -> Point | None:
    """The estimate from the first draws; None where they are too few for this technique."""
    first = Labelled(labelled.sample.prefix(draws), labelled.losses[:draws], labelled.failed[:draws], labelled.task)
    metric = measures.measure_of(labelled.task, loss).scales[0]
    try:
        found = estimators.estimate(first, level=level)
    except LabelError:
        return None
    interval = found.interval.map(SCALES[metric].of)
    return Point(first.labels, SCALES[metric].of(found.value), interval.low, interval.high, first.failures)


def _digest(labelled: Labelled, draws: int) -> str:
    """Of what a point depends on: its labels, and the items that earlier waves lost."""
    sample, how = labelled.sample, labelled.sample.draws
    lost = how.lost[how.lost_wave < how.wave[draws - 1]] if isinstance(how, WaveDraws) else np.zeros(0)
    parts = (sample.items[:draws], labelled.losses[:draws], lost)
    return hashlib.blake2b(b"".join(part.tobytes() for part in parts), digest_size=16).hexdigest()


@dataclass(frozen=True)
class Point:
    """The estimate after so many labels, in the order of the design."""

    labels: int
    value: float
    low: float
    high: float
    failures: int
