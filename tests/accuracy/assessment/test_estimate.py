"""``simulate`` and ``Field``: one simulated campaign, and what is said about it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fieldcheck as fc
from fieldcheck.accuracy.assessment.diagnostics import leak_warning
from fieldcheck.accuracy.assessment.known import Field
from fieldcheck.accuracy.assessment.simulate import repetition

RNG = np.random.default_rng(8)
CONFIDENCE = RNG.random(200)
FAILED = RNG.random(200) > CONFIDENCE
POOL = fc.from_arrays(
    y_pred=np.ones(200, dtype=int),
    y_true=np.where(FAILED, 0, 1),
    confidence=CONFIDENCE,
    auxiliary={"leak": FAILED.astype(float), "zero": np.where(FAILED, 0.0, 1.0)},
)
PREDICTED = RNG.normal(0, 2, 150)
TRUE = PREDICTED + RNG.normal(0, 1, 150)
PRICES = fc.from_arrays(y_pred=PREDICTED, y_true=TRUE, auxiliary={"spread": RNG.random(150)})


@pytest.mark.parametrize("spec", ["srs", "css", "sups", "rhc", "ssrs", "gbs", "2ups", "deepest"])
def test_simulate_and_assess_are_the_same_campaign(spec: str) -> None:
    design = fc.designs.registry.build(spec)
    field = Field.of(POOL, auxiliary=[] if spec == "srs" else ["confidence"])
    outcome, estimate = repetition(field, design, budget=50, seed=4), fc.simulate(POOL, design, budget=50, seed=4)
    assert (outcome.value, outcome.low, outcome.high) == (
        *(estimate.value, estimate.interval.low, estimate.interval.high),
    )
    assert (outcome.labels, outcome.exposed) == (estimate.labels, estimate.failures)
    assert set(outcome.items.tolist()) <= set(range(200))


def test_labelling_everything_gives_the_truth() -> None:
    estimate = fc.simulate(POOL, budget=200, seed=0)
    assert estimate.value == estimate.truth == pytest.approx(1 - FAILED.mean(), abs=1e-12)
    assert (estimate.interval.low, estimate.interval.high) == pytest.approx((estimate.value, estimate.value), abs=1e-12)


def test_a_design_may_be_an_object_or_words_and_a_pool_a_file(tmp_path: Path) -> None:
    fc.save(POOL, tmp_path / "pool.csv")
    by_words = fc.simulate(tmp_path / "pool.csv", "ssrs:k=4", auxiliary="Confidence", budget=40, seed=2)
    assert by_words.to_dict() == fc.simulate(POOL, fc.designs.Ssrs("confidence", k=4), budget=40, seed=2).to_dict()


@pytest.mark.parametrize(
    ("loss", "metric", "truth"),
    [
        ("squared", "1-mse", 1 - np.mean((TRUE - PREDICTED) ** 2)),
        ("absolute", "mae", np.mean(np.abs(TRUE - PREDICTED))),
    ],
)
def test_regression_truth(loss: str, metric: str, truth: float) -> None:
    estimate = fc.simulate(PRICES, budget=40, seed=0, loss=loss)  # type: ignore[arg-type]
    assert estimate.metric == metric
    assert estimate.truth == pytest.approx(truth, rel=1e-12)


@pytest.mark.parametrize("threshold", [None, 0.0, 0.5, 2.0])
def test_failures_of_a_regression_are_large_offsets(threshold: float | None) -> None:
    limit = np.std(PREDICTED) if threshold is None else threshold
    field = Field.of(PRICES, threshold=threshold)
    assert field.failed.tolist() == (np.abs(TRUE - PREDICTED) > limit).tolist()
    assert fc.simulate(PRICES, budget=150, threshold=threshold).failures == field.failed.sum()


def test_a_pool_without_truth_cannot_be_simulated_on() -> None:
    with pytest.raises(fc.PoolError, match="truth"):
        fc.simulate(fc.from_arrays(y_pred=["a", "b", "a"]), budget=2)


@pytest.mark.parametrize("budget", [-1, 0, 1, 201])
def test_budgets_that_cannot_be_spent(budget: int) -> None:
    with pytest.raises(fc.BudgetError):
        fc.simulate(POOL, budget=budget)
    with pytest.raises(fc.BudgetError):
        fc.sample(POOL, budget=budget, seed=0)


def test_few_labels_are_warned_about_except_for_srs() -> None:
    assert "only 15 labels" in " ".join(fc.simulate(POOL, "css", budget=15).warnings)
    assert fc.simulate(POOL, "srs", budget=15).warnings == ()


def test_an_estimate_outside_its_range_says_so() -> None:
    """Most failures have size 0: one that is drawn all the same weighs so much that the accuracy falls below 0."""
    found = [fc.simulate(POOL, fc.designs.Sups("zero", floor=0.01), budget=30, seed=seed) for seed in range(20)]
    outside = [one for one in found if not 0 <= one.value <= 1]
    assert outside
    assert all("cut to what is possible" in one.sentence() for one in outside)
    assert all(0 <= one.shown <= 1 for one in outside)


def test_a_variable_that_gives_away_the_outcome_is_called_out() -> None:
    items = np.arange(200)
    assert leak_warning(POOL, "leak", items=items, failed=FAILED)
    assert leak_warning(POOL, "confidence", items=items, failed=FAILED) == ()
    assert any("'leak'" in text for text in fc.simulate(POOL, "ssrs", auxiliary="leak", budget=40).warnings)


def test_few_failures_are_no_proof_of_a_leak() -> None:
    few = np.zeros(200, dtype=bool)
    few[:19] = True
    pool = fc.from_arrays(y_pred=np.ones(200, dtype=int), auxiliary={"chi": few.astype(float)})
    assert leak_warning(pool, "chi", items=np.arange(200), failed=few) == ()
