"""Closure, independence and the published forest: against what they are by definition."""

from __future__ import annotations

import numpy as np
import pytest

from fieldcheck.tomography.surrogates import Auto, Closure, Forest, Independence
from fieldcheck.tomography.surrogates.base import Evidence
from fieldcheck.tomography.surrogates.closure import change
from fieldcheck.tomography.surrogates.counts import Counts, held_out, weighted_rows
from fieldcheck.tomography.surrogates.independence import dependent_pairs
from fieldcheck.tomography.surrogates.intervals import anytime_interval, measured_interval
from fieldcheck.tomography.surrogates.low_orders import LowOrders

from .subjects import exact, space

BITS = space(1, 1, 1)
"""Tests 0 to 7: the bits of the number are the severities."""

RATES = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.45, 0.4, 0.3])
LOW = np.arange(7)


def low_orders(evidence: Evidence) -> LowOrders:
    return LowOrders.of(Counts.of(evidence))


def test_low_orders_are_read_as_measured() -> None:
    low = low_orders(exact(BITS, RATES, LOW))
    assert low.base == 0.9
    assert [table.tolist() for table in low.singles] == [[0.9, 0.5], [0.9, 0.7], [0.9, 0.8]]
    assert low.pairs[0, 1].tolist() == [[0.9, 0.7], [0.5, 0.4]]
    assert low.pairs[1, 2].tolist() == [[0.9, 0.8], [0.7, 0.6]]
    assert low.inputs == 1000


@pytest.mark.parametrize("guess", [0.0, 0.1])
def test_the_closure_of_three(guess: float) -> None:
    above = (RATES - guess) / (1 - guess)
    expected = above[3] * above[5] * above[6] / (above[1] * above[2] * above[4]) * above[0]
    predict = Closure().learn(Counts.of(exact(BITS, RATES, LOW, guess=guess)), seed=0)
    assert predict(np.array([7]))[0] == pytest.approx(guess + (1 - guess) * expected)
    assert predict(LOW) == pytest.approx(RATES[:7])


def test_the_closure_is_never_above_its_lowest_pair() -> None:
    rates = np.array([0.9, 0.5, 0.5, 0.49, 0.5, 0.49, 0.48, 0.0])
    predict = Closure().learn(Counts.of(exact(BITS, rates, LOW)), seed=0)
    assert predict(np.array([7]))[0] == 0.48


def test_the_closure_is_exact_where_three_do_not_interact() -> None:
    where = space(2, 2, 2, 2)
    severities = where.severities(np.arange(where.size))
    logs = -0.1 * severities.sum(axis=1)
    for a in range(4):
        for b in range(a):
            logs -= 0.05 * severities[:, a] * severities[:, b]
    low = np.flatnonzero(where.orders(np.arange(where.size)) <= 2)
    predict = Closure().learn(Counts.of(exact(where, np.exp(logs), low, inputs=100_000)), seed=0)
    # Rates are rounded to one input of 100,000; up to ten of them enter, the smallest being .5.
    assert predict(np.arange(where.size)) == pytest.approx(np.exp(logs), abs=2e-4)


def test_the_closure_doubts_what_low_orders_cannot_show() -> None:
    """Closure .9 · .6 · .45 · .4 / (.8 · .7 · .5), product .5 · .7 · .8 / .9²: a quarter of the gap."""
    low = low_orders(exact(BITS, RATES, LOW))
    found = change(BITS, low, np.arange(8), guess=0.0)
    assert found[7] == pytest.approx(abs(0.9 * 0.6 * 0.45 * 0.4 / (0.8 * 0.7 * 0.5) - 0.5 * 0.7 * 0.8 / 0.9**2))
    assert found[:7].tolist() == [0.0] * 7
    _, errors = Closure().fit(exact(BITS, RATES, LOW), seed=0).predict(np.array([7]))
    assert errors[0] > found[7] / 4


