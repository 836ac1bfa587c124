"""The chance of every item of a pool to be labelled: asked for some items, or sent to where the items are."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import numpy as np

from fieldcheck.core.draws import PoolChances
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.numerics.regression import risk

Chance = Callable[[Frame], FloatArray]
"""From a part of a frame to the chance of each item."""


class _Waves(Protocol):
    def chance(self, rule: risk.RiskRule, part: Frame) -> FloatArray: ...


@dataclass(frozen=True)
class EqualChance(PoolChances):
    """The same for all items."""

    chance: float

    def at(self, items: IntArray) -> FloatArray:
        return np.full(len(items), self.chance)

    def sent(self, frame: Frame) -> Chance:
        return self._of

    def _of(self, part: Frame) -> FloatArray:
        return np.full(part.size, self.chance)


@dataclass(frozen=True, eq=False)
class ArrayChances(PoolChances):
    """One per item, in memory."""

    chance: FloatArray

    def at(self, items: IntArray) -> FloatArray:
        return self.chance[items]

    def sent(self, frame: Frame) -> Chance:
        return self._of

    def _of(self, part: Frame) -> FloatArray:
        return self.chance[part.start : part.start + part.size]


@dataclass(frozen=True, eq=False)
class WaveChances(PoolChances):
    """Of waves that were drawn from a frame: worked out by what was believed of the same items there."""

    frame: Frame
    rule: risk.RiskRule
    waves: _Waves

    def at(self, items: IntArray) -> FloatArray:
        return self.waves.chance(self.rule, self.frame.take(items))

    def sent(self, frame: Frame) -> Chance:
        own = None if frame is self.frame else self.frame.reader()
        return partial(_by_waves, own, self.rule, self.waves)


def _by_waves(own: Callable[[int, int], Frame] | None, rule: risk.RiskRule, waves: _Waves, part: Frame) -> FloatArray:
    """own: reads the frame that the waves were drawn from; None: the part is one of it."""
    return waves.chance(rule, part if own is None else own(part.start, part.start + part.size))


@dataclass(frozen=True, eq=False)
class JoinedChances(PoolChances):
    """Made of others, item by item; ``how`` is a function of a module."""

    how: Callable[..., FloatArray]
    of: tuple[PoolChances, ...]

    def at(self, items: IntArray) -> FloatArray:
        return self.how(*(one.at(items) for one in self.of))

    def sent(self, frame: Frame) -> Chance:
        return partial(_joined, self.how, [one.sent(frame) for one in self.of])


def _joined(how: Callable[..., FloatArray], of: Sequence[Chance], part: Frame) -> FloatArray:
    return how(*(one(part) for one in of))


@dataclass(frozen=True, eq=False)
class RememberedChances(PoolChances):
    """Others, which will be asked for again and again: parts keep them."""

    of: PoolChances
    name: str = field(default_factory=lambda: uuid.uuid4().hex)

    def at(self, items: IntArray) -> FloatArray:
        return self.of.at(items)

    def sent(self, frame: Frame) -> Chance:
        return partial(_remembered, self.name, self.of.sent(frame))


def _remembered(name: str, chance: Chance, part: Frame) -> FloatArray:
    return part.kept(f"chances {name}", "", lambda: chance(part))


def either(first: FloatArray, second: FloatArray) -> FloatArray:
    """The chance of one campaign or the other."""
    return 1 - (1 - first) * (1 - second)
