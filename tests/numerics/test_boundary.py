"""The group-sequential boundary against closed forms, golden values and simulated Brownian motion."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import binom, multivariate_normal

from fieldcheck.numerics.intervals.boundary import boundary, clock, spent

LOOKS = (40, 50, 62, 78, 98, 122, 152, 190, 238, 298, 372, 465, 581)
MANY = 10_000_000


def test_the_first_look_is_a_plain_quantile() -> None:
    assert boundary((40,), MANY)[0] == pytest.approx(-ndtri(0.05 * 40 / 240 / 2), abs=1e-12)


def test_two_looks_spend_what_the_bivariate_normal_says() -> None:
    first, second = boundary((40, 62), 500)
    correlation = math.sqrt(clock(40, 500) / clock(62, 500))
    both = multivariate_normal(cov=[[1, correlation], [correlation, 1]])
    inside = both.cdf([first, second], lower_limit=[-first, -second])
    assert 1 - inside == pytest.approx(spent(62), abs=1e-7)


def test_first_values_of_the_specification() -> None:
    assert boundary(LOOKS[:5], MANY) == pytest.approx((2.64, 2.85, 2.86, 2.83, 2.80), abs=0.006)


def test_a_constant_does_not_depend_on_later_looks() -> None:
    whole = boundary(LOOKS, 10_000)
    for count in (1, 4, 9):
        assert boundary(LOOKS[:count], 10_000) == pytest.approx(whole[:count], abs=1e-9)


def test_brownian_motion_crosses_as_often_as_is_spent() -> None:
    """Each count fails for a right boundary with a chance of 2e-6; it notices a total of .052 instead of .0372."""
    paths, population = 40_000, 5_000
    times = np.array([clock(labels, population) for labels in LOOKS])
    steps = np.random.default_rng(5).normal(size=(paths, len(LOOKS))) * np.sqrt(np.diff(times, prepend=0.0))
    outside = np.abs(np.cumsum(steps, axis=1)) >= np.array(boundary(LOOKS, population)) * np.sqrt(times)
    crossed = np.maximum.accumulate(outside, axis=1).sum(axis=0)
    for labels, count in zip(LOOKS, crossed, strict=True):
        low, high = binom.ppf([1e-6, 1 - 1e-6], paths, spent(labels))
        assert low <= count <= high


def test_looks_that_nearly_coincide_are_integrated_as_well() -> None:
    """A last wave of one label, cut off by the budget: hardly any error is left to spend, so its value is higher."""
    values = boundary((*LOOKS, LOOKS[-1] + 1), MANY)
    assert values[-2] < values[-1] < 4


@given(
    looks=st.lists(st.integers(2, 900), min_size=1, max_size=6, unique=True).map(sorted),
    alpha=st.sampled_from([0.01, 0.05, 0.2]),
)
@settings(max_examples=40, deadline=None)
def test_every_constant_is_at_least_the_quantile_of_all_that_is_spent(looks: list[int], alpha: float) -> None:
    """Since ``P(|Z_k| ≥ c_k)`` is at most the chance to have crossed by then."""
    for labels, value in zip(looks, boundary(tuple(looks), 1_000, alpha=alpha), strict=True):
        assert value >= -ndtri(spent(labels, alpha=alpha) / 2) - 1e-6
