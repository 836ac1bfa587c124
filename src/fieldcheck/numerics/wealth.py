"""Bets on the number of failures in a finite population: proof that holds at every label, whatever the risk is worth.

Items are drawn one at a time, and before each draw a stake is put on its label. Under the hypothesis "at least so many
failures are left" no stake gains on average, so that the wealth is a nonnegative supermartingale; it ever reaches
``1/α`` with a chance of at most ``α`` (Ville 1939; Waudby-Smith and Ramdas, Estimating means of bounded random
variables by betting, JRSS B 2024; for risk-limiting audits Stark, and Spertus and Stark 2022). What is believed about
the items decides how fast the wealth grows when the hypothesis is false, never whether the claim is valid.

One stake: with ``q`` the chance of each item, ``R`` items left and ``M`` failures among them by the hypothesis, the
wealth is multiplied by ``[b + (1 - y) d/q] / [Σ q b + (R - M) d]``. The numerator has the mean ``Σ q b + (R - F) d``
when F failures are left, at most the denominator if ``F ≥ M``, for any ``b ≥ 0`` and ``d ≥ 0``. Those that gain most
when item i fails with chance ``p`` are Kelly's (1956): ``b = ½ [(1 - δ) + √((1 - δ)² + 4 p δ)]``, ``δ = d/q``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from fieldcheck.numerics.types import BoolArray, FloatArray, IntArray

Claim = Literal["at least", "below"]


FLOORS = (0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0)
"""Shares of the chances that are the same for all items; each wave takes the one that promises most."""


BINS = 24
"""Items of like risk are drawn with like chance: so many kinds at most."""


CAREFUL = np.array([0.7, 0.2, 0.05])
"""Three bets that believe the signals, from careful to bold: failures that each adds to those believed, spread over
``BEFORE`` labels and those taken. What labels have taught needs less caution than what is believed before them: with
an addition that did not shrink, models of 90 to 95 % took a tenth more labels."""


BEFORE = 10.0
"""Labels that the first belief is worth, in these, and in the fourth bet, which believes that all items fail alike:
where signals are worth nothing the wealth ends up there, and the chances follow it."""


BOLD = np.array([0.8, 0.5, 0.1, 0.8])
"""The most failures that each of the four bets expects, relative to the hypothesis."""


SHARES = np.array([0.3, 0.3, 0.2, 0.2])
"""How the wealth is shared out among them at the start. This and what is above was chosen on `VGG16_CIFAR10`,
`digits_decay` and a perfect pool (``benchmarks/bets_study.py`` measures on others)."""


RICHEST = 1e300
"""Where a bet's wealth stops: hypotheses far from the truth are refuted long before, and shares of it stay numbers."""


