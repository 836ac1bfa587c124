"""Each estimator on numbers small enough to be worked out by hand, from the formulas of the literature."""

from __future__ import annotations

import numpy as np
import pytest

from fieldcheck.accuracy import estimators
from fieldcheck.core.draws import (
    EqualDraws,
    GroupDraws,
    PurposiveDraws,
    StepDraws,
    StratifiedDraws,
    WeightedDraws,
)
from fieldcheck.core.sample import Labelled, Sample

from ..said import of_all


def found(sample: Sample, losses, task="classification"):
    values = np.array(losses, dtype=float)
    return estimators.estimate(Labelled(sample, values, values > 0, task))


@pytest.mark.parametrize(("replacement", "variance"), [(True, 0.3 / 5), (False, 0.9 * 0.3 / 5)])
def test_mean(replacement: bool, variance: float) -> None:
    """Two failures of five, s² = 0.3; 5 of 50 items leave 90 %."""
    sample = Sample(50, np.arange(5), "mean", EqualDraws(replacement))
    result = found(sample, [1, 0, 0, 1, 0])
    assert (result.value, result.variance) == pytest.approx((0.4, variance))
    assert result.interval.kind == "exact"


def test_representative_is_the_mean_with_another_promise() -> None:
    sample = Sample(50, np.arange(5), "representative", PurposiveDraws())
    result = found(sample, [1, 0, 0, 1, 0])
    assert (result.value, result.variance) == pytest.approx((0.4, 0.054))
    assert (result.interval.kind, bool(result.interval.note)) == ("model-based", True)


def stratified(**more: bool) -> Sample:
    draws = StratifiedDraws(np.array([0, 0, 1, 1, 1, 1]), np.array([80, 20]), **more)
    return Sample(100, np.arange(6), "stratified", draws)


def test_stratified() -> None:
    """Means 0.5 and 0.25; s² = 0.5 and 0.25: 0.8·0.5 + 0.2·0.25, and 0.64·(1-2/80)·0.5/2 + 0.04·(1-4/20)·0.25/4."""
    result = found(stratified(), [1, 0, 1, 0, 0, 0])
    assert (result.value, result.variance) == pytest.approx((0.45, 0.64 * 0.975 * 0.25 + 0.04 * 0.8 * 0.0625))


def test_stratified_with_replacement_inside() -> None:
    result = found(stratified(replacement=True), [1, 0, 1, 0, 0, 0])
    assert result.variance == pytest.approx(0.64 * 0.25 + 0.04 * 0.0625)


def test_after_an_adaptive_choice_the_interval_says_so_and_is_wider() -> None:
    plain, adaptive = found(stratified(), [1, 0, 0, 0, 0, 0]), found(stratified(adaptive=True), [1, 0, 0, 0, 0, 0])
    assert "biased" in adaptive.interval.note
    assert not plain.interval.note
    assert adaptive.interval.high >= plain.interval.high


def test_a_stratum_with_one_label_borrows_the_variance_of_all() -> None:
    """The overall s² of 1, 0, 0 is 1/3."""
    sample = Sample(100, np.arange(3), "stratified", StratifiedDraws(np.array([0, 1, 1]), np.array([50, 50])))
    assert found(sample, [1, 0, 0]).variance == pytest.approx(0.25 * (1 - 1 / 50) / 3)


def test_hansen_hurwitz() -> None:
    """Terms y/(Nπ) = 0.5, 0, 2: mean 5/6, s² = 13/12, over three draws."""
    sample = Sample(10, np.arange(3), "hansen_hurwitz", WeightedDraws(np.array([0.2, 0.3, 0.05]), 0.01))
    result = found(sample, [1, 0, 1])
    assert (result.value, result.variance) == pytest.approx((5 / 6, 13 / 36))


def test_rao_hartley_cochran() -> None:
    """Two groups of two with q = 0.4, 0.6 and shares 0.5, 0.25, only the first fails: 1/(4·0.5) = 0.5.

    ΣG² = 8: factor (8-4)/(16-8) = 0.5; ratios y/(Nπ) = 1.25 and 0: 0.4·0.75² + 0.6·0.5² = 0.375.
    """
    draws = GroupDraws(np.array([0.5, 0.25]), np.array([0.4, 0.6]), np.array([2, 2]), least=0.1)
    sample = Sample(4, np.array([0, 2]), "rhc", draws)
    result = found(sample, [1, 0])
    assert (result.value, result.variance) == pytest.approx((0.5, 0.1875))


def test_adaptive() -> None:
    """N = 4: z = (1/0.25)/4 = 1, (1 + 0)/4 = 0.25, (1 + 1/0.5)/4 = 0.75; mean 2/3, s² = 7/48, over three steps."""
    sample = Sample(4, np.arange(3), "adaptive", StepDraws(np.array([0.25, 0.4, 0.5]), 0.8))
    result = found(sample, [1, 0, 1])
    assert (result.value, result.variance) == pytest.approx((2 / 3, 7 / 48 / 3))


@pytest.mark.parametrize("name", ["hansen_hurwitz", "rhc", "adaptive"])
def test_losses_without_a_limit_have_bounds_without_a_limit(name: str) -> None:
    """Squared errors around 50 are not cut off at 1, which only failure rates are."""
    n = 40
    draws = {
        "hansen_hurwitz": WeightedDraws(np.full(n, 0.01), 0.01),
        "rhc": GroupDraws(np.full(n, 0.4), np.full(n, 1 / n), np.full(n, 2.5), 0.01),
        "adaptive": StepDraws(1 / np.arange(100, 100 - n, -1), 0.8),
    }
    result = found(Sample(100, np.arange(n), name, draws[name]), 50 + np.arange(n) % 7, "regression")
    assert result.interval.low <= result.value <= result.interval.high
    assert result.value == pytest.approx(53, abs=1)


def test_what_a_simple_random_sample_says_about_every_item() -> None:
    result = found(Sample(50, np.arange(5), "mean", EqualDraws(replacement=False)), [1, 0, 0, 1, 0])
    assert result.items is not None
    for said, size in ((of_all(result.items), 50), (result.items.drawn, 5)):
        assert {name: (len(values), values[0]) for name, values in vars(said).items()} == {
            "expected": (size, 0.4),
            "spread": (size, pytest.approx(0.24)),
            "chance": (size, 0.1),
        }
    assert found(Sample(50, np.arange(5), "mean", EqualDraws(replacement=True)), [1, 0, 0, 1, 0]).items is None
