"""One wave: a fixed number of items, drawn by what is believed about each, spread along an order; and its chances,
looked at again when the labels are there."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np

from fieldcheck.numerics.exact import Mapped, Range, scan
from fieldcheck.numerics.sampling.draws import permutation, uniforms
from fieldcheck.numerics.sampling.inclusion import (
    ArrayStretch,
    Inclusion,
    ItemStretch,
    Sized,
    SizeSums,
    factors,
    settled,
    wave_inclusion,
)
from fieldcheck.numerics.sampling.pivotal import pick
from fieldcheck.numerics.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Prospect:
    """What is believed before a wave, one value per item each.

    expected, spread
        Mean and variance of the loss.
    order
        What a wave is spread along: items next to each other are rarely drawn together.
    """

    expected: FloatArray
    spread: FloatArray
    order: FloatArray


@dataclass(frozen=True)
class WaveRule:
    """How beliefs become chances; ``wave_inclusion`` has the words."""

    objective: str = "estimate"
    floor: float = 0.2
    certain: float = 0.0

    def inclusion(self, prospect: Prospect, drawn: BoolArray, count: float) -> FloatArray:
        """The chance of every item to be in a wave of ``count``."""
        return wave_inclusion(
            prospect.expected,
            prospect.spread,
            drawn,
            count,
            objective=self.objective,
            floor=self.floor,
            certain=self.certain,
        )

    def settled(self, items: Mapped, count: float, sums: SizeSums | None = None) -> Inclusion:
        """The chances of a wave of ``count``, of items in parts."""
        return settled(items, count, objective=self.objective, floor=self.floor, certain=self.certain, sums=sums)

    def nothing(self) -> Inclusion:
        """The chances of a wave of no item."""
        return Inclusion(self.objective, self.floor, factor=0.0)

    def draw(
        self,
        prospect: Prospect,
        drawn: BoolArray,
        count: int,
        *,
        choice: np.random.Generator,
        order: np.random.Generator,
    ) -> IntArray:
        """The items of one wave, in random order: a first part of it is a smaller wave.

        drawn
            True where an item was drawn before.
        choice, order
            Randomness for what is drawn, and for what comes first.
        """
        return self.draw_apart(prospect, drawn, count, train=0.0, choice=choice, order=order)[0]

    def draw_apart(
        self,
        prospect: Prospect,
        drawn: BoolArray,
        count: int,
        *,
        train: float,
        choice: np.random.Generator,
        order: np.random.Generator,
    ) -> tuple[IntArray, BoolArray]:
        """One wave in two parts; ``drawn_apart`` has the words."""
        places = np.unique(prospect.order, return_inverse=True)[1]
        items = ArrayStretch.of(prospect.expected, prospect.spread, drawn, order=places)
        chances = self.settled(items, count)
        return drawn_apart(items, chances, count, train=train, along=Range.of(places), choice=choice, order=order)


class WaveItems(Mapped, Protocol):
    """What a wave is drawn from: stretches that steps are mapped over."""

    @property
    def size(self) -> int: ...

    def without(self, items: IntArray) -> Self:
        """The same, of which some more cannot be drawn."""
        ...


def drawn_apart(
    items: WaveItems,
    chances: Inclusion,
    count: int,
    *,
    train: float,
    along: Range,
    choice: np.random.Generator,
    order: np.random.Generator,
) -> tuple[IntArray, BoolArray]:
    """One wave in two parts: first the items to train with, then, from all others, those to keep; in random order.

    Together every item has the chance of one wave. A wave that is split afterwards would not do: what is kept would
    avoid the neighbours of what was trained with, which a new version may have learnt.

    train
        Share of the wave to train with.
    along
        Smallest and largest place in the order of the items.
    choice, order
        Randomness for what is drawn, and for what comes first: a first part of a wave is a smaller wave.
    """
    where: dict[str, Any] = {"along": along, "size": items.size}
    if not train:
        chosen = np.concatenate(pick(items, chances, choice, **where))
        return chosen[permutation(order, len(chosen))], np.zeros(len(chosen), dtype=bool)
    first = math.floor(train * count + float(uniforms(choice, 1)[0]))
    training = np.concatenate(pick(items, Share(chances, first / count), choice, **where))
    rest, kept = items.without(training), KeptChance(chances, first / count)
    sums = scan(rest, _sizes, kept)
    total, tops = float(sums.total), (sums.sizes.high,)
    (factor,) = factors(rest, (kept,), sums.count, count - first, total=total, tops=tops)
    chosen = np.concatenate([training, *pick(rest, replace(kept, factor=factor), choice, **where)])
    mixed = permutation(order, len(chosen))
    return chosen[mixed], mixed < len(training)


@dataclass(frozen=True)
class Share:
    """A part of the chance of a wave."""

    chances: Inclusion
    part: float

    def __call__(self, stretch: ItemStretch) -> FloatArray:
        return self.chances(stretch) * self.part


@dataclass(frozen=True)
class KeptChance:
    """The chance to be labelled and kept, given that an item is not one of those to train with."""

    chances: Inclusion
    part: float
    factor: float = 1.0

    def __call__(self, stretch: ItemStretch) -> FloatArray:
        chance = self.chances(stretch)
        return np.minimum(kept_chance(chance, chance * self.part) * self.factor, 1.0)

    def sizes(self, stretch: ItemStretch) -> FloatArray:
        return self(stretch)[stretch.left]


def _sizes(stretch: ItemStretch, sized: Sized) -> SizeSums:
    return SizeSums.of(sized.sizes(stretch))


def kept_chance(labelled: FloatArray, train: FloatArray) -> FloatArray:
    """The chance of every item to be labelled and kept, given that it is not one of those to train with.

    labelled, train
        The chance to be labelled at all, and to be labelled for training.
    """
    return np.divide(labelled - train, 1 - train, out=np.ones_like(labelled), where=train < 1)


@dataclass(frozen=True, eq=False)
class PastWave:
    """A wave as it was drawn and labelled.

    rule
        What it was drawn by; the floor may differ from wave to wave.
    planned
        How many items it drew.
    labelled, lost
        Those that have a label, and those that will never have one.
    """

    rule: WaveRule
    prospect: Prospect
    planned: int
    labelled: IntArray
    lost: IntArray

    @property
    def share(self) -> float:
        """What was labelled of a wave, in its random order, is a smaller wave."""
        return len(self.labelled) / self.planned


def replay(waves: Iterable[PastWave], drawn: BoolArray) -> Iterator[tuple[PastWave, FloatArray, BoolArray]]:
    """Each wave, with the chance of every item to be drawn by it and labelled, and what was drawn before it.

    drawn
        True where an item was drawn before the first wave.
    """
    for wave in waves:
        yield wave, wave.rule.inclusion(wave.prospect, drawn, wave.planned) * wave.share, drawn
        drawn = drawn.copy()
        drawn[wave.labelled] = True
        drawn[wave.lost] = True


def any_wave(waves: Iterable[PastWave], drawn: BoolArray) -> FloatArray:
    """The chance of every item to be drawn by any of the waves, and labelled."""
    missed = np.ones(len(drawn))
    for _, chance, _ in replay(waves, drawn):
        missed *= 1 - chance
    return 1 - missed
