"""Statistical assertions: they pass what is right, notice what is wrong, and know their own rate of false alarms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from fieldcheck.core.rng import stream
from fieldcheck.numerics.sampling.draws import uniforms
from fieldcheck.testing import assert_covers, assert_frequencies, assert_unbiased


def alarms(check, trials: int) -> int:
    count = 0
    for seed in range(trials):
        try:
            check(seed)
        except AssertionError:
            count += 1
    return count


def test_unbiased_errs_as_often_as_it_says() -> None:
    """2,000 trials with an alarm of 5 %: the count is binomial, its limits hold but for 1e-6 of the time."""
    count = alarms(lambda seed: assert_unbiased(uniforms(stream(seed, "u"), 50), 0.5, alarm=0.05), 2000)
    low, high = binom.ppf([5e-7, 1 - 5e-7], 2000, 0.05)
    assert low <= count <= high


def test_unbiased_notices_a_bias_of_six_standard_errors() -> None:
    values = uniforms(stream(1, "u"), 1000)
    with pytest.raises(AssertionError):
        assert_unbiased(values, values.mean() + 6 * values.std() / np.sqrt(1000))


def test_unbiased_with_constant_estimates() -> None:
    assert_unbiased([0.1 + 0.2] * 5, 0.3)
    with pytest.raises(AssertionError):
        assert_unbiased([0.3] * 5, 0.31)


def test_unbiased_refuses_what_is_not_a_number() -> None:
    with pytest.raises(AssertionError):
        assert_unbiased([0.1, np.nan], 0.1)


@pytest.mark.parametrize(("n", "least"), [(1000, 0.93), (50, 0.95), (2000, 0.5)])
def test_covers_has_the_exact_binomial_limit(n: int, least: float) -> None:
    limit = int(binom.ppf(1e-6, n, least))
    assert_covers(limit, n, least=least)
    with pytest.raises(AssertionError):
        assert_covers(limit - 1, n, least=least)


def test_frequencies_err_as_often_as_they_say() -> None:
    """With ten outcomes and 30 expected of each the chi-square limit is good enough to be within a factor of two."""

    def check(seed: int) -> None:
        counts = np.bincount((uniforms(stream(seed, "u"), 300) * 10).astype(int), minlength=10)
        assert_frequencies(counts, np.ones(10), alarm=0.05)

    count = alarms(check, 2000)
    assert binom.ppf(5e-7, 2000, 0.025) <= count <= binom.ppf(1 - 5e-7, 2000, 0.1)


def test_frequencies_notice() -> None:
    with pytest.raises(AssertionError, match="impossible"):
        assert_frequencies([5, 1], [1, 0])
    with pytest.raises(AssertionError):
        assert_frequencies([600, 400], [0.5, 0.5])


def test_rare_outcomes_are_counted_together() -> None:
    assert_frequencies([990, *[1] * 10], [0.99, *[0.001] * 10])
    with pytest.raises(AssertionError):
        assert_frequencies([900, *[10] * 10], [0.99, *[0.001] * 10])
