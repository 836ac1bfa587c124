"""What is run next follows from what was seen, and from nothing else."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from fieldcheck.core.errors import BudgetError, SpaceError
from fieldcheck.core.space import Axis, Outcomes, Space
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.plans import Full, Ordered, Pairs, Random, Spread
from fieldcheck.tomography.plans.base import Plan
from fieldcheck.tomography.runs.schedule import Schedule, Stage, ranks_of
from fieldcheck.tomography.runs.stopping import NarrowInterval
from fieldcheck.tomography.setup.executor import orders_of

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
    schedule = Schedule(SPACE, 2_000, Pairs(), rule=NarrowInterval(width=0.04, least=100), seed=1)
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
    seen = played(Schedule(SPACE, 2_000, Pairs(), budget=1_234, rule=NarrowInterval(width=0.01), seed=1))
    assert len(seen) == 1_234


def test_a_spread_plan_goes_on_until_its_bands_are_narrow() -> None:
    widths: list[int] = []

    def bands(outcomes: Outcomes) -> FloatArray:
        widths.append(len(outcomes))
        return np.full(3, 1 / np.sqrt(len(outcomes)))

    schedule = Schedule(SPACE, 5_000, Spread(), rule=NarrowInterval(width=0.011), seed=1, bands=bands)
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


def test_a_rule_stops_where_the_order_matters() -> None:
    """Each input runs in every order of the perturbations at work, in whole rounds of inputs, until that is enough."""
    space = Space((Axis("a", 1), Axis("b", 1)))
    schedule = Schedule(space, 1000, Full(), rule=NarrowInterval(width=0.05), ordered=True, chunk=70)
    done = Outcomes(np.zeros(0, dtype=int), np.zeros(0, dtype=int), np.zeros(0))
    ranks: list[int] = []
    while True:
        rows, variants = schedule.next(done)
        if not len(rows):
            break
        assert variants is not None
        ranks += variants.tolist()
        held = (rows.inputs % 10 > 0).astype(float)
        parts = [(done.tests, rows.tests), (done.inputs, rows.inputs), (done.held, held)]
        done = Outcomes(*(np.concatenate(pair) for pair in parts))
    both = done.tests == 3
    assert 200 <= len(np.unique(done.inputs[both])) < 400
    assert np.count_nonzero(both) == 2 * len(np.unique(done.inputs[both]))
    assert sorted(np.unique(np.array(ranks)[both])) == [0, 1]
    assert (schedule.half_widths(done) <= 0.05).all()


def test_a_spread_plan_ends_when_everything_was_seen() -> None:
    schedule = Schedule(SPACE, 300, Spread(), rule=NarrowInterval(width=0.001), bands=lambda seen: np.ones(1), seed=1)
    seen = played(schedule)
    pairs = np.unique(np.column_stack([seen.tests, seen.inputs]), axis=0)
    assert len(pairs) == len(seen) <= SPACE.size * 300
    assert len(seen) > 0.9 * SPACE.size * 300


def pairs_of(outcomes: Outcomes) -> list[tuple[int, int]]:
    return list(zip(outcomes.tests.tolist(), outcomes.inputs.tolist(), strict=True))


@pytest.mark.parametrize("plan", [Full(), Pairs(), Pairs(share=0.5), Spread(), Ordered(), Random()])
@pytest.mark.parametrize("stop", [None, 1])
def test_an_extended_run_has_the_rows_of_one_begun_larger(plan: Plan, stop: int | None) -> None:
    """Also where it was extended before it had finished; killed in between, it is the same row by row."""
    small = played(Schedule(SPACE, 30, plan, budget=190, seed=4, chunk=37))
    begun = played(Schedule(SPACE, 30, plan, budget=190, seed=4, chunk=37), stop_after=stop)
    larger = Schedule(SPACE, 30, plan, budget=400, seed=4, chunk=37, earlier=(Stage(190),))
    extended = played(larger, start=begun)
    assert pairs_of(extended)[: len(small)] == pairs_of(small)
    assert sorted(pairs_of(extended)) == sorted(pairs_of(played(Schedule(SPACE, 30, plan, budget=400, seed=4))))
    assert pairs_of(played(larger, start=played(larger, start=begun, stop_after=2))) == pairs_of(extended)


def test_a_draw_that_is_extended_is_the_larger_draw() -> None:
    space = Space(tuple(Axis(f"p{at}", 5) for at in range(5)))
    small = played(Schedule(space, 30, Spread(), budget=500, seed=1))
    extended = played(Schedule(space, 30, Spread(), budget=900, seed=1, earlier=(Stage(500),)), start=small)
    whole = played(Schedule(space, 30, Spread(), budget=900, seed=1))
    assert pairs_of(extended) == pairs_of(whole)
    np.testing.assert_array_equal(extended.chance, whole.chance)


def test_from_fewer_inferences_than_tests_to_more_the_rows_keep_their_chances() -> None:
    small = played(Schedule(SPACE, 30, Spread(), budget=12, seed=1))
    extended = played(Schedule(SPACE, 30, Spread(), budget=100, seed=1, earlier=(Stage(12),)), start=small)
    assert len(extended) == len(set(pairs_of(extended))) == 100
    assert extended.chance is not None
    assert small.chance is not None
    np.testing.assert_array_equal(extended.chance[:12], small.chance)
    np.testing.assert_array_equal(extended.chance[12:], 1 / SPACE.size)


def test_a_run_is_extended_twice() -> None:
    stages = (Stage(100), Stage(190))
    seen = played(Schedule(SPACE, 30, Full(), budget=100, seed=4))
    seen = played(Schedule(SPACE, 30, Full(), budget=190, seed=4, earlier=stages[:1]), start=seen)
    seen = played(Schedule(SPACE, 30, Full(), seed=4, earlier=stages), start=seen)
    assert sorted(pairs_of(seen)) == [(test, at) for test in range(SPACE.size) for at in range(30)]


def test_every_order_of_the_perturbations_is_run_once_in_an_extended_run() -> None:
    """18 tests; with their orders 1 + 5 + 2 * 8 + 6 * 4 = 46 runs of each input."""
    whole = played(Schedule(SPACE, 5, Full(), seed=0, ordered=True))
    small = played(Schedule(SPACE, 5, Full(), budget=100, seed=0, ordered=True))
    assert len(small) == 46 * 2
    schedule = Schedule(SPACE, 5, Full(), seed=0, ordered=True, earlier=(Stage(100),))
    extended = played(schedule, start=small)
    assert len(whole) == 46 * 5
    assert sorted(pairs_of(extended)) == sorted(pairs_of(whole))


@pytest.mark.parametrize("plan", [Full(), Pairs(), Ordered(), Random(), Spread()])
def test_a_budget_counts_every_order_of_the_perturbations(plan: Plan) -> None:
    for budget in (120, 400):
        assert 46 <= len(played(Schedule(SPACE, 5, plan, budget=budget, seed=0, ordered=True))) <= budget
    if not isinstance(plan, Spread):
        with pytest.raises(BudgetError):
            played(Schedule(SPACE, 5, plan, budget=4, seed=0, ordered=True))


@pytest.mark.parametrize("budget", [None, 3_000, 12_000])
def test_a_narrower_half_width_goes_on(budget: int | None) -> None:
    """Each test has seen the inputs that it would have seen from the start: those of the wider run come first."""
    wide, narrow = NarrowInterval(width=0.06, least=100), NarrowInterval(width=0.04, least=100)
    first = played(Schedule(SPACE, 2_000, Pairs(), budget=budget, rule=wide, seed=1))
    schedule = Schedule(SPACE, 2_000, Pairs(), rule=narrow, seed=1, earlier=(Stage(budget, 0.06),))
    extended = played(schedule, start=first)
    assert pairs_of(extended)[: len(first)] == pairs_of(first)
    assert sorted(pairs_of(extended)) == sorted(pairs_of(played(Schedule(SPACE, 2_000, Pairs(), rule=narrow, seed=1))))
    assert pairs_of(played(schedule, start=played(schedule, start=first, stop_after=1))) == pairs_of(extended)


@pytest.mark.parametrize("stage", [Stage(None, 0.014), Stage(5_000, 0.011), Stage(5_000, 0.014)])
def test_a_spread_plan_with_a_rule_goes_on_as_if_it_had_been_begun_so(stage: Stage) -> None:
    def schedule(budget: int | None, width: float | None, *earlier: Stage) -> Schedule:
        rule = NarrowInterval(width=width or 0.011)
        return Schedule(
            SPACE, 5_000, Spread(), budget=budget, rule=rule, seed=1, earlier=earlier,
            bands=lambda seen: np.full(3, 1 / np.sqrt(len(seen))),
        )  # fmt: skip

    first = played(schedule(stage.budget, stage.width))
    whole = played(schedule(None, 0.011))
    assert len(first) < len(whole)
    assert pairs_of(played(schedule(None, 0.011, stage), start=first)) == pairs_of(whole)


@pytest.mark.parametrize("rule", [None, NarrowInterval(width=0.04, least=100)])
def test_outcomes_of_another_plan_are_not_gone_on_with(rule: NarrowInterval | None) -> None:
    """As a version of fieldcheck that draws other inputs would have left them."""
    begun = played(Schedule(SPACE, 2_000, Pairs(), budget=5_000, rule=rule, seed=4, chunk=100), stop_after=3)
    other = Outcomes(begun.tests, (begun.inputs + 1) % 2_000, begun.held, begun.chance)
    with pytest.raises(SpaceError, match="not the first ones"):
        Schedule(SPACE, 2_000, Pairs(), budget=5_000, rule=rule, seed=4).next(other)


def test_one_schedule_tells_runs_with_other_outcomes_apart() -> None:
    """What it keeps from call to call is about the outcomes that it was shown."""
    schedule = Schedule(SPACE, 2_000, Pairs(), rule=NarrowInterval(width=0.04, least=100), seed=1)
    first = played(schedule)
    none = np.zeros(0, dtype=np.int64)
    rows, _ = schedule.next(Outcomes(none, none, np.zeros(0)))
    sure = Outcomes(rows.tests, rows.inputs, np.ones(len(rows)), rows.chance)
    assert not len(schedule.next(sure)[0])  # every test always held: 100 inputs are enough for all of them
    assert pairs_of(played(schedule)) == pairs_of(first)
