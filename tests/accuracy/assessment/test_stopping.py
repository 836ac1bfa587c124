"""Stop rules: pure functions of the labels so far, the same live and simulated."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import get_args

import numpy as np
import pytest

import fieldcheck as fc
from fieldcheck.accuracy.assessment.known import Field
from fieldcheck.accuracy.assessment.simulate import play, run_until, simulate_until
from fieldcheck.accuracy.assessment.stopping import Certify, HalfWidth, StopRule, open_ended
from fieldcheck.accuracy.designs import Srs, Ssrs, Waves
from fieldcheck.core.errors import BudgetError, DesignError, FieldcheckError
from fieldcheck.core.interval import Basis
from fieldcheck.numerics.intervals.sequence import sequence_bounds
from fieldcheck.numerics.sampling.inclusion import Objective
from fieldcheck.testing import assert_covers


def made_up(size: int, *, doubt: float, seed: int = 1) -> fc.Pool:
    """A pool whose model is about as often wrong as it says; larger ``doubt``, less accurate."""
    rng = np.random.default_rng(seed)
    confidence = 1 - doubt * rng.random(size) ** 3
    failed = rng.random(size) > confidence
    return fc.from_arrays(y_pred=np.ones(size, dtype=int), y_true=np.where(failed, 0, 1), confidence=confidence)


HARD = made_up(1_500, doubt=0.9)
EASY = made_up(1_500, doubt=0.04)
HARD_FIELD = Field.of(HARD, auxiliary=["confidence"])
EASY_FIELD = Field.of(EASY, auxiliary=["confidence"])
DESIGNS = [Waves(), Srs()]


def test_looks_are_after_whole_waves_whatever_the_labels_say() -> None:
    for field in (HARD_FIELD, EASY_FIELD):
        for seed in range(4):
            stop = run_until(field, Waves(), Certify(field.truth), max_labels=130, seed=seed)
            assert [look.labels for look in stop.looks] == [40, 50, 62, 78, 98, 122, 130][: len(stop.looks)]
            assert stop.decided or stop.labels == 130


@pytest.mark.parametrize("rule", [HalfWidth(0.05), Certify(0.85)], ids=str)
@pytest.mark.parametrize("design", [Srs(replace=True), Ssrs()], ids=lambda design: design.name)
def test_what_is_drawn_otherwise_is_refused(design: Srs | Ssrs, rule: StopRule) -> None:
    """Bounds for draws without replacement are too narrow with it: in pools of 120, two claims in five were wrong."""
    with pytest.raises(DesignError, match="srs without replacement"):
        run_until(HARD_FIELD, design, rule, max_labels=100, seed=0)


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_the_last_waves_towards_a_half_width_are_small(design: Waves | Srs) -> None:
    """A quarter more at most, five at least; and no wave takes more labels than the linear law surely needs."""
    stop = run_until(HARD_FIELD, design, HalfWidth(0.05), max_labels=1_000, seed=3)
    assert stop.decision == "passed"
    for before, after in pairwise(stop.looks):
        wave, needed = after.labels - before.labels, before.labels * (before.interval.width / 0.1 - 1)
        assert wave <= max(round(before.labels / 4), 1)
        assert wave <= max(5, needed + 1)
    assert stop.looks[-1].labels - stop.looks[-2].labels <= 10


def test_the_half_width_is_that_of_the_interval_shown() -> None:
    stop = run_until(HARD_FIELD, Waves(), HalfWidth(0.05), max_labels=1_000, seed=5)
    halves = [look.interval.width / 2 for look in stop.looks]
    assert stop.decision == "passed"
    assert halves[-1] <= 0.05 < min(halves[:-1])
    assert stop.estimate.interval == stop.looks[-1].interval
    assert stop.estimate.beside is not None


@pytest.mark.parametrize("objective", ["protected", "estimate"])
def test_only_the_protected_interval_counts(objective: Objective) -> None:
    stop = run_until(HARD_FIELD, Waves(objective=objective), HalfWidth(0.06), max_labels=1_000, seed=5)
    assert stop.estimate.interval.basis == "protected"
    assert ("floor=0.5" in stop.estimate.design) == (objective == "estimate")


def test_what_a_design_says_itself_is_kept() -> None:
    own = Waves(first=30, floor=0.1)
    assert open_ended(own, Certify(0.9), HARD_FIELD.frame) == own
    plain = Waves(first=30, objective="estimate")
    assert open_ended(plain, Certify(0.9), HARD_FIELD.frame) == replace(plain, floor=0.5)
    assert open_ended(Waves(first=30), Certify(0.9), HARD_FIELD.frame) == Waves(first=30)


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_far_thresholds_are_decided_and_near_ones_are_not(design: Waves | Srs) -> None:
    above = run_until(HARD_FIELD, design, Certify(HARD_FIELD.truth - 0.2), max_labels=400, seed=2)
    below = run_until(HARD_FIELD, design, Certify(HARD_FIELD.truth + 0.15), max_labels=400, seed=2)
    near = run_until(HARD_FIELD, design, Certify(HARD_FIELD.truth), max_labels=100, seed=2)
    assert (above.decision, below.decision, near.decision) == ("passed", "failed", "undecided")
    assert (above.more, below.more) == (0, 0)
    assert 100 < near.more <= 1_400


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
@pytest.mark.parametrize(("step", "decision"), [(0, "passed"), (1, "failed")])
def test_labelling_everything_always_decides(design: Waves | Srs, step: int, decision: str) -> None:
    """Also where the truth is on the threshold, or one item below it."""
    small = Field.of(made_up(150, doubt=0.9), auxiliary=["confidence"])
    stop = run_until(small, design, Certify(small.truth + step / 150), max_labels=150, seed=0)
    assert stop.decision == decision


def test_srs_goes_by_the_exact_sequence_at_every_label() -> None:
    stop = run_until(HARD_FIELD, Srs(), Certify(0.7), max_labels=300, seed=4)
    losses = play(HARD_FIELD, Srs(), budget=300, seed=4).losses
    n = np.arange(1, stop.labels + 1)
    low, high = sequence_bounds(np.cumsum(losses)[: len(n)], n, population=1_500, expected=0.3, level=0.95)
    assert [look.labels for look in stop.looks] == n.tolist()
    assert [look.interval.high for look in stop.looks] == pytest.approx(1 - low)
    assert [look.interval.low for look in stop.looks] == pytest.approx(1 - high)
    assert stop.estimate.interval.kind == "anytime"


def test_the_forecast_of_labels_holds_about() -> None:
    """What it says early is within a factor of three of what it takes, in the middle of 7 campaigns."""
    ratios = []
    for seed in range(7):
        early = run_until(HARD_FIELD, Waves(), HalfWidth(0.03), max_labels=122, seed=seed)
        late = run_until(HARD_FIELD, Waves(), HalfWidth(0.03), max_labels=1_500, seed=seed)
        ratios.append((early.labels + early.more) / late.labels)
    assert 1 / 3 < np.median(ratios) < 3


def test_few_campaigns_on_the_threshold_make_a_claim() -> None:
    """60 campaigns of five looks: fails once in a million if 5 % claim; notices 40 %."""
    small = Field.of(made_up(600, doubt=0.9), auxiliary=["confidence"])
    rule = Certify(small.truth)
    quiet = sum(not run_until(small, Waves(), rule, max_labels=98, seed=seed).decided for seed in range(60))
    assert_covers(quiet, 60, least=0.95)


def test_half_width_of_errors() -> None:
    rng = np.random.default_rng(7)
    said, spread = rng.normal(0, 2, 900), rng.random(900)
    pool = fc.from_arrays(y_pred=said, y_true=said + rng.normal(0, 1, 900) * spread, auxiliary={"lsa": spread})
    stop = simulate_until(pool, HalfWidth(0.06), seed=1)
    assert stop.decision == "passed"
    assert stop.estimate.metric == "1-mse"
    assert "points" not in stop.sentence()
    with pytest.raises(DesignError):
        simulate_until(pool, Certify(0.9), seed=1)


def test_words_say_what_it_rests_on() -> None:
    stop = simulate_until(EASY, Certify(0.98), max_labels=60, seed=0)
    assert stop.decision == "undecided"
    assert "more labels" in stop.sentence() or "nearly" in stop.sentence()
    assert {"decision", "truth", "looks", "error", "assumes", "wrong if", "about"} == dict(stop.facts()).keys()
    assert "this pool, not future data" in str(stop)
    record = json.loads(json.dumps(stop.to_dict()))
    assert record["decision"] == "undecided"
    assert record["threshold"] == 0.98
    assert record["looks"][-1]["labels"] == record["labels"] == 60


def test_assumptions_follow_from_what_an_interval_rests_on_and_not_from_how_it_is_called() -> None:
    stop = simulate_until(EASY, Certify(0.98), max_labels=60, seed=0)
    methods = ("hypergeometric sequence", "group-sequential", "Clopper-Pearson", "protected")

    def said(basis: Basis, method: str) -> tuple[str, ...]:
        interval = replace(stop.estimate.interval, basis=basis, method=method)
        facts = dict(replace(stop, estimate=replace(stop.estimate, interval=interval)).facts())
        return facts["assumes"], facts["wrong if"], facts["error"]

    found = {basis: {said(basis, method) for method in methods} for basis in get_args(Basis)}
    assert {len(words) for words in found.values()} == {1}
    assert len(set.union(*found.values())) == len(found)


def test_the_figure_shows_the_looks_and_the_threshold() -> None:
    chart = run_until(HARD_FIELD, Srs(), Certify(HARD_FIELD.truth), max_labels=1_200, seed=0).chart()
    assert chart.reference == HARD_FIELD.truth
    assert chart.lines[0].x[-1] == 1_200
    assert len(chart.lines[0].x) <= 400
    assert len(chart.lines[0].low) == len(chart.lines[0].x)


def test_what_cannot_be_is_refused() -> None:
    for wrong in (0.0, -0.1, float("nan")):
        with pytest.raises(FieldcheckError):
            HalfWidth(wrong)
    for wrong in (0.0, 1.0, float("nan")):
        with pytest.raises(FieldcheckError):
            Certify(wrong)
    for design in (Ssrs("confidence"), Srs(replace=True)):
        with pytest.raises(DesignError):
            simulate_until(HARD, HalfWidth(0.1), design)
    for most in (1, 1_501):
        with pytest.raises(BudgetError):
            simulate_until(HARD, HalfWidth(0.1), max_labels=most)