def stakes(chance: FloatArray, risk: FloatArray, count: FloatArray, left: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Kelly's stakes, as factors on the wealth: after a failure, and after a right answer.

    They are worth 1 on average when ``left`` items fail, and at most 1 when more do. Where the believed risk is not
    below the hypothesis nothing is staked. Leading axes are as many bets at once.

    chance
        Of one item of each kind to be drawn next; times ``count`` they add up to 1.
    risk
        Believed chance of one such item to fail, in (0, 1).
    count
        Items of each kind that are left.
    left
        Failures among them by the hypothesis, one per bet; more than 0 and fewer than the items.
    """
    rest = count.sum(axis=-1) - left
    d = np.where((risk * count).sum(axis=-1) < left, 1 / rest, 0.0)
    for _ in range(50):
        delta = d[..., None] / chance
        root = np.sqrt((1 - delta) ** 2 + 4 * risk * delta)
        level = ((1 - delta + root) * count * chance).sum(axis=-1) / 2 + rest * d - 1
        slope = (((delta - 1 + 2 * risk) / root - 1) * count).sum(axis=-1) / 2 + rest
        # The level is convex in d, and the start lies right of the root: each step stays there.
        step = np.where(d > 0, np.maximum(level, 0.0) / np.maximum(slope, 1e-300), 0.0)
        d = np.maximum(d - step, 0.0)
        if (step <= 1e-7 * d).all():  # any d is valid, after what follows
            break
    delta = d[..., None] / chance
    wrong = (1 - delta + np.sqrt((1 - delta) ** 2 + 4 * risk * delta)) / 2
    fair = (wrong * count * chance).sum(axis=-1) + rest * d
    return wrong / fair[..., None], (wrong + delta) / fair[..., None]


@dataclass(frozen=True, eq=False)
class Kinds:
    """The items of a wave, cut into kinds of like risk. Chances and beliefs change only between waves.

    of_item
        One per item of the population: its kind; -1 where it was drawn before the wave.
    risk
        One per kind: mean believed chance to fail.
    size
        One per kind: what the chance of an item is proportional to.
    count
        Items of each kind that are left.
    """

    of_item: IntArray
    risk: FloatArray
    size: FloatArray
    count: FloatArray

    @property
    def items(self) -> float:
        """Items left."""
        return float(self.count.sum())

    def chances(self) -> FloatArray:
        """Chance of one item of each kind to be drawn next."""
        return self.size / float(self.size @ self.count)

    def without(self, kind: int) -> Kinds:
        """After an item of this kind was drawn."""
        count = self.count.copy()
        count[kind] -= 1
        return replace(self, count=count)


def kinds(expected: FloatArray, drawn: BoolArray, wealth: Wealth) -> Kinds:
    """The kinds for the next wave, with the chances that promise most to those bets that hold the wealth.

    expected
        One per item: believed chance to fail.
    drawn
        One per item.
    wealth
        Of the claim "at least", against one hypothesis.
    """
    left = np.flatnonzero(~drawn)
    kind = _cut(expected[left], np.sqrt(expected[left] * (1 - expected[left])))
    of_item = np.full(len(expected), -1, dtype=np.int64)
    of_item[left] = kind
    count = np.bincount(kind).astype(np.float64)
    risk = np.clip(np.bincount(kind, weights=expected[left]) / count, 1e-6, 1 - 1e-4)
    alike = Kinds(of_item, risk, np.ones(len(count)), count)
    believed = wealth.believed(alike)[0]
    spread = np.sqrt(believed * (1 - believed))
    relative = spread / max(float(spread @ count) / len(left), 1e-300)
    choices = [replace(alike, size=np.round((1 - floor) * relative + floor, 12)) for floor in FLOORS]
    gains = [float(wealth.growth(one)[0]) for one in choices]
    return choices[int(np.argmax(np.round(gains, 12)))]


def _cut(expected: FloatArray, spread: FloatArray) -> IntArray:
    """Kinds equal in a mixture of how many items they have and how uncertain those are; empty ones are left out."""
    order = np.argsort(expected, kind="stable")
    share = 0.7 * np.cumsum(spread[order]) / max(float(spread.sum()), 1e-300)
    share += 0.3 * np.arange(1, len(order) + 1) / len(order)
    found = np.empty(len(order), dtype=np.int64)
    found[order] = np.minimum((share / share[-1] * BINS).astype(np.int64), BINS - 1)
    return np.unique(found, return_inverse=True)[1].astype(np.int64)


@dataclass(frozen=True, eq=False)
class Wealth:
    """What the four bets have made of their stakes, against several hypotheses at once.

    totals
        One per hypothesis. To claim "at least": so many failures or more in the population; to claim "below": so many
        or fewer.
    found
        Sum of the losses so far.
    products
        One row per hypothesis, one column per bet.
    highest
        One per hypothesis: the largest wealth there ever was, since a claim once made stays made.
    """

    totals: FloatArray
    population: int
    claim: Claim = "at least"
    found: float = 0.0
    products: FloatArray = field(default_factory=lambda: np.ones((1, 4)))
    highest: FloatArray = field(default_factory=lambda: np.ones(1))

    @classmethod
    def against(cls, totals: npt.ArrayLike, population: int, *, claim: Claim = "at least") -> Wealth:
        """Before the first bet."""
        array = np.atleast_1d(np.asarray(totals, dtype=np.float64))
        return cls(array, population, claim, 0.0, np.ones((len(array), len(SHARES))), np.ones(len(array)))

    def left(self, now: Kinds) -> FloatArray:
        """Items left that do not speak for the claim, at least, by each hypothesis: failures, or right answers."""
        failures = self.totals - self.found
        return failures if self.claim == "at least" else now.items - failures

    def factors(self, now: Kinds) -> tuple[FloatArray, FloatArray]:
        """By what the wealth is multiplied when the next label speaks against the claim, and when it speaks for it.

        Axes: hypothesis, bet, kind. A hypothesis that is known to be true is worth nothing from then on; one that only
        labels against the claim can keep alive is refuted by the first other one.
        """
        left = self.left(now)
        inside = np.clip(left, 1e-9, now.items - 1e-9)[:, None]
        against, speaking = stakes(now.chances(), self._believed(now, inside), now.count, inside)
        true, last = (left <= 0)[:, None, None], (left >= now.items)[:, None, None]
        return (
            np.where(true, 0.0, np.where(last, 1.0, against)),
            np.where(true, 0.0, np.where(last, np.inf, speaking)),
        )

    def _believed(self, now: Kinds, left: FloatArray) -> FloatArray:
        """Chance that each kind speaks against the claim, as each bet believes; axes as in ``factors``."""
        weight = BEFORE + self.population - now.items
        level = (self.found + BEFORE * float(now.risk @ now.count) / now.items) / weight
        alike = np.full((1, len(now.risk)), np.clip(level, 1e-6, 1 - 1e-4))
        if self.claim == "at least":
            raised = np.concatenate([now.risk + CAREFUL[:, None] / weight * (1 - now.risk), alike])
            scale = np.minimum(BOLD * left / (raised @ now.count), 1.0)
            return np.asarray(raised * scale[:, :, None])
        plain = np.concatenate([np.repeat(now.risk[None], len(CAREFUL), axis=0), alike])
        most = np.maximum((now.items - left) / BOLD, 1e-9)
        scale = np.maximum(most / (plain @ now.count), 1.0)
        return np.asarray(1 - np.minimum(plain * scale[:, :, None], 0.99))

    def after(self, now: Kinds, kind: int, loss: float) -> Wealth:
        """With the next label.

        now
            The kinds before its item was drawn.
        kind
            That of the item.
        loss
            1 for a failure, 0 for a right answer, or anything between.
        """
        against, speaking = (factor[:, :, kind] for factor in self.factors(now))
        share = loss if self.claim == "at least" else 1 - loss
        with np.errstate(invalid="ignore", over="ignore"):  # 0 of an infinite factor
            factor = against if share == 1 else speaking if share == 0 else share * against + (1 - share) * speaking
            products = np.where(self.products == 0, 0.0, np.minimum(self.products * factor, RICHEST))
        highest = np.maximum(self.highest, products @ SHARES)
        return replace(self, found=self.found + loss, products=products, highest=highest)

    @property
    def held(self) -> FloatArray:
        """Share of the wealth that each bet holds; hypothesis, bet."""
        wealth = self.products * SHARES
        total = wealth.sum(axis=1, keepdims=True)
        return np.where(total > 0, wealth / np.maximum(total, 1e-300), SHARES)

    def believed(self, now: Kinds) -> FloatArray:
        """Chance that each kind speaks against the claim, as the wealth believes; hypothesis, kind."""
        left = np.clip(self.left(now), 1e-9, now.items - 1e-9)[:, None]
        return np.asarray((self.held[:, :, None] * self._believed(now, left)).sum(axis=1))

    def growth(self, now: Kinds) -> FloatArray:
        """Expected logarithm of the next factor of the whole wealth, if what it believes is right; hypothesis."""
        against, speaking = (
            np.log(np.clip((self.held[:, :, None] * factor).sum(axis=1), 1e-300, 1e300)) for factor in self.factors(now)
        )
        risk = self.believed(now)
        return np.asarray((risk * against + (1 - risk) * speaking) @ (now.chances() * now.count))

    def expected_growth(self, now: Kinds) -> FloatArray:
        """Expected logarithm of each bet's next factor, if kinds fail as often as they are believed to."""
        risk = now.risk if self.claim == "at least" else 1 - now.risk
        against, speaking = (np.log(np.clip(factor, 1e-300, 1e300)) for factor in self.factors(now))
        return np.asarray((risk * against + (1 - risk) * speaking) @ (now.chances() * now.count))

    def refuted(self, now: Kinds, *, error: float) -> BoolArray:
        """One per hypothesis, at an error of at most ``error`` over all labels there ever will be."""
        return (self.highest >= 1 / error) | (self.left(now) > now.items)
