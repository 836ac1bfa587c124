"""Successive draws: their chances by enumeration, and what becomes of an urn that runs empty."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldcheck.core.rng import stream
from fieldcheck.numerics.sampling.urn import Urn
from fieldcheck.testing import assert_frequencies


def emptied(sizes, seed: int, count: int) -> tuple[int, ...]:
    urn = Urn(np.cumsum(np.array(sizes, dtype=np.int64)), stream(seed, "urn"))
    drawn = []
    for _ in range(count):
        drawn.append(urn.draw())
        urn.take(drawn[-1])
    return tuple(drawn)


def chance(order, sizes) -> float:
    """Of successive sampling: at each step, size over what is left."""
    left, product = sum(sizes), 1.0
    for member in order:
        product *= sizes[member] / left
        left -= sizes[member]
    return product


@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (1, 2, 3, 10), (100, 1, 1, 7), (5, 0, 3, 2)])
def test_successive_chances(sizes) -> None:
    members = [m for m, size in enumerate(sizes) if size]
    possible = list(permutations(members, len(members)))
    counts = Counter(emptied(sizes, seed, len(members)) for seed in range(5000))
    assert set(counts) <= set(possible)
    assert_frequencies([counts[one] for one in possible], [chance(one, sizes) for one in possible])


@given(sizes=st.lists(st.integers(0, 10**12), min_size=1, max_size=60), seed=st.integers(0, 10**6))
def test_exhausts_everything_that_has_a_size(sizes: list[int], seed: int) -> None:
    some = [m for m, size in enumerate(sizes) if size]
    if some:
        assert sorted(emptied(sizes, seed, len(some))) == some


def test_members_may_leave_without_having_been_drawn() -> None:
    """What remains is drawn in proportion to size, before and after the sums are built anew."""
    counts = Counter()
    for seed in range(3000):
        urn = Urn(np.cumsum(np.array([50, 1, 2, 3, 4], dtype=np.int64)), stream(seed, "urn"))
        urn.draw()
        urn.take(0)
        urn.take(4)
        assert urn.left == 6
        counts[urn.draw()] += 1
    assert_frequencies([counts[m] for m in range(5)], [0, 1, 2, 3, 0])


def test_a_draw_does_not_take() -> None:
    urn = Urn(np.array([3, 5], dtype=np.int64), stream(0, "urn"))
    seen = {urn.draw() for _ in range(600)}
    assert (seen, urn.left) == ({0, 1}, 5)
