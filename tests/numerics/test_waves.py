"""How many labels each wave gets."""

from __future__ import annotations

from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldcheck.numerics.sampling.schedule import open_schedule, schedule


@pytest.mark.parametrize(
    ("budget", "sizes"),
    [(2, [2]), (20, [20]), (34, [34]), (50, [20, 30]), (100, [20, 30, 50]), (200, [40, 60, 100])],
)
def test_by_hand(budget: int, sizes: list[int]) -> None:
    """50 and 200 are the examples of the technique; of 34, the rest of 14 is under half of the second wave of 30."""
    assert schedule(budget) == sizes


@given(budget=st.integers(1, 200_000))
def test_a_known_budget_is_spent(budget: int) -> None:
    sizes = schedule(budget)
    assert sum(sizes) == budget
    assert min(sizes) > 0
    assert 20 <= sizes[0] < 90 or budget < 20
    # Each wave is half as large again as the one before; the last one is at least half of that, and less than twice.
    for before, after in pairwise(sizes[:-1]):
        assert abs(after - 1.5 * before) <= 1.5
    if len(sizes) > 1:
        assert 0.75 * sizes[-2] - 1 <= sizes[-1] <= 1.5 * sizes[-2] * 1.75 + 2


@given(first=st.integers(2, 500), budget=st.integers(2, 20_000))
def test_an_open_budget_is_spent_a_quarter_at_a_time(first: int, budget: int) -> None:
    sizes = open_schedule(first, budget)
    assert sum(sizes) == budget
    for done, following in zip(accumulate(sizes[:-2]), sizes[1:-1], strict=False):
        assert following == max(1, round(done / 4))


@given(first=st.integers(2, 100), budget=st.integers(2, 3_000), more=st.integers(0, 3_000))
def test_waves_of_an_open_budget_do_not_depend_on_it(first: int, budget: int, more: int) -> None:
    shorter, longer = open_schedule(first, budget), open_schedule(first, budget + more)
    assert shorter[:-1] == longer[: len(shorter) - 1]
    assert shorter[-1] <= longer[len(shorter) - 1]


def test_open_by_hand() -> None:
    assert open_schedule(40, 100) == [40, 10, 12, 16, 20, 2]
    assert open_schedule(2, 4) == [2, 1, 1]
