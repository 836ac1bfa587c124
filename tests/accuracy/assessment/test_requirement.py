"""Requirements: passed by the lower bound, failed by the upper one, else undecided."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from fieldcheck.accuracy.assessment.requirement import decide, too_early
from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.interval import Interval
from fieldcheck.core.requirement import Requirement, look_error, worst


def estimate(value: float, low: float, high: float) -> Estimate:
    return Estimate(
        metric="accuracy",
        value=value,
        interval=Interval(low, high),
        standard_error=0.01,
        labels=100,
        failures=5,
        population=10_000,
        task="classification",
        design="srs",
        design_title="Simple random sampling",
        paper="",
        auxiliary="none",
        budget=100,
        seed=1,
        mean_loss=1 - value,
    )


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (0.95, 0.99, "passed"),
        (0.9499, 0.99, "undecided"),
        (0.90, 0.95, "undecided"),
        (0.90, 0.9499, "failed"),
        (1 - 0.05, 1.0, "passed"),
    ],
)
def test_an_accuracy_is_held_against_the_bounds(low: float, high: float, outcome: str) -> None:
    assert decide(estimate((low + high) / 2, low, high), Requirement("accuracy", 0.95)).word == outcome


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [(1.0, 2.0, "passed"), (1.0, 2.1, "undecided"), (2.1, 3.0, "failed"), (2.0, 3.0, "undecided")],
)
def test_an_error_is_held_the_other_way_round(low: float, high: float, outcome: str) -> None:
    regression = replace(
        estimate(0.0, 1 - high**2, 1 - low**2), task="regression", metric="1-mse", mean_loss=((low + high) / 2) ** 2
    )
    decision = decide(regression, Requirement("rmse", 2.0))
    assert decision.word == outcome
    assert decision.interval is not None
    assert math.isclose(decision.interval.low, low)


def test_more_labels_shrink_the_interval_with_the_root_of_the_information() -> None:
    """Twice too wide on the side that matters: four times the information n / (1 - n/N)."""
    decision = decide(estimate(0.97, 0.93, 0.99), Requirement("accuracy", 0.95))
    information = 4 * 100 / (1 - 100 / 10_000)
    assert decision.more == math.ceil(information / (1 + information / 10_000)) - 100
    assert "290 more labels" in decision.sentence() or "300 more labels" in decision.sentence()


def test_an_estimate_on_the_requirement_takes_the_whole_pool() -> None:
    decision = decide(estimate(0.95, 0.93, 0.97), Requirement("accuracy", 0.95))
    assert decision.more == 9_900
    assert "all 10,000 labels" in decision.sentence()


@pytest.mark.parametrize(("budget", "over"), [(100, True), (388, True), (389, False), (10_000, False)])
def test_more_labels_than_the_budget_leaves_are_named(budget: int, over: bool) -> None:
    """289 more decide, after the 100 that are there."""
    decision = decide(replace(estimate(0.97, 0.93, 0.99), budget=budget), Requirement("accuracy", 0.95))
    assert decision.more == 289
    assert decision.over_budget is over
    said = "is spent" if budget == 100 else "leaves fewer"
    assert (f"the budget of {budget:,} {said}" in decision.sentence()) is over
    assert decision.to_dict()["over_budget"] is over


def test_what_is_decided_needs_no_budget() -> None:
    assert not decide(replace(estimate(0.97, 0.96, 0.98), budget=50), Requirement("accuracy", 0.95)).over_budget


def test_one_label_is_one_label() -> None:
    found = replace(estimate(0.97, 0.93, 0.99), labels=1, failures=1)
    assert "from 1 label;" in decide(found, Requirement("accuracy", 0.95)).sentence()
    assert "from 1 label that exposed 1 failure." in found.sentence()


NARROWER, PROTECTED = Interval(0.96, 0.98), Interval(0.94, 0.98, basis="protected")


@pytest.mark.parametrize(("interval", "beside"), [(NARROWER, PROTECTED), (PROTECTED, NARROWER)])
def test_the_protected_interval_decides(interval: Interval, beside: Interval) -> None:
    """Whichever of the two comes first: what is called protected is never the narrower one."""
    found = replace(estimate(0.97, 0.96, 0.98), interval=interval, beside=beside)
    assert found.protected == PROTECTED
    assert decide(found, Requirement("accuracy", 0.95)).word == "undecided"
    assert decide(found, Requirement("accuracy", 0.95)).interval == PROTECTED


def test_all_looks_together_stay_under_the_error_that_is_allowed() -> None:
    errors = [look_error(number) for number in range(60)]
    assert errors[:3] == pytest.approx([0.04, 0.008, 0.0016])
    assert sum(errors) == pytest.approx(0.05)


def test_an_interval_that_is_not_trusted_decides_nothing() -> None:
    found = replace(estimate(0.99, 0.98, 1.0), interval=Interval(0.98, 1.0, trusted=False, note="uneven"))
    decision = decide(found, Requirement("accuracy", 0.95))
    assert decision.word == "undecided"
    assert "uneven" in decision.sentence()


def test_too_few_labels_decide_nothing() -> None:
    decision = too_early(Requirement("accuracy", 0.95), "one label")
    assert (decision.word, decision.to_dict()["estimate"]) == ("undecided", None)
    assert "one label" in decision.sentence()


@pytest.mark.parametrize(("metric", "bound"), [("accuracy", 95), ("accuracy", 0), ("rmse", 0), ("rmse", math.nan)])
def test_requirements_without_sense_are_refused(metric: str, bound: float) -> None:
    with pytest.raises(FieldcheckError):
        Requirement(metric, bound)


def test_one_rounding_for_both_questions() -> None:
    """.1 * 9 is a hair below .9: what meets a requirement in one question meets it in the other."""
    low = 1 - 0.1 - 2e-16
    assert low < 0.9
    words = {Requirement(metric, 0.9).decide(Interval(low, 0.95)).word for metric in ("accuracy", "robustness")}
    assert words == {"passed"}


def test_one_set_of_words_and_codes() -> None:
    decisions = [Requirement("accuracy", bound).decide(Interval(0.8, 0.9)) for bound in (0.7, 0.85, 0.95)]
    assert [one.word for one in decisions] == ["passed", "undecided", "failed"]
    assert [one.exit_code for one in decisions] == [0, 2, 1]
    assert [one.to_dict()["decision"] for one in decisions] == [one.word for one in decisions]
    assert [worst(decisions[:at]) for at in (1, 2, 3)] == ["passed", "undecided", "failed"]
