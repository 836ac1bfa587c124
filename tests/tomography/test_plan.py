"""Plans: what they run, how often, and with which probability."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from fieldcheck.core.errors import BudgetError, FieldcheckError
from fieldcheck.testing import check_plan
from fieldcheck.testing.tomography import space
from fieldcheck.tomography.plans import registry
from fieldcheck.tomography.plans.base import count_of_order, low_orders, space_filling
from fieldcheck.tomography.plans.spread import draw_chance

NAMES = list(registry)


SMALL = space(2, 3, 1)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25, deadline=None)
@given(levels=st.lists(st.integers(1, 3), min_size=1, max_size=4), inputs=st.integers(1, 9), data=st.data())
def test_every_plan_stays_within_budget_and_runs_nothing_twice(
    name: str, levels: list[int], inputs: int, data: st.DataObject
) -> None:
    where = space(*levels)
    budget = data.draw(st.integers(max(where.size, inputs), where.size * inputs + 5))
    rows = registry.build(name).rows(where, inputs, budget=budget, seed=1)
    assert 1 <= len(rows) <= budget
    assert rows.tests.min() >= 0
    assert rows.tests.max() < where.size
    assert rows.inputs.min() >= 0
    assert rows.inputs.max() < inputs
    assert len(set(zip(rows.tests.tolist(), rows.inputs.tolist(), strict=True))) == len(rows)


@pytest.mark.parametrize("spec", [*NAMES, "pairs:share=0.2"])
def test_every_plan(spec: str) -> None:
    check_plan(registry.build(spec))


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_is_a_function_of_its_arguments(name: str) -> None:
    first, second, other = (registry.build(name).rows(SMALL, 20, budget=200, seed=seed) for seed in (4, 4, 5))
    assert np.array_equal(first.tests, second.tests)
    assert np.array_equal(first.inputs, second.inputs)
    same = np.array_equal(first.tests, other.tests) and np.array_equal(first.inputs, other.inputs)
    assert not same


def test_spread_draws_the_same_on_every_machine() -> None:
    """Golden values of this version: a change would break runs that are to be resumed."""
    rows = registry.build("spread").rows(space(*[5] * 8), 100, budget=4, seed=7)
    assert rows.tests.tolist() == [277024, 409696, 28517, 432]
    assert rows.inputs.tolist() == [16, 72, 16, 35]


@pytest.mark.parametrize("inputs", [1, 2, 50])
def test_a_larger_draw_begins_with_the_smaller_one(inputs: int) -> None:
    """With one input most draws come twice: the sequence goes on where it was, however far it was looked at."""
    where = space(5, 5, 5)
    large = registry.build("spread").rows(where, inputs, budget=215, seed=1)
    for budget in (1, 30, 100, 214):
        small = registry.build("spread").rows(where, inputs, budget=budget, seed=1)
        np.testing.assert_array_equal(small.tests, large.tests[:budget])
        np.testing.assert_array_equal(small.inputs, large.inputs[:budget])


def test_spread_gives_every_test_of_a_small_space_as_many_inputs() -> None:
    rows = registry.build("spread").rows(SMALL, 50, budget=24 * 7 + 5, seed=0)
    counts = Counter(rows.tests.tolist())
    assert len(counts) == 24
    assert Counter(counts.values()) == {7: 19, 8: 5}
    assert np.all(rows.chance == 1 / 24)
    inputs = [tuple(sorted(rows.inputs[rows.tests == test])) for test in range(24)]
    assert len(set(inputs)) == 24  # each test has inputs of its own


def test_the_chances_of_spread_add_up_to_one() -> None:
    assert draw_chance(SMALL, np.arange(SMALL.size)).sum() == pytest.approx(1)
    # Order 0 by hand: an eighth of 1/24, seven of 2/11, orders 0 to 3 having the weights 2, 4, 3 and 2.
    assert draw_chance(SMALL, np.array([0]))[0] == pytest.approx((1 / 24 + 7 * 2 / 11) / 8)
    # (0, 3, 0): order 1 with 4/11, one axis of three, one level of three.
    assert draw_chance(SMALL, SMALL.numbers([[0, 3, 0]]))[0] == pytest.approx((1 / 24 + 7 * 4 / 11 / 3 / 3) / 8)


def test_spread_draws_with_the_chances_it_states() -> None:
    """Orders of 5,000 draws; each count leaves its limits with a chance of 2e-7, so that 1 of 500,000 seeds fails."""
    where = space(*[5] * 6)
    rows = registry.build("spread").rows(where, 1000, budget=5000, seed=2)
    chances = draw_chance(where, np.arange(where.size))
    expected = np.bincount(where.orders(np.arange(where.size)), weights=chances)
    found = np.bincount(where.orders(rows.tests), minlength=7)
    # Rows that came twice are drawn again; of order 0 there are only 1,000, so that some 350 become fewer: left out.
    for order in range(1, 7):
        low, high = binom.ppf([1e-7, 1 - 1e-7], 5000, expected[order] * np.array([0.97, 1.04]))
        assert low <= found[order] <= high
    assert rows.chance == pytest.approx(chances[rows.tests])


def test_pairs_are_all_tests_of_orders_up_to_two_on_the_same_inputs() -> None:
    where = space(5, 5, 5, 5)
    rows = registry.build("pairs").rows(where, 1000, budget=17_100, seed=3)
    assert len(np.unique(rows.tests)) == 1 + 4 * 5 + 6 * 25
    assert where.orders(rows.tests).max() == 2
    each = rows.inputs.reshape(171, 100)
    assert np.all(each == each[0])
    assert np.all(np.isnan(rows.chance))
    assert len(registry.build("pairs").rows(where, 1000, budget=None, seed=3)) == 171_000


def test_a_share_of_higher_orders() -> None:
    where = space(5, 5, 5, 5)
    rows = registry.build("pairs:share=0.05").rows(where, 10, budget=None, seed=3)
    orders = Counter(where.orders(np.unique(rows.tests)).tolist())
    assert orders == {0: 1, 1: 20, 2: 150, 3: 25, 4: 32}  # 5 % of 500 and of 625, rounded up


def test_space_filling_tests_are_farther_apart_than_random_ones() -> None:
    where = space(5, 5, 5, 5)
    chosen = where.severities(space_filling(where, 3, 25, seed=0))
    assert np.all(np.count_nonzero(chosen, axis=1) == 3)

    def nearest(rows: np.ndarray) -> float:
        gaps = ((rows[:, None] - rows[None, :]) ** 2).sum(axis=2) + 1000 * np.eye(len(rows))
        return float(np.sqrt(gaps.min(axis=1)).min())

    every = where.severities(np.flatnonzero(where.orders(np.arange(where.size)) == 3))
    random = [nearest(np.random.default_rng(seed).permutation(every)[:25]) for seed in range(20)]
    assert nearest(chosen) > max(random)


def test_low_orders_are_listed_once() -> None:
    found = low_orders(SMALL, 2)
    assert sorted(found.tolist()) == np.flatnonzero(SMALL.orders(np.arange(24)) <= 2).tolist()
    assert np.all(np.diff(SMALL.orders(found)) >= 0)
    assert len(low_orders(space(*[5] * 20), 1)) == 101


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(0, 4))
def test_tests_of_an_order_are_counted(levels: list[int], order: int) -> None:
    severities = itertools.product(*(range(level + 1) for level in levels))
    assert count_of_order(space(*levels), order) == sum(np.count_nonzero(one) == order for one in severities)


def test_ordered_takes_low_orders_first() -> None:
    rows = registry.build("ordered").rows(SMALL, 10, budget=100, seed=0)
    assert len(np.unique(rows.tests)) == 10
    assert SMALL.orders(rows.tests).max() <= 2
    assert np.all(np.diff(SMALL.orders(rows.tests)) >= 0)
    assert set(rows.tests[:70].tolist()) == set(low_orders(SMALL, 1).tolist())


def test_random_takes_whole_tests() -> None:
    rows = registry.build("random").rows(SMALL, 10, budget=109, seed=0)
    assert len(rows) == 100
    assert set(Counter(rows.tests.tolist()).values()) == {10}


def test_too_little_is_refused() -> None:
    for name in ("pairs", "full"):
        with pytest.raises(BudgetError):
            registry.build(name).rows(SMALL, 10, budget=5, seed=0)
    with pytest.raises(BudgetError):
        registry.build("random").rows(SMALL, 10, budget=9, seed=0)
    with pytest.raises(BudgetError):
        registry.build("spread").rows(SMALL, 10, budget=0, seed=0)
    with pytest.raises(FieldcheckError):
        registry.build("full").rows(space(*[9] * 9), 10, budget=None, seed=0)
    with pytest.raises(FieldcheckError):
        registry.build("pairs:share=2")
