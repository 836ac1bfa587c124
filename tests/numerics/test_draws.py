"""Draws: uniform over what they should be uniform over, exactly proportional to size, and the same for ever."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldcheck.core.rng import stream
from fieldcheck.numerics.sampling.draws import (
    below,
    permutation,
    pps_sizes,
    pps_with_replacement,
    uniforms,
    without_replacement,
)
from fieldcheck.testing import assert_frequencies

REPEATS = 6000


def counted(outcomes, possible) -> list[int]:
    counts = Counter(outcomes)
    assert set(counts) <= set(possible)
    return [counts[one] for one in possible]


@pytest.mark.parametrize(("count", "size"), [(2, 5), (1, 4), (3, 7), (3, 4), (4, 4)])
def test_without_replacement_is_uniform_over_ordered_subsets(count: int, size: int) -> None:
    """Both ways of drawing: few of many by drawing again what came twice, many of few by a permutation."""
    possible = list(permutations(range(size), count))
    rng = stream(3, "ordered subsets")
    seen = counted((tuple(without_replacement(rng, count, size).tolist()) for _ in range(REPEATS)), possible)
    assert_frequencies(seen, np.ones(len(possible)))


def test_permutation_is_uniform() -> None:
    possible = list(permutations(range(4)))
    rng = stream(3, "permutations")
    seen = counted((tuple(permutation(rng, 4).tolist()) for _ in range(REPEATS)), possible)
    assert_frequencies(seen, np.ones(24))


@given(seed=st.integers(0, 2**32), size=st.integers(1, 300), data=st.data())
def test_without_replacement_never_repeats(seed: int, size: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, size))
    drawn = without_replacement(stream(seed, "x"), count, size)
    assert drawn.dtype == np.int64
    assert len(drawn) == len(set(drawn.tolist())) == count
    assert set(drawn.tolist()) <= set(range(size))


def test_below_is_uniform_and_stays_below() -> None:
    assert_frequencies(np.bincount(below(stream(1, "below"), 20_000, 7), minlength=7), np.ones(7))


class Extreme:
    """A generator whose raw output is the largest there is."""

    class bit_generator:  # noqa: N801 -- the name numpy gives it
        @staticmethod
        def random_raw(count: int):
            return np.full(count, 2**64 - 1, dtype=np.uint64)


def test_the_largest_uniform_is_below_one() -> None:
    assert uniforms(Extreme(), 3).max() == 1 - 2.0**-53
    assert below(Extreme(), 1, 10**7)[0] == 10**7 - 1


CHI = st.lists(st.floats(0, 1e6, allow_subnormal=False), min_size=1, max_size=40).map(np.array)


@given(values=CHI, floor=st.floats(0, 1))
def test_sizes_follow_the_formula(values, floor: float) -> None:
    """``(1-ε) χ/Σχ + ε/N``: sizes are rounded to 2**-43 of the largest or finer, and χ to as much of the largest χ."""
    sizes = pps_sizes(values, floor)
    assert sizes.total == sizes.whole.sum() <= 2**53
    expected = (
        (1 - floor) * values / values.sum() + floor / len(values)
        if values.max() > 0
        else np.full(len(values), 1 / len(values))
    )
    np.testing.assert_allclose(sizes.probability, expected, rtol=1e-9, atol=1e-12)
    assert sizes.least_probability == sizes.probability.min()
    assert sizes.unreachable == np.sum(sizes.whole == 0)
    if floor > 1e-6:
        assert sizes.unreachable == 0


def test_sizes_without_floor_leave_zeros_out() -> None:
    sizes = pps_sizes(np.array([0.0, 1.0, 0.0, 3.0]), 0.0)
    np.testing.assert_allclose(sizes.probability, [0, 0.25, 0, 0.75], rtol=1e-12)
    drawn = pps_with_replacement(stream(1, "pps"), 20_000, sizes.cumulative)
    assert_frequencies(np.bincount(drawn, minlength=4), sizes.probability)


def test_pps_has_the_chances_it_says() -> None:
    sizes = pps_sizes(np.array([0.0, 0.1, 0.1, 5.0, 0.7]), 0.1)
    drawn = pps_with_replacement(stream(2, "pps"), 40_000, sizes.cumulative)
    assert_frequencies(np.bincount(drawn, minlength=5), sizes.probability)


def test_streams_are_pinned() -> None:
    """Golden values: any change here breaks "same seed, same items" for every campaign that exists."""
    assert (uniforms(stream(7, "golden"), 3) * 2**53).astype(np.int64).tolist() == UNIFORMS
    assert without_replacement(stream(7, "golden"), 5, 1000).tolist() == FEW
    assert permutation(stream(7, "golden"), 8).tolist() == SHUFFLED


UNIFORMS = [6475532568212695, 1778036860124338, 2030849683538959]
FEW = [718, 197, 225, 153, 319]
SHUFFLED = [3, 7, 1, 2, 4, 0, 6, 5]
