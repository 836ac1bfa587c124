"""Seeded campaigns: every technique but CES and GBS is right on average; false alarm 1e-6 per cell.

With 400 campaigns a bias over about 0.25 standard deviations (with 800: 0.18) of the estimate would be noticed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldcheck.testing import assert_unbiased

from .subjects import estimate_values, hard_pool, subject

UNBIASED = (
    "srs",
    "srs:replace=yes",
    "css",
    "sups",
    "rhc",
    "ssrs",
    "ssrs:k=80",
    "2ups",
    "deepest",
    "deepest:weights=selected",
)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("design", UNBIASED)
def test_hard_pool(design: str, task: str) -> None:
    frame, losses = hard_pool(task)
    values = estimate_values(frame, losses, design, auxiliary="confidence", budget=60, repeats=800)
    assert_unbiased(values, losses.mean())


def test_the_hard_pool_shows_what_a_floor_is_for() -> None:
    """Without a floor a third of the pool is never seen: what fails there is missing from the mean."""
    frame, losses = hard_pool()
    seen = frame.values("confidence") > 0
    values = estimate_values(frame, losses, "sups:floor=0", auxiliary="confidence", budget=60, repeats=800)
    with pytest.raises(AssertionError):
        assert_unbiased(values, losses.mean())
    # What it does estimate is the losses within reach; very small sizes make the estimate skewed, hence only a part.
    assert values.mean() < losses.mean()
    assert losses[~seen].sum() > 0.1 * losses.sum()


@pytest.mark.parametrize(
    ("name", "auxiliary"), [("model_D", "confidence"), ("model_D", "lsa"), ("dave_orig", "vae"), ("dave_orig", "lsa")]
)
@pytest.mark.parametrize("design", [d for d in UNBIASED if d not in ("ssrs:k=80", "srs:replace=yes")])
def test_published_subjects(published_data: Path, name: str, auxiliary: str, design: str) -> None:
    both = ("confidence", "lsa") if name == "model_D" else ("vae", "lsa")
    field = subject(published_data / "subjects" / f"{name}.csv", both)
    values = estimate_values(field.frame, field.losses, design, auxiliary=auxiliary, budget=100, repeats=400)
    assert_unbiased(values, field.losses.mean())


def test_gbs_is_slightly_biased(published_data: Path) -> None:
    """It leaves strata alone whose first labels happen to agree, and so sees too few failures: the sign is negative for
    the failure rate, accuracy is overestimated.

    Measured on model_D at n = 50 over 1,500 campaigns: -0.016 ± 0.002 with lsa, -0.005 ± 0.001 with confidence. Over
    1,000 campaigns the limits below are more than 7 standard errors away from that.
    """
    field = subject(published_data / "subjects" / "model_D.csv", ("confidence", "lsa"))
    values = estimate_values(field.frame, field.losses, "gbs", auxiliary="lsa", budget=50, repeats=1000)
    assert -0.04 < values.mean() - field.losses.mean() < 0
