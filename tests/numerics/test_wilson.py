"""Bounds of estimates with a variance of their own."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldcheck.numerics.intervals.wilson import critical, effective_wilson, log_bounds, normal_quantile


@pytest.mark.parametrize(("failures", "labels"), [(1, 50), (3, 50), (25, 50), (49, 50), (1, 10), (8, 263)])
def test_the_variance_of_a_simple_random_sample_gives_wilsons_interval(failures: int, labels: int) -> None:
    """Against scipy's."""
    from scipy.stats import binomtest

    rate = failures / labels
    found = effective_wilson(rate, rate * (1 - rate) / labels, labels, z=normal_quantile(0.95))
    wanted = binomtest(failures, labels).proportion_ci(0.95, method="wilson")
    assert found == pytest.approx((wanted.low, wanted.high), abs=1e-12)


RATES = st.floats(-0.2, 1.2) | st.sampled_from([0.0, 1.0, 1e-12])
VARIANCES = st.floats(0, 1) | st.sampled_from([0.0, 1e-300, 1e-12])


@given(rate=RATES, variance=VARIANCES, labels=st.integers(2, 10_000), level=st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_bounds_hold_the_clipped_rate(rate: float, variance: float, labels: int, level: float) -> None:
    low, high = effective_wilson(rate, variance, labels, z=critical(labels, level))
    assert 0 <= low <= min(max(rate, 0), 1) <= high <= 1
    assert low < high


@given(rate=RATES, variances=st.tuples(VARIANCES, VARIANCES), labels=st.integers(2, 10_000))
def test_more_variance_is_no_narrower(rate: float, variances: tuple[float, float], labels: int) -> None:
    less, more = sorted(variances)
    narrow, wide = (effective_wilson(rate, v, labels, z=2.0) for v in (less, more))
    assert wide[0] <= narrow[0] + 1e-12
    assert narrow[1] <= wide[1] + 1e-12


def test_what_a_label_may_count_for() -> None:
    """At least a quarter, at most fifty of a simple random sample's, whatever the variance says."""
    for variance, size in ((1e-9, 50 * 40), (1.0, 40 / 4)):
        wanted = effective_wilson(0.3, 0.21 / size, round(size), z=2.0)
        assert effective_wilson(0.3, variance, 40, z=2.0) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(("labels", "quantile"), [(36, 2.042), (126, 1.980), (9, 3.182), (2, 3.182), (10, 2.776)])
def test_quantiles_of_the_table(labels: int, quantile: float) -> None:
    """Student's t after six coefficients, with never fewer than three degrees of freedom (any printed table)."""
    assert critical(labels, 0.95) == pytest.approx(quantile, abs=5e-4)


@given(mean=st.floats(1e-9, 1e9), share=st.floats(0, 3))
def test_log_bounds_are_symmetric_factors(mean: float, share: float) -> None:
    low, high = log_bounds(mean, (share * mean) ** 2, z=2.0)
    assert low <= mean * (1 + 1e-12)
    assert mean <= high * (1 + 1e-12)
    assert low * high == pytest.approx(mean**2, rel=1e-9)
    assert math.log(high / mean) == pytest.approx(2 * share, abs=1e-9)


def test_log_bounds_at_the_edges() -> None:
    assert log_bounds(0.0, 4.0, z=2.0) == (0.0, 4.0)
    assert log_bounds(-1.0, 0.0, z=2.0) == (0.0, 0.0)
    assert all(map(math.isfinite, log_bounds(1e-9, 1e9, z=2.0)))
