"""One wave: a fixed number of items, drawn by what is believed about each, spread along an order; and its chances,
looked at again when the labels are there."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fieldcheck.numerics.sampling.draws import permutation, uniforms
from fieldcheck.numerics.sampling.inclusion import scale_to, wave_inclusion
from fieldcheck.numerics.sampling.pivotal import ordered_pivotal

FloatArray = npt.NDArray[np.float64]

IntArray = npt.NDArray[np.int64]

BoolArray = npt.NDArray[np.bool_]


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
        inclusion = self.inclusion(prospect, drawn, count)
        chosen = _pick(inclusion, np.flatnonzero(~drawn), prospect.order, choice)
        return chosen[permutation(order, len(chosen))]

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
        """One wave in two parts: first the items to train with, then, from all others, those to keep.

        Together every item has the chance of one wave. A wave that is split afterwards would not do: what is kept would
        avoid the neighbours of what was trained with, which a new version may have learnt.

        train
            Share of the wave to train with.
        """
        if not train:
            items = self.draw(prospect, drawn, count, choice=choice, order=order)
            return items, np.zeros(len(items), dtype=bool)
        inclusion = self.inclusion(prospect, drawn, count)
        first = math.floor(train * count + float(uniforms(choice, 1)[0]))
        part = first / count
        left = np.flatnonzero(~drawn)
        training = _pick(inclusion * part, left, prospect.order, choice)
        left = np.setdiff1d(left, training, assume_unique=True)
        chance = kept_chance(inclusion, inclusion * part)
        keep = np.minimum(chance * scale_to(chance[left], count - first), 1.0)
        chosen = np.concatenate([training, _pick(keep, left, prospect.order, choice)])
        mixed = permutation(order, len(chosen))
        return chosen[mixed], mixed < len(training)


def kept_chance(labelled: FloatArray, train: FloatArray) -> FloatArray:
    """The chance of every item to be labelled and kept, given that it is not one of those to train with.

    labelled, train
        The chance to be labelled at all, and to be labelled for training.
    """
    return np.divide(labelled - train, 1 - train, out=np.ones_like(labelled), where=train < 1)


def _pick(inclusion: FloatArray, left: IntArray, along: FloatArray, rng: np.random.Generator) -> IntArray:
    """Items with these chances, of those that are left, spread along an order."""
    chosen = left[inclusion[left] >= 1.0]
    rest = left[inclusion[left] < 1.0]
    if float(inclusion[rest].sum()) < 0.5:
        return chosen.astype(np.int64, copy=False)
    rest = rest[np.argsort(along[rest], kind="stable")]
    return np.concatenate([chosen, rest[ordered_pivotal(inclusion[rest], rng)]]).astype(np.int64, copy=False)


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
