"""What a run says at its end: what was spent, why the rest was not, how narrow the intervals became."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from fieldcheck.core.space import Outcomes
from fieldcheck.core.types import FloatArray
from fieldcheck.tomography.plans import Full, Ordered, Pairs, Spread
from fieldcheck.tomography.plans.base import Plan
from fieldcheck.tomography.runs.ending import Ending, ending
from fieldcheck.tomography.runs.schedule import Schedule
from fieldcheck.tomography.runs.stopping import NarrowInterval, Published, Sequence, Stopping
from fieldcheck.tomography.surrogates import measured_interval

from .test_schedule import SPACE, played


def ended(
    plan: Plan,
    *,
    inputs: int = 30,
    budget: int | None = None,
    rule: Stopping | None = None,
    bands: Callable[[Outcomes], FloatArray] | None = None,
) -> Ending:
    schedule = Schedule(SPACE, inputs, plan, budget=budget, rule=rule, seed=1, bands=bands)
    return ending(schedule, played(schedule))


@pytest.mark.parametrize(
    ("plan", "budget", "spent", "told"),
    [
        (Full(), 18 * 7, 18 * 7, ""),
        (Full(), 18 * 7 + 5, 18 * 7, "one more input takes 18"),
        (Pairs(), 14 * 7 + 13, 14 * 7, "one more input takes 14"),
        (Full(), 5_000, 18 * 30, "each of the 18 tests ran on all 30 inputs"),
        (Spread(), 5_000, 18 * 30, "each of the 18 tests ran on all 30 inputs"),
        (Spread(), 100, 100, ""),
        (Ordered(), 100, 90, "one more test on all 30 inputs"),
        (Ordered(), 1_000, 540, "each of the 18 tests ran on all 30 inputs"),
    ],
)
def test_what_was_not_spent_and_why(plan: Plan, budget: int, spent: int, told: str) -> None:
    found = ended(plan, budget=budget)
    assert (found.budget, found.spent) == (budget, spent)
    assert found.reached is None
    assert told in found.unspent
    assert bool(found.unspent) == bool(told)
    assert len(found.sentences()) == bool(told)
    if told:
        assert f"{budget - spent:,} of {budget:,} inferences were not spent" in found.sentences()[0]


def test_without_a_limit_nothing_is_left() -> None:
    assert ended(Full()).sentences() == []


def test_every_test_that_reached_its_half_width() -> None:
    """Test 0 always holds: 100 inputs. The others hold on half: 500 of 2,000 (see the test of the schedule)."""
    found = ended(Pairs(), inputs=2_000, rule=NarrowInterval(width=0.04, least=100), budget=100_000)
    assert found.reached is not None
    assert (found.reached.tests, found.reached.wider, found.reached.why) == (14, 0, "")
    halves = [np.ptp(measured_interval(held, seen, population=2_000)) / 2 for held, seen in ((100, 100), (250, 500))]
    assert found.reached.largest == pytest.approx(halves[1], abs=2e-4)  # 250 right answers of 500, give or take some
    assert found.reached.mean == pytest.approx((halves[0] + 13 * halves[1]) / 14, abs=2e-4)
    assert "content" in found.unspent
    assert "all 14 tests" in found.sentences()[0]


def test_a_budget_that_ended_before_the_half_width_was_reached() -> None:
    """Test 0 is content with 200 inputs; 300 for each of the others leave 100 inferences: seven or eight inputs."""
    found = ended(Pairs(), inputs=2_000, rule=NarrowInterval(width=0.02), budget=14 * 300)
    assert found.reached is not None
    assert (found.reached.tests, found.reached.wider) == (14, 13)
    assert found.reached.why == "the 4,200 inferences were spent"
    assert found.reached.largest == pytest.approx(np.ptp(measured_interval(153, 307, population=2_000)) / 2, rel=5e-3)
    assert "13 of 14 tests" in found.sentences()[0]


def test_a_confidence_sequence_has_a_half_width_too() -> None:
    found = ended(Pairs(), inputs=500, rule=Sequence(width=0.05))
    assert found.reached is not None
    assert found.reached.largest <= 0.05
    assert not found.reached.wider


def test_the_published_rule_waits_for_something_else() -> None:
    assert ended(Pairs(), inputs=500, rule=Published()).reached is None


def test_a_spread_plan_stops_by_the_average() -> None:
    def bands(seen: Outcomes) -> FloatArray:
        return np.asarray(np.array([0.5, 1.0, 1.5, 3.0]) / np.sqrt(len(seen)))

    found = ended(Spread(), inputs=5_000, rule=NarrowInterval(width=0.02), bands=bands)
    assert found.reached is not None
    assert found.reached.mean <= 0.02 < found.reached.largest
    assert found.reached.wider == 1
    assert "average" in found.reached.why


@pytest.mark.parametrize(
    ("inputs", "budget", "told"), [(5_000, 4_500, "the 4,500 inferences were spent"), (300, None, "on every input")]
)
def test_a_spread_plan_that_could_not_go_on(inputs: int, budget: int | None, told: str) -> None:
    found = ended(
        Spread(), inputs=inputs, budget=budget, rule=NarrowInterval(width=0.001), bands=lambda seen: np.ones(2)
    )
    assert found.reached is not None
    assert found.reached.wider == 2
    assert told in found.reached.why
