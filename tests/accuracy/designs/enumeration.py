"""Every possible sample of a pool of six items with its chance, worked out from the definition of each technique.

Only sizes, strata and whole-number probabilities come from the project; how they combine is written out here once more,
naively.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise, permutations, product

import numpy as np

from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.core.draws import EqualDraws, GroupDraws, StepDraws, StratifiedDraws, WeightedDraws
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.sample import Sample
from fieldcheck.numerics.sampling.draws import pps_sizes
from fieldcheck.numerics.sampling.partition import Partition, kmeans

CHI = np.array([0.0, 0.1, 0.1, 0.35, 0.35, 0.9])
"""A zero and ties."""

N = len(CHI)
ITEMS = range(N)
BINARY = np.array([1.0, 0.0, 1.0, 0.0, 1.0, 1.0])
"""Failures, that of the item whose auxiliary variable is zero among them."""

REAL = np.array([0.7, 0.0, 2.25, 0.04, 1.1, 5.0])
"""Squared errors."""


@dataclass(frozen=True, eq=False)
class Possible:
    """One possible sample and its chance."""

    chance: float
    sample: Sample


def frame() -> Frame:
    return Frame(N, auxiliary={"confidence": CHI}, traits=derived.traits())


def srs(n: int, *, replace: bool) -> Iterator[Possible]:
    drawn = list(product(ITEMS, repeat=n) if replace else permutations(ITEMS, n))
    for items in drawn:
        yield Possible(1 / len(drawn), Sample(N, np.array(items), "mean", EqualDraws(replace)))


def sups(n: int, *, floor: float) -> Iterator[Possible]:
    chance = pps_sizes(CHI, floor).probability
    for drawn in product(ITEMS, repeat=n):
        items = np.array(drawn)
        sample = _weighted(items, chance[items], least=chance.min())
        yield Possible(math.prod(chance[items]), sample)


def _weighted(items, probability, *, least: float) -> Sample:
    return Sample(N, items, "hansen_hurwitz", WeightedDraws(np.array(probability), least))


def rhc(n: int, *, floor: float) -> Iterator[Possible]:
    size = pps_sizes(CHI, floor).whole.astype(float)
    ends = [r * N // n for r in range(n + 1)]
    orders = {tuple(tuple(sorted(p[a:b])) for a, b in pairwise(ends)) for p in permutations(ITEMS)}
    for groups in orders:
        totals = [size[list(group)].sum() for group in groups]
        for items in product(*groups):
            share = np.array([size[i] / total for i, total in zip(items, totals, strict=True)])
            draws = GroupDraws(
                share=share,
                group=np.array(totals) / size.sum(),
                group_items=np.array([len(group) for group in groups]),
                least=size.min() / size.sum(),
            )
            yield Possible(math.prod(share) / len(orders), Sample(N, np.array(items), "rhc", draws))


def stratified(strata: Partition, counts: list[int]) -> Iterator[Possible]:
    """Every choice within every stratum, whatever the order."""
    choices = list(product(*(list(combinations(g.tolist(), c)) for g, c in zip(strata.members, counts, strict=True))))
    draws = StratifiedDraws(np.repeat(np.arange(len(strata)), counts), strata.sizes)
    for choice in choices:
        sample = Sample(N, np.array(sum(choice, ())), "stratified", draws)
        yield Possible(1 / len(choices), sample)


def two_ups(n: int, *, floor: float, k: int) -> Iterator[Possible]:
    """A stratum by size, then any item that was not drawn in this round of the stratum."""
    strata = kmeans(CHI, k)
    whole = pps_sizes(CHI, floor).whole.astype(float)
    psi = np.array([whole[group].sum() for group in strata.members]) / whole.sum()
    each = psi / strata.sizes

    def go(chance: float, items: tuple[int, ...], chosen: tuple[int, ...], left: tuple[frozenset, ...]):
        if len(items) == n:
            yield Possible(chance, _weighted(np.array(items), each[np.array(chosen)], least=each.min()))
            return
        for p, group in enumerate(strata.members):
            free = left[p] or frozenset(group.tolist())
            for item in free:
                rest = (*left[:p], free - {item}, *left[p + 1 :])
                yield from go(chance * psi[p] / len(free), (*items, item), (*chosen, p), rest)

    yield from go(1.0, (), (), tuple(frozenset(group.tolist()) for group in strata.members))


def deepest(n: int, *, r: float, threshold: float, weights: str) -> Iterator[Possible]:
    """Every sequence of different items; the chance of each step by ``step_chances``."""
    for drawn in permutations(ITEMS, n):
        steps = [
            step_chances(CHI, drawn[:k], r=r, threshold=threshold, weights=weights)[i] for k, i in enumerate(drawn)
        ]
        sample = Sample(N, np.array(drawn), "adaptive", StepDraws(np.array(steps), r))
        yield Possible(math.prod(steps), sample)


def step_chances(chi, before, *, r: float, threshold: float, weights: str):
    """DeepEST's chances for the next item, one per item: the formula, in O(N)."""
    free = np.ones(len(chi), dtype=bool)
    free[list(before)] = False
    exceeds = chi > threshold
    awake = weights == "exceeding" or any(exceeds[item] for item in before)
    weight = np.where(free & (exceeds if weights == "exceeding" else True), chi, 0.0)
    uniform = free / free.sum()
    if not before or not awake or weight.sum() == 0:
        return uniform
    return r * weight / weight.sum() + (1 - r) * uniform
