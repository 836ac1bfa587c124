"""What is run next follows from what was seen, and from nothing else."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.space import Axis, Outcomes, Space
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.execute import orders_of
from fieldcheck.tomography.plan import Full, Pairs, Spread
from fieldcheck.tomography.schedule import Schedule, ranks_of
from fieldcheck.tomography.stopping import HalfWidth

SPACE = Space((Axis("a", 2), Axis("b", 2), Axis("c", 1)))


def outcome(tests: IntArray, inputs: IntArray) -> FloatArray:
    """Test 0 always holds; the others hold on every second input."""
    return np.where(tests == 0, 1.0, (inputs % 2).astype(float))


def played(schedule: Schedule, *, stop_after: int | None = None, start: Outcomes | None = None) -> Outcomes:
    """The outcomes of a schedule from some state on, part by part."""
    none = np.zeros(0, dtype=np.int64)
    seen = start or Outcomes(none, none, np.zeros(0), np.zeros(0))
    parts = 0
    while stop_after is None or parts < stop_after:
        rows, _ = schedule.next(seen)
        if not len(rows):
            break
        columns = (rows.tests, rows.inputs, outcome(rows.tests, rows.inputs), rows.chance)
        before = (seen.tests, seen.inputs, seen.held, seen.chance)
        seen = Outcomes(*(np.concatenate([b, a]) for b, a in zip(before, columns, strict=True)))  # type: ignore[arg-type]
        parts += 1
    return seen


@pytest.mark.parametrize("plan", [Full(), Pairs(), Spread()])
def test_parts_make_up_the_plan_wherever_it_was_stopped(plan: Full | Pairs | Spread) -> None:
    schedule = Schedule(SPACE, 30, plan, budget=300, seed=4, chunk=37)
    whole = played(schedule)
    planned = plan.rows(SPACE, 30, budget=300, seed=4)
    pairs = sorted(zip(planned.tests.tolist(), planned.inputs.tolist(), strict=True))
    assert sorted(zip(whole.tests.tolist(), whole.inputs.tolist(), strict=True)) == pairs
    broken = played(Schedule(SPACE, 30, plan, budget=300, seed=4, chunk=37), start=played(schedule, stop_after=3))
    np.testing.assert_array_equal(broken.tests, whole.tests)
    np.testing.assert_array_equal(broken.inputs, whole.inputs)


def test_a_rule_stops_tests_one_by_one() -> None:
    """A test that always holds has a narrow interval early; one that holds half the time needs more inputs."""
    schedule = Schedule(SPACE, 2_000, Pairs(), rule=HalfWidth(width=0.04, least=100), seed=1)
    seen = played(schedule)
    used = np.bincount(seen.tests, minlength=SPACE.size)
    assert used[0] == 100
    low_orders = SPACE.orders(np.arange(SPACE.size)) <= 2
    assert np.all(used[~low_orders] == 0)
    # 1.96 * sqrt(.25 / n * (1 - n / 2000)) <= .04 first at n = 500 of 2,000.
    assert np.all(used[low_orders][1:] == 500)
    again = played(schedule, start=played(schedule, stop_after=2))
    np.testing.assert_array_equal(again.tests, seen.tests)


def test_a_budget_ends_a_rule() -> None:
    seen = played(Schedule(SPACE, 2_000, Pairs(), budget=1_234, rule=HalfWidth(width=0.01), seed=1))
    assert len(seen) == 1_234


def test_a_spread_plan_goes_on_until_its_bands_are_narrow() -> None:
    widths: list[int] = []

    def bands(outcomes: Outcomes) -> FloatArray:
        widths.append(len(outcomes))
        return np.full(3, 1 / np.sqrt(len(outcomes)))

    schedule = Schedule(SPACE, 5_000, Spread(), rule=HalfWidth(width=0.011), seed=1, bands=bands)
    seen = played(schedule)
    first, second, third = sorted(set(widths))
    # Each round asks for half of what was there; rows that came before are not run again.
    assert first == 4_000
    assert 5_700 < second <= 6_000
    assert len(seen) == third >= 1 / 0.011**2 > second


def test_every_order_of_the_perturbations_is_run_once() -> None:
    space = Space((Axis("a", 5), Axis("b", 5), Axis("c", 5)))
    schedule = Schedule(space, 1, Full(), seed=0, ordered=True, chunk=100)
    none = np.zeros(0, dtype=np.int64)
    seen, found = Outcomes(none, none, np.zeros(0)), set()
    while True:
        rows, variants = schedule.next(seen)
        if not len(rows):
            break
        assert variants is not None
        for test, order in zip(space.severities(rows.tests).tolist(), orders_of(3, variants).tolist(), strict=True):
            found.add(tuple((axis, test[axis]) for axis in order if test[axis]))
        tests = np.concatenate([seen.tests, rows.tests])
        seen = Outcomes(tests, np.zeros(len(tests), dtype=np.int64), np.zeros(len(tests)))
    assert len(seen) == len(found) == 916


def test_a_spread_plan_draws_the_order_of_what_is_at_work() -> None:
    schedule = Schedule(SPACE, 50, Spread(), budget=400, seed=0, ordered=True)
    rows, variants = schedule.next(Outcomes(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)))
    assert variants is not None
    orders = orders_of(3, variants)
    at_work = np.take_along_axis(SPACE.severities(rows.tests) > 0, orders, axis=1)
    assert np.all(np.diff(at_work.astype(int), axis=1) <= 0)
    three = orders[at_work.all(axis=1)]
    assert {tuple(order) for order in three.tolist()} == set(permutations(range(3)))


def test_ranks_and_orders_are_inverse() -> None:
    np.testing.assert_array_equal(ranks_of(orders_of(5, np.arange(120))), np.arange(120))


def test_a_rule_and_an_order_do_not_go_together() -> None:
    with pytest.raises(SpaceError):
        Schedule(SPACE, 10, Full(), rule=HalfWidth(), ordered=True)


def test_a_spread_plan_ends_when_everything_was_seen() -> None:
    schedule = Schedule(SPACE, 300, Spread(), rule=HalfWidth(width=0.001), bands=lambda seen: np.ones(1), seed=1)
    seen = played(schedule)
    pairs = np.unique(np.column_stack([seen.tests, seen.inputs]), axis=0)
    assert len(pairs) == len(seen) <= SPACE.size * 300
    assert len(seen) > 0.9 * SPACE.size * 300
