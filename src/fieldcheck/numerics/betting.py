"""Whether an accuracy is at least a threshold, bet on one draw after the other, with what ``wealth`` says is fair."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal

import numpy as np

from fieldcheck.numerics.sampling.draws import uniforms
from fieldcheck.numerics.types import BoolArray, FloatArray
from fieldcheck.numerics.wealth import SHARES, Claim, Kinds, Wealth, kinds


def most_failures(population: int, threshold: float) -> int:
    """The most failures with which the accuracy is at least ``threshold``, in exact decimals."""
    return int((population * (1 - Decimal(repr(float(threshold))))).to_integral_value(ROUND_FLOOR))


@dataclass(frozen=True, eq=False)
class Bets:
    """Whether an accuracy is at least a threshold, or below it, looked at after every single label.

    threshold
        The accuracy to claim.
    now
        The kinds to draw the next item from.
    drawn
        One per item of the population.
    waiting
        Items that were drawn and have no label yet, in draw order, each with the kinds before it: several people may
        work ahead, and labels count in the order of the draws.
    taken
        Labels in draw order, each with its kind and the kinds before it; None where an item could not be labelled.
    above, below
        The two claims. Only one of the hypotheses is true, so that both may be looked at.
    """

    threshold: float
    now: Kinds
    drawn: BoolArray
    above: Wealth
    below: Wealth
    waiting: tuple[tuple[int, Kinds], ...] = ()
    taken: tuple[tuple[Kinds, int, float | None], ...] = ()

    @classmethod
    def start(cls, expected: FloatArray, threshold: float, *, whole: bool = True) -> Bets:
        """Before any label.

        expected
            One per item: believed chance to fail.
        whole
            Losses are 0 or 1; otherwise anything between.
        """
        size, drawn = len(expected), np.zeros(len(expected), dtype=bool)
        most = float(most_failures(size, threshold)) if whole else size * (1 - threshold)
        above = Wealth.against([most + 1 if whole else most], size)
        now = kinds(expected, drawn, above)
        return cls(threshold, now, drawn, above, Wealth.against([most], size, claim="below"))

    def wave(self, expected: FloatArray) -> Bets:
        """New beliefs, from labels taken so far; items that were drawn already keep theirs."""
        return replace(self, now=kinds(expected, self.drawn, self.above))

    def draw(self, rng: np.random.Generator) -> tuple[Bets, int]:
        """The next item."""
        first, second = uniforms(rng, 2)
        ends = np.cumsum(self.now.size * self.now.count)
        kind = int(np.searchsorted(ends, first * ends[-1], side="right"))
        there = np.flatnonzero((self.now.of_item == kind) & ~self.drawn)
        item = int(there[int(second * len(there))])
        drawn = self.drawn.copy()
        drawn[item] = True
        waiting = (*self.waiting, (item, self.now))
        return replace(self, now=self.now.without(kind), drawn=drawn, waiting=waiting), item

    def take(self, loss: float | None) -> Bets:
        """The label of the first item that waits. None: it cannot be labelled, and counts against either claim."""
        (item, before), *rest = self.waiting
        kind = int(before.of_item[item])
        return replace(
            self,
            waiting=tuple(rest),
            taken=(*self.taken, (before, kind, loss)),
            above=self.above.after(before, kind, 1.0 if loss is None else loss),
            below=self.below.after(before, kind, 0.0 if loss is None else loss),
        )

    def claim(self, *, error: float = 0.05) -> Claim | None:
        """What is proven by now, if anything; not yet labelled items may still change nothing about it."""
        now = self.waiting[0][1] if self.waiting else self.now
        if self.above.refuted(now, error=error)[0]:
            return "at least"
        return "below" if self.below.refuted(now, error=error)[0] else None

    def to_go(self, *, error: float = 0.05) -> int | None:
        """Labels until a claim, if items fail as often as they are believed to; None if there would be none."""
        found = [_to_go(one, self.now, error=error) for one in (self.above, self.below)]
        return min((one for one in found if one is not None), default=None)

    def bounds(self, *, level: float = 0.95) -> tuple[float, float]:
        """Bounds for the failure rate that hold at every label at once: bets against all other numbers of failures."""
        return (
            self._bound("below", error=(1 - level) / 2) / len(self.drawn),
            self._bound("at least", error=(1 - level) / 2) / len(self.drawn),
        )

    def _bound(self, claim: Claim, *, error: float) -> float:
        """The number of failures farthest out that is not refuted: the wealth need not be monotone in it."""
        low, high = 0.0, float(len(self.drawn))
        for _ in range(4):
            totals = np.unique(np.round(np.linspace(low, high, 33)))
            wealth, now = Wealth.against(totals, len(self.drawn), claim=claim), self.now
            for before, kind, loss in self.taken:
                wealth = wealth.after(before, kind, (float(claim == "at least") if loss is None else loss))
            kept = np.flatnonzero(~wealth.refuted(now, error=error))
            at = int(kept[-1] if claim == "at least" else kept[0])
            if len(totals) > high - low:  # every number there is
                break
            low, high = float(totals[max(at - 1, 0)]), float(totals[min(at + 1, len(totals) - 1)])
        return float(totals[at])


def _to_go(wealth: Wealth, now: Kinds, *, error: float, steps: int = 200) -> int | None:
    """Expected growth of the wealth in steps of some labels, while the kinds are used up in proportion."""
    logs, found, labels = np.log(np.maximum(wealth.products[0], 1e-300)), wealth.found, 0.0
    block = max(now.items / (4 * steps), 1.0)
    while labels < wealth.population:
        here = replace(wealth, found=found)
        if now.items <= 2 * block or wealth.refuted(now, error=error)[0] or float(np.exp(logs) @ SHARES) >= 1 / error:
            break
        share = now.chances() * now.count
        logs = logs + block * here.expected_growth(now)[0]
        found, labels = found + block * float(share @ now.risk), labels + block
        now = replace(now, count=np.maximum(now.count - block * share, 1e-9))
    done = float(np.exp(np.minimum(logs, 600)) @ SHARES) >= 1 / error or bool(wealth.refuted(now, error=error)[0])
    return math.ceil(labels) if done else None
