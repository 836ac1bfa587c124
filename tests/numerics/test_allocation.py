"""Allocations: whole numbers that add up, inside their bounds, proportional where nothing forbids it."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldcheck.numerics.sampling.allocation import allocate


@st.composite
def problems(draw):
    sizes = np.array(draw(st.lists(st.integers(1, 400), min_size=1, max_size=20)), dtype=np.int64)
    amounts = st.one_of(st.just(0.0), st.floats(1e-9, 1e9), st.floats(0.1, 10))
    wanted = np.array(draw(st.lists(amounts, min_size=len(sizes), max_size=len(sizes))))
    budget = draw(st.integers(len(sizes), int(sizes.sum())))
    return budget, sizes, wanted


@settings(max_examples=400)
@given(problem=problems())
def test_adds_up_within_bounds(problem) -> None:
    budget, sizes, wanted = problem
    counts = allocate(budget, sizes, wanted)
    assert counts.sum() == budget
    assert np.all(counts <= sizes)
    assert np.all(counts >= 1)
    if budget >= np.minimum(sizes, 2).sum():
        assert np.all(counts >= np.minimum(sizes, 2))


@settings(max_examples=200)
@given(problem=problems())
def test_a_stratum_that_wants_more_of_its_kind_gets_no_less(problem) -> None:
    """Among strata of the same size, more wanted is at least as much given (to the rounding of one)."""
    budget, _, wanted = problem
    sizes = np.full(len(wanted), max(2, budget))
    counts = allocate(budget, sizes, wanted)
    order = np.argsort(wanted, kind="stable")
    assert np.all(np.diff(counts[order]) >= -1)


@given(
    sizes=st.lists(st.integers(1000, 2000), min_size=1, max_size=20),
    wanted=st.data(),
)
def test_proportional_when_unconstrained(sizes: list[int], wanted: st.DataObject) -> None:
    share = np.array(wanted.draw(st.lists(st.floats(1, 4), min_size=len(sizes), max_size=len(sizes))))
    budget = 20 * len(sizes)  # the smallest share still gets 20/4 = 5 > 2, the largest 80 < 1000
    exact = budget * share / share.sum()
    assert np.all(np.abs(allocate(budget, np.array(sizes), share) - exact) < 1 + 1e-6)


def test_nothing_wanted_is_proportional_to_size() -> None:
    assert allocate(30, np.array([100, 200]), np.zeros(2)).tolist() == [10, 20]


def test_what_a_full_stratum_cannot_take_goes_to_the_others() -> None:
    assert allocate(50, np.array([10, 1000, 1000]), np.array([100.0, 1.0, 1.0])).tolist() == [10, 20, 20]


def test_everything() -> None:
    assert allocate(7, np.array([4, 1, 2]), np.array([0.0, 5.0, 1.0])).tolist() == [4, 1, 2]


def test_one_each_when_two_are_too_many() -> None:
    assert allocate(5, np.array([10, 10, 10]), np.array([1.0, 0.0, 0.0])).tolist() == [3, 1, 1]
