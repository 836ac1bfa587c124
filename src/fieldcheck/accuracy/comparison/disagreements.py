"""Several models on the same items: where they disagree, and which of these items to label."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.comparison.matching import aligned
from fieldcheck.core.draws import PoolChances
from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.rng import stream
from fieldcheck.core.types import BoolArray, FloatArray, IntArray, Task
from fieldcheck.numerics.regression import disagreement
from fieldcheck.numerics.sampling import schedule
from fieldcheck.numerics.sampling.wave import PastWave, Prospect, WaveRule, any_wave

RULE = WaveRule(floor=0.2)
"""A fifth of the chances is the same for all disagreements."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two of the models.

    first, second
        Which ones, counted from 0.
    members
        Positions among the contested items where these two disagree.
    """

    first: int
    second: int
    members: IntArray
    duel: disagreement.Duel


@dataclass(frozen=True, eq=False)
class ContestedItems:
    """The items on which the models do not all say the same.

    pools
        One per model, all in the order of the first.
    items
        Positions of the contested items in the pools.
    before
        Those that have a label of an earlier campaign: positions among the contested items.
    chance
        One per contested item: the probability that the earlier campaign labelled it; None: there was none.
    """

    pools: tuple[Pool, ...]
    names: tuple[str, ...]
    items: IntArray
    pairs: tuple[Pair, ...]
    before: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    chance: FloatArray | None = None

    @classmethod
    def of(cls, pools: Sequence[Pool]) -> ContestedItems:
        """Match the pools by id and find where their predictions differ."""
        if len(pools) < 2:
            raise PoolError("one pool", rule="a comparison needs the predictions of two models or more")
        matched = (pools[0], *(aligned(pools[0], other) for other in pools[1:]))
        needs = ("prediction", "confidence")
        parts = list(matched[0].beside(matched[1:], _apart, _codes(matched), needs=needs))
        items, said = (np.concatenate([part[at] for part in parts], axis=-1) for at in range(2))
        confidence = [_of_all([part[2][at] for part in parts]) for at in range(len(pools))]
        pairs = tuple(
            _pair(first, second, said, confidence=confidence, task=pools[0].task)
            for first, second in itertools.combinations(range(len(pools)), 2)
        )
        return cls(matched, _names(pools), items, pairs)

    def reusing(self, labelled: IntArray, chance: PoolChances) -> ContestedItems:
        """With the labels of an earlier campaign on the same pool, which no model has seen.

        labelled
            Positions in the pool.
        chance
            To be one of them.
        """
        return replace(self, before=np.flatnonzero(np.isin(self.items, labelled)), chance=chance.at(self.items))

    @property
    def open(self) -> int:
        """Contested items that have no label yet."""
        return len(self.items) - len(self.before)

    def known(self, drawn: IntArray) -> IntArray:
        """Some draws, and what was labelled before them."""
        return np.concatenate([self.before, drawn])

    @property
    def task(self) -> Task:
        return self.pools[0].task

    @property
    def population(self) -> int:
        return len(self.pools[0])

    def digest(self) -> str:
        """A fingerprint of the items and what all models said about them."""
        named = [["confidence"] if pool.confidence is not None else [] for pool in self.pools]
        return "-".join(derived.digest(pool, names) for pool, names in zip(self.pools, named, strict=True))

    def true_losses(self) -> FloatArray:
        """One row per model, one column per contested item; the truth of every pool must be known, and be one."""
        losses = np.array([pool.losses() for pool in self.pools])
        said = _said(self.pools, _codes(self.pools))
        for pair in self.pairs:
            split = (said[pair.first] == said[pair.second]) & (losses[pair.first] != losses[pair.second])
            if split.any():
                item = self.pools[0].id_of(int(np.argmax(split)))
                raise PoolError(
                    f"{self.names[pair.first]} and {self.names[pair.second]} say the same about {int(split.sum()):,} "
                    f"items, and only one of them is right, first '{item}'",
                    rule="an item has one truth, whichever model is judged by it",
                    hint="the same column of truth in both files",
                )
        return losses[:, self.items]

    def prospect(self, beliefs: Sequence[FloatArray]) -> Prospect:
        """Of every contested item: the sum of its gains over the pairs, and their variance."""
        order, spread = np.zeros(len(self.items)), np.zeros(len(self.items))
        for pair, belief in zip(self.pairs, beliefs, strict=True):
            mean, variance = pair.duel.moments(belief)
            order[pair.members] += mean
            spread[pair.members] += variance
        return Prospect(order, spread, order)

    def fit(self, items: IntArray, losses: FloatArray) -> list[FloatArray]:
        """What is believed about every pair after labels of some contested items.

        losses
            One row per model, one column per contested item; infinite where an item cannot be labelled.
        """
        return [pair.duel.fit(*gains_of(pair, items, losses)) for pair in self.pairs]


def gains_of(pair: Pair, items: IntArray, losses: FloatArray) -> tuple[IntArray, FloatArray]:
    """Those labelled items on which this pair disagrees, as positions among its members, and the gains there."""
    place = np.full(losses.shape[1], -1, dtype=np.int64)
    place[pair.members] = np.arange(len(pair.members))
    there = items[(place[items] >= 0) & np.isfinite(losses[0, items])]
    return place[there], losses[pair.second, there] - losses[pair.first, there]


@dataclass(frozen=True, eq=False)
class Drawn:
    """Contested items to label, in waves.

    items
        Positions among the contested items, in the order to label them.
    sizes
        One per wave.
    beliefs
        One per wave: the coefficients of all pairs that it was drawn with.
    complete
        False when further waves wait for the labels of these.
    """

    items: IntArray
    sizes: tuple[int, ...]
    beliefs: tuple[FloatArray, ...]
    complete: bool

    @classmethod
    def nothing(cls) -> Drawn:
        """Before the first wave, and for models that never disagree."""
        return cls(np.zeros(0, dtype=np.int64), (), (), complete=True)


def draw(
    contested: ContestedItems,
    losses: FloatArray | None,
    *,
    budget: int,
    seed: int,
    first: int | None = None,
    earlier: Sequence[int] = (),
) -> Drawn:
    """The items to label, as far as the labels allow; the parameters are those of ``waves``."""
    drawn = Drawn.nothing()
    for drawn in waves(contested, losses, budget=budget, seed=seed, first=first, earlier=earlier):  # noqa: B007 -- the last one counts
        pass
    return drawn


def waves(
    contested: ContestedItems,
    losses: FloatArray | None,
    *,
    budget: int,
    seed: int,
    first: int | None = None,
    earlier: Sequence[int] = (),
) -> Iterator[Drawn]:
    """What is drawn after each wave, as far as the labels allow: a pure function of what is given.

    losses
        One row per model, one column per contested item; nan where the label is not known yet, infinite where it never
        will be. Those of an earlier campaign are among them.
    first
        Size of the first wave of a comparison that may stop after any wave; left out, waves are laid out for the
        budget.
    earlier
        Budgets that were extended: what was drawn for them stays.
    """
    known = np.full((len(contested.pools), len(contested.items)), np.nan) if losses is None else losses
    planned = _planned(contested.open, [*earlier, budget], first)
    drawn = Drawn.nothing()
    for number, count in enumerate(planned):
        if np.isnan(known[:, drawn.items]).any():
            return
        beliefs = contested.fit(contested.known(drawn.items), known)
        before = _among(contested, contested.known(drawn.items))
        wave = RULE.draw(
            contested.prospect(beliefs),
            before,
            count,
            choice=stream(seed, "compare", number),
            order=stream(seed, "compare", "order", number),
        )
        drawn = Drawn(
            np.concatenate([drawn.items, wave]),
            (*drawn.sizes, count),
            (*drawn.beliefs, np.concatenate(beliefs)),
            complete=number + 1 == len(planned),
        )
        yield drawn


def _planned(contested: int, budgets: Sequence[int], first: int | None) -> list[int]:
    """Sizes of the waves; once the budget is enough for all disagreements, what is left of them is one wave."""
    if first is not None:
        return schedule.open_schedule(first, min(budgets[-1], contested)) if contested else []
    found: list[int] = []
    for budget in budgets:
        left = contested - sum(found)
        found += schedule.schedule(budget - sum(found)) if budget < contested else [left] * (left > 0)
    return found


def chances(contested: ContestedItems, drawn: Drawn, labels: int, *, lost: BoolArray) -> FloatArray:
    """One per contested item: the probability that it is among the first ``labels`` draws, and labelled.

    Or has a label of an earlier campaign. A first part of a wave, in its random order, is a smaller wave; so is what
    could be labelled of it, if what could not is like the rest.

    lost
        One per contested item: True where it cannot be labelled.
    """
    parts = np.split(drawn.items, np.cumsum(drawn.sizes, dtype=np.int64)[:-1])
    used = np.cumsum([0, *drawn.sizes], dtype=np.int64)
    waves = (
        PastWave(RULE, contested.prospect(_split(contested, row)), count, here[~lost[here]], here[lost[here]])
        for row, count, part, start in zip(drawn.beliefs, drawn.sizes, parts, used, strict=False)
        for here in [part[: max(labels - int(start), 0)]]
    )
    now = any_wave(waves, _among(contested, contested.before))
    return now if contested.chance is None else 1 - (1 - contested.chance) * (1 - now)


def _among(contested: ContestedItems, items: IntArray) -> BoolArray:
    """One per contested item: True where it is one of these."""
    found = np.zeros(len(contested.items), dtype=bool)
    found[items] = True
    return found


def _split(contested: ContestedItems, row: FloatArray) -> list[FloatArray]:
    """The coefficients of each pair."""
    nothing = np.zeros(0, dtype=np.int64)
    widths = [len(pair.duel.fit(nothing, np.zeros(0))) for pair in contested.pairs]
    return np.split(row, np.cumsum(widths)[:-1])


def _pair(
    first: int, second: int, said: npt.NDArray[Any], *, confidence: Sequence[FloatArray | None], task: Task
) -> Pair:
    members = np.flatnonzero(said[first] != said[second])
    if task == "regression":
        return Pair(first, second, members, disagreement.ValueDuel((said[first] - said[second])[members]))
    own, rival = (None if (c := confidence[at]) is None else c[members] for at in (first, second))
    return Pair(first, second, members, disagreement.ClassDuel.of(own, rival, len(members)))


def _codes(pools: Sequence[Pool]) -> tuple[IntArray, ...] | None:
    """For each model, one number per class of its own: the same class has the same in all of them. None: no classes."""
    for pool in pools:
        if pool.predictions is None:
            raise PoolError(f"'{pool.name}' has no predictions", rule="disagreements are found by what the models said")
    if pools[0].task == "regression":
        return None
    code = {name: at for at, name in enumerate(dict.fromkeys(name for pool in pools for name in pool.classes))}
    return tuple(np.array([code[name] for name in pool.classes], dtype=np.int64) for pool in pools)


def _said(rows: Sequence[Pool], codes: tuple[IntArray, ...] | None) -> npt.NDArray[Any]:
    """One row per model: values, or numbers of classes."""
    if codes is None:
        return np.array([pool.predictions for pool in rows], dtype=np.float64)
    return np.array([own[pool.predictions] for pool, own in zip(rows, codes, strict=True)])


def _apart(
    rows: tuple[Pool, ...], codes: tuple[IntArray, ...] | None
) -> tuple[IntArray, npt.NDArray[Any], list[FloatArray | None]]:
    """A step: where the models do not all say the same, and there what each says, and how confident it is."""
    said = _said(rows, codes)
    at = np.flatnonzero(np.any(said != said[0], axis=0))
    return rows[0].start + at, said[:, at], [None if one.confidence is None else one.confidence[at] for one in rows]


def _of_all(parts: Sequence[FloatArray | None]) -> FloatArray | None:
    """All or none of the parts have them."""
    there = [part for part in parts if part is not None]
    return np.concatenate(there) if there else None


def _names(pools: Sequence[Pool]) -> tuple[str, ...]:
    """Names that tell the models apart."""
    names = [pool.name for pool in pools]
    return tuple(name if names.count(name) == 1 else f"{name} ({at + 1})" for at, name in enumerate(names))
