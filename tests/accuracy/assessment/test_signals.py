"""How well auxiliary variables separate: every number by hand, or against another program."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from fieldcheck.accuracy.assessment.signals import Separation, separation
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.pool import Pool
from fieldcheck.sources import load
from fieldcheck.sources.pools.arrays import from_arrays


def made(size: int = 2_000, seed: int = 0) -> Pool:
    """Confidence is honest: an item fails with the chance that is missing to 1."""
    rng = np.random.default_rng(seed)
    confidence = rng.beta(5, 1, size)
    failed = rng.random(size) > confidence
    return from_arrays(
        y_pred=np.zeros(size, int),
        y_true=failed.astype(int),
        confidence=confidence,
        auxiliary={"noise": rng.random(size), "leak": np.where(failed, 2.0, 1.0) + rng.random(size) / 9},
        name="made",
    )


def by_name(found: Separation) -> dict[str, object]:
    return {one.name: one for one in found.signals}


def test_auc_and_failures_among_the_riskiest() -> None:
    pool = made()
    found = by_name(separation(pool))
    for name in ("confidence", "noise"):
        chi = derived.values(pool, name)
        assert found[name].separation == pytest.approx(roc_auc_score(pool.failed, chi), abs=1e-12)
        assert found[name].riskiest == pool.failed[np.argsort(chi)[-200:]].sum()


def test_ratio_of_an_honest_confidence() -> None:
    """The best allocation has sd mean(sqrt(p(1 - p))); the fitted curve must come near it, and noise to 1."""
    pool = made(20_000)
    p = 1 - pool.confidence
    best = np.sqrt(p * (1 - p)).mean() / pool.failed.std()
    found = by_name(separation(pool, ["confidence", "noise"]))
    assert found["confidence"].ratio == pytest.approx(best, abs=0.02)
    assert found["noise"].ratio == pytest.approx(1.0, abs=0.01)
    assert found["together"].ratio <= found["confidence"].ratio + 0.01


def test_a_leak_is_warned_about_and_left_out_of_the_sum() -> None:
    found = separation(made())
    assert len(found.warnings) == 1
    assert "'leak'" in found.warnings[0]
    assert found.signals[0].name == "leak"
    assert by_name(found)["together"].separation < 0.95


def test_ties_at_the_cut_are_shared_out() -> None:
    """300 items of one value, 30 of them failing: 200 of them hold 20 failures."""
    failed = np.arange(300) < 30
    pool = from_arrays(
        y_pred=np.zeros(300, int), y_true=failed.astype(int), auxiliary={"flat": np.r_[np.ones(299), 0.5]}
    )
    found = by_name(separation(pool, ["flat"]))
    assert found["flat"].riskiest == pytest.approx(200 * 30 / 299)


def test_curves_are_means_of_groups_from_safe_to_risky() -> None:
    pool = made(400)
    found = by_name(separation(pool, ["confidence"]))["confidence"]
    order = np.argsort(derived.values(pool, "confidence"), kind="stable")
    np.testing.assert_allclose(found.observed, pool.failed[order].reshape(20, 20).mean(axis=1))
    assert list(found.fitted) == sorted(found.fitted)
    # A logistic regression with an intercept and a weak prior reproduces the overall rate.
    assert np.mean(found.fitted) == pytest.approx(pool.failed.mean(), abs=0.01)


def test_regression_by_rank() -> None:
    rng = np.random.default_rng(1)
    signal = rng.random(1_000)
    pool = from_arrays(
        y_pred=np.zeros(1_000), y_true=signal * rng.normal(size=1_000), auxiliary={"signal": signal}, task="regression"
    )
    found = separation(pool)
    assert found.failures is None
    one = by_name(found)["signal"]
    assert one.separation == pytest.approx(spearmanr(signal, pool.losses("absolute")).statistic, abs=1e-12)
    assert one.riskiest == pytest.approx(pool.losses()[np.argsort(signal)[-200:]].sum() / pool.losses().sum())
    assert one.ratio < 0.95


def test_a_model_that_never_fails_and_a_pool_without_truth() -> None:
    perfect = from_arrays(y_pred=[0, 1], y_true=[0, 1], confidence=[0.5, 0.9])
    assert np.isnan(separation(perfect).signals[0].separation)
    with pytest.raises(PoolError, match="truth"):
        separation(from_arrays(y_pred=[0, 1], confidence=[0.5, 0.9]))


def test_the_published_leak_is_found(published_data: Path) -> None:
    found = separation(load(published_data / "subjects" / "CN12_CIFAR10.csv"))
    assert any("'lsa'" in text for text in found.warnings)
