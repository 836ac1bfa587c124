"""The estimate from bets: each draw corrects the prediction by its own chance; bounds are bets inverted."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from fieldcheck.accuracy.estimators.base import MeanLoss
from fieldcheck.core.draws import BetDraws, Draws
from fieldcheck.core.interval import Interval
from fieldcheck.core.sample import Labelled
from fieldcheck.numerics import betting, wealth


class BetsInverted:
    """The mean over draws of ``(1/N) [Σ_{labelled before} y + Σ_{rest} m + (y - m)/q]``: exactly unbiased if the number
    of labels was fixed beforehand, m what the wave believed and q the chance of the draw.

    The interval holds at every label at once, whatever the beliefs are worth: all accuracies that bets at 2.5 % on each
    side do not refute. Items that cannot be labelled count as failures for the lower bound, as right for the upper one.
    """

    name: ClassVar[str] = "bets"
    accepts: ClassVar[tuple[type[Draws], ...]] = (BetDraws,)

    def estimate(self, labelled: Labelled, *, level: float) -> MeanLoss:
        draws, size = labelled.sample.drawn_as(BetDraws), labelled.sample.population
        parts = np.array(_parts(draws, labelled.losses, size))
        value, count = float(parts.mean()), len(parts)
        low, high = replayed(labelled).bounds(level=level)
        note = "proven at every label, whatever the signals are worth"
        return MeanLoss(
            value=float(np.clip(value, low, high)),
            variance=float(parts.var(ddof=1) / count) if count > 1 else float("nan"),
            interval=Interval(low, high, level, "anytime", "bets inverted", note=note, basis="sequence"),
            audit=value,
        )


def replayed(labelled: Labelled) -> betting.Bets:
    """The bets after these labels, as if they were made now."""
    draws, size = labelled.sample.drawn_as(BetDraws), labelled.sample.population
    most = float(betting.most_failures(size, draws.threshold))
    above = wealth.Wealth.against([most + 1], size)
    below = wealth.Wealth.against([most], size, claim="below")
    nothing, lost = np.zeros(0, dtype=np.int64), set(draws.lost.tolist())
    taken: list[tuple[wealth.Kinds, int, float | None]] = []
    now = wealth.Kinds(nothing, draws.risk[0], draws.size[0], draws.count[0])
    last = 0
    for at, (wave, kind, loss) in enumerate(
        zip(draws.wave.tolist(), draws.of_kind.tolist(), labelled.losses.tolist(), strict=True)
    ):
        if wave != last:
            now, last = wealth.Kinds(nothing, draws.risk[wave], draws.size[wave], draws.count[wave]), wave
        known = None if at in lost else loss
        above = above.after(now, kind, 1.0 if known is None else known)
        below = below.after(now, kind, 0.0 if known is None else known)
        taken.append((now, kind, known))
        now = now.without(kind)
    return betting.Bets(draws.threshold, now, np.zeros(size, dtype=bool), above, below, waiting=(), taken=tuple(taken))


def _parts(draws: BetDraws, losses: np.ndarray, size: int) -> list[float]:
    found, known, last = list[float](), 0.0, -1
    for wave, kind, loss in zip(draws.wave.tolist(), draws.of_kind.tolist(), losses.tolist(), strict=True):
        if wave != last:
            count, last = draws.count[wave].copy(), wave
        risk, weight = draws.risk[wave], draws.size[wave]
        chance = weight[kind] / float(weight @ count)
        found.append((known + float(risk @ count) + (loss - risk[kind]) / chance) / size)
        known += loss
        count[kind] -= 1
    return found
