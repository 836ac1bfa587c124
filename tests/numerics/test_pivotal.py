"""Ordered pivotal draws against the duels that define them (Deville and Tillé 1998), enumerated in fractions."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldcheck.core.rng import stream
from fieldcheck.numerics.sampling.pivotal import ordered_pivotal
from fieldcheck.testing import assert_frequencies

Chances = dict[tuple[int, ...], Fraction]

EPS = Fraction(1, 10**6)
VECTORS: dict[str, list[Fraction]] = {
    "one of four": [Fraction(1, 8), Fraction(1, 2), Fraction(1, 8), Fraction(1, 4)],
    "all equal, no border inside an item": [Fraction(1, 2)] * 6,
    "all equal, borders inside items": [Fraction(3, 5)] * 5,
    "all equal, two borders": [Fraction(3, 7)] * 7,
    "ties": [Fraction(1, 4), Fraction(1, 4), Fraction(3, 4), Fraction(3, 4), Fraction(1, 4), Fraction(3, 4)],
    "every second item across a border": [
        Fraction(2, 3),
        Fraction(2, 3),
        Fraction(2, 3),
        Fraction(1, 2),
        Fraction(3, 4),
        Fraction(3, 4),
    ],
    "almost certain": [1 - EPS, Fraction(1, 2), 1 - EPS, Fraction(1, 2), EPS, EPS],
    "large": [Fraction(4, 5)] * 5,
    "certain among others": [Fraction(1, 2), Fraction(1), Fraction(1, 4), Fraction(1), Fraction(1, 4)],
    "item that ends on a border": [Fraction(1, 3), Fraction(2, 3), Fraction(1, 5), Fraction(4, 5)],
    "small then large": [Fraction(1, 10), Fraction(1, 10), Fraction(9, 10), Fraction(9, 10)],
    "large then small": [Fraction(9, 10), Fraction(9, 10), Fraction(1, 10), Fraction(1, 10)],
    "all of them": [Fraction(1), Fraction(1), Fraction(1)],
}


def duels(inclusion: list[Fraction]) -> Chances:
    """Every possible sample with its chance: the survivor of each duel, with what is left of both, meets the next."""
    states: dict[tuple[int, Fraction, tuple[int, ...]], Fraction] = {(0, inclusion[0], ()): Fraction(1)}
    for rival, strength in enumerate(inclusion[1:], start=1):
        after: dict[tuple[int, Fraction, tuple[int, ...]], Fraction] = defaultdict(Fraction)
        for (survivor, own, drawn), chance in states.items():
            for share, state in duel(survivor, own, drawn, rival=rival, strength=strength):
                after[state] += chance * share
        states = after
    samples: Chances = defaultdict(Fraction)
    for (survivor, own, drawn), chance in states.items():
        assert own in (0, 1)
        samples[tuple(sorted((*drawn, survivor) if own else drawn))] += chance
    return {sample: chance for sample, chance in samples.items() if chance}


def duel(survivor: int, own: Fraction, drawn: tuple[int, ...], *, rival: int, strength: Fraction):
    """What may come of it: its share of the chance, and who goes on, with what, after whom."""
    both = own + strength
    if both == 0:
        return [(Fraction(1), (rival, Fraction(0), drawn))]
    if both < 1:
        return [(own / both, (survivor, both, drawn)), (strength / both, (rival, both, drawn))]
    if both == 2:
        return [(Fraction(1), (rival, Fraction(1), (*drawn, survivor)))]
    wins = (1 - strength) / (2 - both)
    return [(wins, (rival, both - 1, (*drawn, survivor))), (1 - wins, (survivor, both - 1, (*drawn, rival)))]


def floats(inclusion: list[Fraction]) -> np.ndarray:
    return np.array([float(p) for p in inclusion])


@pytest.mark.parametrize("inclusion", VECTORS.values(), ids=VECTORS)
def test_the_duels_have_these_inclusion_probabilities(inclusion: list[Fraction]) -> None:
    samples = duels(inclusion)
    assert sum(samples.values()) == 1
    for item, wanted in enumerate(inclusion):
        assert sum(chance for sample, chance in samples.items() if item in sample) == wanted
    assert {len(sample) for sample in samples} == {sum(inclusion)}


@pytest.mark.parametrize("inclusion", VECTORS.values(), ids=VECTORS)
def test_samples_come_as_often_as_the_duels_say(inclusion: list[Fraction]) -> None:
    """Chi-square over 3,000 seeds; with 2 to 8 samples, a chance that is off by .06 is noticed 95 % of the time."""
    chances = duels(inclusion)
    probabilities = floats(inclusion)
    counts = Counter(tuple(ordered_pivotal(probabilities, stream(seed, "duels")).tolist()) for seed in range(3000))
    assert set(counts) <= set(chances)
    assert_frequencies([counts[one] for one in chances], [float(chance) for chance in chances.values()])


def test_neighbours_are_spread() -> None:
    """Of 2k equal items of 1/2, exactly one of each pair is drawn: what the order is for."""
    for seed in range(200):
        drawn = ordered_pivotal(np.full(20, 0.5), stream(seed, "pairs"))
        assert (drawn // 2).tolist() == list(range(10))


@st.composite
def vectors(draw: st.DrawFn) -> np.ndarray:
    """Probabilities with a whole sum: any numbers in (0, 1], and last ones that fill up what they lack."""
    sizes = st.floats(1e-9, 1.0) | st.sampled_from([1.0, 0.5, 1 - 1e-9, 1 - 1e-12, 1e-12, 1 / 3])
    given_ones = draw(st.lists(sizes, min_size=1, max_size=60))
    total = sum(map(Fraction, given_ones))
    rest = -total % 1
    filled = list(chain(given_ones, [float(rest)] if rest else []))
    order = draw(st.permutations(range(len(filled))))
    return np.array(filled)[list(order)]


@given(inclusion=vectors(), seed=st.integers(0, 10**6))
def test_exactly_so_many_different_items(inclusion: np.ndarray, seed: int) -> None:
    drawn = ordered_pivotal(inclusion, stream(seed, "any"))
    assert len(drawn) == round(inclusion.sum())
    assert (np.diff(drawn) > 0).all()
    assert ((drawn >= 0) & (drawn < len(inclusion))).all()
    assert set(np.flatnonzero(inclusion == 1.0)) <= set(drawn.tolist())


class Extreme:
    """A source of randomness that only gives the largest, or the smallest, numbers there are."""

    def __init__(self, pattern: list[bool]) -> None:
        self.pattern = pattern
        self.bit_generator = self

    def random_raw(self, count: int) -> np.ndarray:
        high = np.resize(np.array(self.pattern), count)
        return np.where(high, np.uint64(2**64 - 1), np.uint64(0))


@given(inclusion=vectors(), pattern=st.lists(st.booleans(), min_size=1, max_size=6))
def test_not_even_the_rarest_numbers_draw_an_item_twice(inclusion: np.ndarray, pattern: list[bool]) -> None:
    drawn = ordered_pivotal(inclusion, Extreme(pattern))  # type: ignore[arg-type]
    assert len(drawn) == round(inclusion.sum())
    assert (np.diff(drawn) > 0).all()
    assert (drawn < len(inclusion)).all()


def test_a_million_items() -> None:
    """Evenly spread: the k-th drawn item lies in the k-th unit of the running sum, or across its border."""
    size, count = 1_000_000, 1_000
    weight = 1 + (np.arange(size) * 7919 % 1009) / 1009
    inclusion = weight * (count / weight.sum())
    drawn = ordered_pivotal(inclusion, stream(3, "million"))
    assert len(np.unique(drawn)) == count
    reached = np.cumsum(inclusion)[drawn]
    assert np.abs(reached - np.arange(count)).max() < 1 + inclusion.max()


def test_nothing_to_draw() -> None:
    assert len(ordered_pivotal(np.zeros(3), stream(0, "none"))) == 0