def test_independent_perturbations_are_a_product() -> None:
    shares = np.array([5 / 9, 7 / 9, 8 / 9])
    severities = BITS.severities(np.arange(8))
    rates = 0.9 * np.prod(np.where(severities > 0, shares, 1.0), axis=1)
    evidence = exact(BITS, rates, LOW)
    assert dependent_pairs(low_orders(evidence), 0.05) == []
    assert Independence().learn(Counts.of(evidence), seed=0)(np.array([7]))[0] == pytest.approx(rates[7], abs=3e-3)


def test_a_dependent_pair_enters_as_measured() -> None:
    rates = np.array([0.9, 0.5, 0.8, 0.44, 0.7, 0.39, 0.7, 0.0])  # the first two fail on the same inputs
    evidence = exact(BITS, rates, LOW)
    assert dependent_pairs(low_orders(evidence), 0.05) == [(0, 1)]
    found = Independence().learn(Counts.of(evidence), seed=0)(np.array([7]))[0]
    assert found == pytest.approx(0.7 * 0.5 / 0.9)
    assert Independence(level=0).learn(Counts.of(evidence), seed=0)(np.array([7]))[0] == pytest.approx(
        0.7 * 0.8 * 0.5 / 0.9**2
    )


def test_the_forest_says_the_rate_of_a_measured_test() -> None:
    fitted = Forest().fit(exact(BITS, RATES, LOW), seed=0)
    assert fitted.predict(LOW)[0] == pytest.approx(RATES[:7])
    assert np.min(np.abs(fitted.predict(np.array([7]))[0] - RATES[:7])) < 1e-9
    assert "equal" in fitted.notes[0]


def test_a_hundred_trees_are_one() -> None:
    counts = Counts.of(exact(BITS, RATES, LOW))
    every = np.arange(8)
    one, many = Forest(trees=1).learn(counts, seed=0)(every), Forest(trees=100).learn(counts, seed=0)(every)
    assert one[:7] == pytest.approx(many[:7])


def test_counts_are_the_same_as_repeated_rows() -> None:
    severities, outcomes, weights = weighted_rows(Counts.of(exact(BITS, RATES, LOW, inputs=10)))
    assert weights.sum() == 70
    assert len(severities) == 14
    assert weights[outcomes == 1.0].tolist() == [9, 8, 7, 6, 5, 4, 4]


def test_held_out_tests_are_of_order_two_and_more() -> None:
    where = space(5, 5, 5)
    counts = Counts.of(exact(where, np.full(where.size, 0.5), np.arange(where.size), inputs=2))
    left_out = held_out(counts, seed=1)
    assert 20 < left_out.sum() < 70  # 200 tests of order two and more, a fifth each
    assert counts.orders[left_out].min() == 2


def test_auto_extrapolates_with_the_closure() -> None:
    fitted = Auto().fit(exact(BITS, RATES, LOW), seed=0)
    assert "closure" in fitted.notes[0]
    expected = Closure().fit(exact(BITS, RATES, LOW), seed=0).predict(np.arange(8))
    assert fitted.predict(np.arange(8))[0] == pytest.approx(expected[0])


@pytest.mark.parametrize("levels", [(1,), (5,), (2, 2)])
def test_auto_takes_the_regression_in_spaces_too_small_to_try_others(levels: tuple[int, ...]) -> None:
    where = space(*levels)
    rates = np.linspace(0.9, 0.3, where.size)
    fitted = Auto().fit(exact(where, rates, np.arange(where.size), inputs=200), seed=0)
    assert "logistic" in fitted.notes[0]
    # Three standard errors of 200 outcomes, a wide guard: smoothing does not make it worse.
    assert fitted.predict(np.arange(where.size))[0] == pytest.approx(rates, abs=3 * np.sqrt(0.25 / 200))


def test_the_interval_of_a_test_that_saw_everything_is_a_point() -> None:
    assert measured_interval(30, 100, population=100) == (0.3, 0.3)
    assert anytime_interval(30, 100, population=100) == (0.3, 0.3)


def test_wilson_without_a_correction() -> None:
    """Newcombe, Statistics in Medicine 1998, table I: 81 of 263 gives .2553 to .3662."""
    assert measured_interval(81, 263, population=10**9) == pytest.approx((0.2553, 0.3662), abs=5e-5)
