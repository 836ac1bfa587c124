"""Plans: ranges, never one number; more labels never widen them; what is asked for is what is answered."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fieldcheck as fc
from fieldcheck.accuracy.assessment.known import Field
from fieldcheck.accuracy.assessment.planning.plan import LADDER, plan
from fieldcheck.accuracy.assessment.simulate import play
from fieldcheck.accuracy.designs.forecast import Scenario
from fieldcheck.core.pool.frame import Frame
from fieldcheck.numerics.intervals.exact import hypergeometric

RNG = np.random.default_rng(4)
SIZE = 4_000
CONFIDENCE = RNG.beta(6, 1, SIZE)
FAILED = RNG.random(SIZE) > CONFIDENCE
POOL = fc.from_arrays(y_pred=["a"] * SIZE, outcome=np.where(FAILED, "Fail", "Pass"), confidence=CONFIDENCE)
DESIGNS = ("srs", "ssrs", "waves")


def test_every_forecast_is_a_range_around_its_number() -> None:
    for course in plan(POOL, budget=300).courses:
        assert [one.labels for one in course.forecasts] == sorted({*LADDER, 300})
        for one in course.forecasts:
            assert 0 < one.low < one.half_width < one.high < 0.5


def test_confidence_may_be_worth_nothing_before_labels_and_waves_no_worse_than_random() -> None:
    """The high end of waves is at most 1.1 of that of a random sample, and not far below it."""
    random, _, waves = plan(POOL).courses
    for one, two in zip(random.forecasts, waves.forecasts, strict=True):
        assert 0.8 * one.high <= two.high <= 1.1 * one.high


def test_after_the_first_wave_the_range_is_at_most_fourfold() -> None:
    labelled = play(Field.of(POOL, auxiliary=["confidence"]), fc.designs.Waves(), budget=40, seed=0)
    for one in plan(POOL, designs=["waves"], labelled=labelled).courses[0].forecasts:
        assert one.low <= one.half_width <= one.high <= 4.001 * one.low


@pytest.mark.parametrize("design", DESIGNS)
def test_more_labels_narrow_the_interval(design: str) -> None:
    forecasts = plan(POOL, designs=[design]).courses[0].forecasts
    for name in ("low", "half_width", "high"):
        values = [getattr(one, name) for one in forecasts]
        assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("design", DESIGNS)
@given(target=st.floats(0.004, 0.2))
@settings(max_examples=2, deadline=None)
def test_budget_and_half_width_are_inverse(design: str, target: float) -> None:
    """The labels said to be needed reach the half-width, and one in five fewer do not."""
    needed = plan(POOL, half_width=target, designs=[design]).courses[0].needed
    assert needed is not None
    middle, low, high = needed
    assert 20 <= low <= middle <= high <= SIZE
    assert _at(design, middle) <= target
    if middle > 50:
        assert _at(design, int(0.8 * middle)) > target


def _at(design: str, budget: int) -> float:
    found = plan(POOL, budget=budget, designs=[design]).courses[0].forecasts
    return next(one.half_width for one in found if one.labels == budget)


def test_simple_random_sampling_is_the_exact_interval_at_the_failures_found() -> None:
    expected = np.full(SIZE, 0.1)
    for luck, failures in ((0.5, 20), (0.93, 27)):
        scenario = Scenario(expected, expected * 0.9, "classification", SIZE, luck)
        low, high = hypergeometric(failures, 200, SIZE, level=0.95)
        found = fc.designs.Srs().half_width(Frame(SIZE), scenario, labels=200, level=0.95)
        assert found == pytest.approx((high - low) / 2, abs=1e-9)


def test_a_part_of_the_pool_stands_for_it() -> None:
    """The same world, looked at whole and by every fourth item."""
    risk = np.sort(1 - CONFIDENCE)
    wide, narrow = (
        fc.designs.Waves().half_width(
            Frame(len(part)), Scenario(part, part * (1 - part), "classification", SIZE), labels=200, level=0.95
        )
        for part in (risk, risk[2::4])
    )
    assert narrow == pytest.approx(wide, rel=0.02)


def test_techniques_that_lack_a_variable_are_left_out_and_this_is_said() -> None:
    found = plan(fc.from_arrays(y_pred=["a"] * SIZE, task="classification"), budget=100)
    assert [course.design for course in found.courses] == ["srs", "waves"]
    assert any("ssrs is left out" in text for text in found.notes)


@pytest.mark.parametrize("design", DESIGNS)
def test_labelling_everything_leaves_no_width(design: str) -> None:
    assert _at(design, SIZE) == pytest.approx(0.0, abs=1e-12)


def test_labels_narrow_the_range_and_move_it_to_what_they_show() -> None:
    """Confidence is believed by half before any label, and so this model to fail twice as often as it does."""
    labelled = play(Field.of(POOL, auxiliary=["confidence"]), fc.designs.Waves(), budget=100, seed=0)
    before, after = (plan(POOL, designs=["waves"], labelled=known) for known in (None, labelled))
    assert (before.labels, after.labels) == (0, 100)
    assert abs(after.rates[1] - FAILED.mean()) < abs(before.rates[1] - FAILED.mean())
    assert after.rates[2] - after.rates[0] < before.rates[2] - before.rates[0]


def test_labels_of_any_technique_will_do() -> None:
    labelled = play(Field.of(POOL), fc.designs.Srs(), budget=100, seed=0)
    assert plan(POOL, half_width=0.02, labelled=labelled).labels == 100


def regression() -> fc.Pool:
    predicted, spread = RNG.normal(0, 2, 1000), RNG.random(1000)
    return fc.from_arrays(y_pred=predicted, y_true=predicted + RNG.normal(0, 0.2 + spread), auxiliary={"lsa": spread})


def test_regression_needs_labels_and_is_relative() -> None:
    pool = regression()
    with pytest.raises(fc.FieldcheckError, match="without labels"):
        plan(pool, budget=100)
    labelled = play(Field.of(pool, auxiliary=["lsa"]), fc.designs.Waves(), budget=100, seed=0)
    found = plan(pool, half_width=0.1, labelled=labelled, designs=["srs", "ssrs:auxiliary=lsa", "waves"])
    assert found.relative
    assert found.rates == ()
    assert all("% of the error" in line for line in found.sentences())
    assert plan(pool, half_width=0.7, labelled=labelled, designs=["waves"]).labels == 100
    with pytest.raises(fc.BudgetError, match="half-width of 0"):
        plan(pool, half_width=0.0, labelled=labelled)
    millionth = fc.Labelled(labelled.sample, labelled.losses / 1e6, labelled.failed, "regression")
    other = plan(pool, half_width=0.1, labelled=millionth, designs=["srs", "ssrs:auxiliary=lsa", "waves"])
    for one, two in zip(found.courses, other.courses, strict=True):
        assert one.needed == pytest.approx(two.needed, rel=1e-3)


def test_what_cannot_be_planned_is_refused() -> None:
    with pytest.raises(fc.BudgetError, match="at once"):
        plan(POOL, budget=100, half_width=0.1)
    with pytest.raises(fc.BudgetError):
        plan(POOL, half_width=0.7)
    with pytest.raises(fc.BudgetError):
        plan(POOL, budget=SIZE + 1)
    with pytest.raises(fc.DesignError, match="gbs"):
        plan(POOL, budget=100, designs=["gbs"])


def test_every_face_shows_the_same() -> None:
    found = plan(POOL, half_width=0.02)
    assert all(line in str(found) for line in found.sentences())
    assert found.to_dict()["sentences"] == found.sentences()
    assert [line.label for line in found.chart().lines] == ["srs", "ssrs", "waves"]
    assert all("(" in str(cell) for row in found.table().rows for cell in row[1:])
    assert any("of the items fail" in text for text in found.notes)


def test_waves_is_forecast_with_the_variables_that_it_names() -> None:
    """All of them are the default; one that tells nothing is as good as none, and assumes the same failure rate."""
    noise = np.random.default_rng(5).random(SIZE)
    pool = replace(POOL, columns={**POOL.columns, "noise": noise})
    specs = ["waves", "waves:auxiliary=confidence", "waves:auxiliary=noise", "waves:auxiliary=none"]
    courses = plan(pool, budget=200, designs=specs).courses
    assert [one.design for one in courses[1:3]] == ["waves with confidence", "waves with noise"]
    usual, own, noisy, bare = ([at.half_width for at in one.forecasts] for one in courses)
    assert usual == pytest.approx(own, rel=1e-6)
    assert noisy == pytest.approx(bare, rel=0.15)
    assert own[-1] < noisy[-1]


def test_the_range_holds_on_a_published_subject(published_data: Path) -> None:
    """Golden: the mean half-width of ten campaigns of waves lies in the range, at two budgets."""
    pool = fc.load(published_data / "subjects" / "model_D.csv")
    field = Field.of(pool, auxiliary=["confidence", "dsa", "lsa"])
    found = plan(pool, designs=["waves"])
    for budget in (100, 400):
        one = next(one for one in found.courses[0].forecasts if one.labels == budget)
        runs = [play(field, fc.designs.Waves(), budget=budget, seed=seed) for seed in range(10)]
        real = np.mean([fc.estimators.estimate(run).interval.width / 2 for run in runs])
        assert one.low <= real <= one.high
