"""The exact intervals: coverage by enumeration of every outcome, for every possible truth."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldcheck.numerics.intervals import clopper_pearson, hypergeometric

LEVELS = (0.8, 0.9, 0.95, 0.99)
ROUNDING = 1e-12


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("population", [1, 2, 5, 12, 25])
def test_hypergeometric_covers_every_pool(population: int, level: float) -> None:
    for n in range(1, population + 1):
        for total in range(population + 1):
            ways = [comb(total, x) * comb(population - total, n - x) for x in range(n + 1)]
            bounds = [hypergeometric(x, n, population, level=level) for x in range(n + 1)]
            hit = sum(w for w, (low, high) in zip(ways, bounds, strict=True) if low <= total / population <= high)
            assert hit / comb(population, n) >= level - ROUNDING


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_clopper_pearson_covers_every_rate(n: int, level: float) -> None:
    bounds = np.array([clopper_pearson(x, n, level=level) for x in range(n + 1)])
    for rate in np.concatenate([np.linspace(0, 1, 101), bounds.ravel()]):
        chance = np.array([comb(n, x) * rate**x * (1 - rate) ** (n - x) for x in range(n + 1)])
        # A rate that is itself a bound counts as covered from either side of the rounding.
        inside = (bounds[:, 0] <= rate + ROUNDING) & (rate - ROUNDING <= bounds[:, 1])
        assert chance[inside].sum() >= level - ROUNDING


def test_no_narrower_hypergeometric_interval_passes_the_same_tests() -> None:
    """Both bounds move in by one item and the test at half the error rejects: nothing is given away."""
    failures, n, population, level = 3, 20, 60, 0.95
    low, high = (round(bound * population) for bound in hypergeometric(failures, n, population, level=level))

    def at_most(x: int, total: int) -> float:
        return sum(comb(total, i) * comb(population - total, n - i) for i in range(x + 1)) / comb(population, n)

    assert 1 - at_most(failures - 1, low - 1) <= 0.025 < 1 - at_most(failures - 1, low)
    assert at_most(failures, high + 1) <= 0.025 < at_most(failures, high)


def test_clopper_pearson_agrees_with_scipy_and_the_closed_form() -> None:
    from scipy.stats import binomtest

    expected = binomtest(3, 50).proportion_ci(0.95, method="exact")
    assert clopper_pearson(3, 50, level=0.95) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert clopper_pearson(0, 50, level=0.95) == pytest.approx((0.0, 1 - 0.025 ** (1 / 50)), abs=1e-12)
    assert clopper_pearson(50, 50, level=0.95) == pytest.approx((0.025 ** (1 / 50), 1.0), abs=1e-12)


def test_hypergeometric_of_ten_million_items_is_nearly_clopper_pearson() -> None:
    found = hypergeometric(100, 800, 10_000_000, level=0.95)
    assert found == pytest.approx(clopper_pearson(100, 800, level=0.95), abs=2e-6)  # 800 items are 8e-5 of the pool


def test_hypergeometric_agrees_with_scipy_on_a_large_pool() -> None:
    from scipy.stats import hypergeom

    failures, n, population, tail = 7, 400, 33_500, 0.025
    low, high = (round(bound * population) for bound in hypergeometric(failures, n, population, level=1 - 2 * tail))
    assert hypergeom.sf(failures - 1, population, low, n) > tail >= hypergeom.sf(failures - 1, population, low - 1, n)
    assert hypergeom.cdf(failures, population, high, n) > tail >= hypergeom.cdf(failures, population, high + 1, n)


@given(st.data())
def test_hypergeometric_properties(data: st.DataObject) -> None:
    population = data.draw(st.integers(1, 5_000))
    n = data.draw(st.integers(1, population))
    failures = data.draw(st.integers(0, n))
    low, high = hypergeometric(failures, n, population, level=0.95)
    assert failures / population <= low <= failures / n + ROUNDING
    assert failures / n - ROUNDING <= high <= (population - n + failures) / population
    mirrored = hypergeometric(n - failures, n, population, level=0.95)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=ROUNDING)
    wider = hypergeometric(failures, n, population, level=0.99)
    assert wider[0] <= low
    assert wider[1] >= high
    if failures < n:
        more = hypergeometric(failures + 1, n, population, level=0.95)
        assert more[0] >= low
        assert more[1] >= high


@pytest.mark.parametrize("failures", [0, 4, 10])
def test_a_pool_that_is_all_labelled_is_a_point(failures: int) -> None:
    assert hypergeometric(failures, 10, 10, level=0.95) == (failures / 10, failures / 10)
