"""Friedman, Dunn and Holm against published examples, exact small cases and their symmetries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from fieldcheck.bench.significance import average_ranks, dunn, friedman, holm

# Hollander & Wolfe (1973), p. 140: times to round first base, 22 players × 3 methods. The example of R's
# friedman.test, which prints chi-squared = 11.143, df = 2, p-value = 0.003805.
ROUNDING_TIMES = np.array(
    [
        *([5.40, 5.50, 5.55], [5.85, 5.70, 5.75], [5.20, 5.60, 5.50], [5.55, 5.50, 5.40], [5.90, 5.85, 5.70]),
        *([5.45, 5.55, 5.60], [5.40, 5.40, 5.35], [5.45, 5.50, 5.35], [5.25, 5.15, 5.00], [5.85, 5.80, 5.70]),
        *([5.25, 5.20, 5.10], [5.65, 5.55, 5.45], [5.60, 5.35, 5.45], [5.05, 5.00, 4.95], [5.50, 5.50, 5.40]),
        *([5.45, 5.55, 5.50], [5.55, 5.55, 5.35], [5.45, 5.50, 5.55], [5.50, 5.45, 5.25], [5.65, 5.60, 5.40]),
        *([5.70, 5.65, 5.55], [6.30, 6.30, 6.25]),
    ]
)

# Demšar (2006), JMLR 7:1-30, table 6: ranks of four variants of C4.5 on 14 data sets; means 3.143, 2.000,
# 2.893, 1.964; without correction for ties chi-squared = 9.28 and F = 3.69.
DEMSAR_RANKS = np.array(
    [
        *(
            [4, 3, 2, 1],
            [1, 2, 3, 4],
            [4, 1, 2, 3],
            [4, 1, 3, 2],
            [4, 2, 3, 1],
            [1, 2.5, 4, 2.5],
            [3, 2, 4, 1],
        ),
        *([2.5, 2.5, 4, 1], [4, 3, 2, 1], [2.5, 2.5, 2.5, 2.5], [4, 2.5, 1, 2.5], [3, 2, 4, 1], [4, 1, 2, 3]),
        [3, 1, 4, 2],
    ]
)

# New York air quality, May to September 1973 (R's `airquality`): ozone by month. R's kruskal.test prints
# chi-squared = 29.267, and dunn.test by A. Dinno the z below.
OZONE = {
    5: "41 36 12 18 28 23 19 8 7 16 11 14 18 14 34 6 30 11 1 11 4 32 23 45 115 37",
    6: "29 71 39 23 21 37 20 12 13",
    7: "135 49 32 64 40 77 97 97 85 10 27 7 48 35 61 79 63 16 80 108 20 52 82 50 64 59",
    8: "39 9 16 78 35 66 122 89 110 44 28 65 22 59 23 31 44 21 9 45 168 73 76 118 84 85",
    9: "96 78 73 91 47 32 20 23 21 24 44 21 28 9 13 46 18 13 24 16 13 23 36 7 14 30 14 18 20",
}
DUNN_Z = {
    (5, 6): -0.925158,
    (5, 7): -4.419470,
    (6, 7): -2.244208,
    (5, 8): -4.132813,
    (6, 8): -2.038635,
    (7, 8): 0.286657,
    (5, 9): -1.321202,
    (6, 9): 0.002538,
    (7, 9): 3.217199,
    (8, 9): 2.922827,
}

values_matrix = arrays(
    np.float64, st.tuples(st.integers(2, 8), st.integers(2, 5)), elements=st.integers(0, 5).map(float)
)


def test_friedman_of_hollander_and_wolfe():
    test = friedman(ROUNDING_TIMES)
    assert test.statistic == pytest.approx(11.143, abs=5e-4)
    assert test.p_value == pytest.approx(0.003805, abs=5e-7)


def test_friedman_of_demsar():
    test = friedman(DEMSAR_RANKS)
    assert test.mean_ranks == pytest.approx((3.143, 2.000, 2.893, 1.964), abs=5e-4)
    ties = 3 * (2**3 - 2) + (
        4**3 - 4
    )  # three pairs (iris, lung cancer, primary tumor) and one block of four (mushroom)
    correction = 1 - ties / (14 * 4 * (4**2 - 1))
    uncorrected = test.statistic * correction
    assert uncorrected == pytest.approx(9.28, abs=5e-3)
    assert 13 * uncorrected / (14 * 3 - uncorrected) == pytest.approx(3.69, abs=5e-3)
    assert test.f_statistic == pytest.approx(13 * test.statistic / (14 * 3 - test.statistic), rel=1e-12)


@given(arrays(np.float64, st.tuples(st.integers(2, 8), st.integers(3, 5)), elements=st.integers(0, 5).map(float)))
def test_friedman_agrees_with_scipy(values):
    if all(len(set(block)) == 1 for block in values):
        assert friedman(values).p_value == 1.0  # scipy divides 0 by 0 here
        return
    theirs = stats.friedmanchisquare(*values.T)
    ours = friedman(values)
    assert ours.statistic == pytest.approx(theirs.statistic, abs=1e-9)
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=1e-9)


def test_friedman_where_every_block_agrees():
    test = friedman(np.tile([1.0, 2.0, 3.0], (5, 1)))
    assert test.statistic == pytest.approx(10.0)
    assert test.f_statistic == np.inf
    assert test.f_p_value == 0.0


@given(values_matrix, st.randoms(use_true_random=False))
def test_friedman_does_not_depend_on_the_order_of_treatments(values, random):
    order = list(range(values.shape[1]))
    random.shuffle(order)
    one, other = friedman(values), friedman(values[:, order])
    assert one.statistic == pytest.approx(other.statistic, abs=1e-9)
    assert [one.mean_ranks[i] for i in order] == pytest.approx(other.mean_ranks)


@given(arrays(np.float64, st.integers(1, 30), elements=st.integers(0, 9).map(float)))
def test_ranks_sum_to_what_they_must(values):
    ranks = average_ranks(values)
    n = len(values)
    assert ranks.sum() == pytest.approx(n * (n + 1) / 2)
    assert np.array_equal(ranks, stats.rankdata(values))


def test_errors_that_differ_by_rounding_are_equal():
    assert average_ranks(np.array([0.1 + 0.2, 0.3, 0.4])).tolist() == [1.5, 1.5, 3.0]


def test_dunn_of_dinno():
    months = list(OZONE)
    groups = [np.array(OZONE[month].split(), dtype=float) for month in months]
    assert stats.kruskal(*groups).statistic == pytest.approx(29.267, abs=5e-4)
    found = dunn(groups)
    for (row, column), z in DUNN_Z.items():
        assert found.z[months.index(row), months.index(column)] == pytest.approx(z, abs=5e-6)


def test_dunn_by_hand():
    # Ranks 1 2 | 3.5 3.5 | 5 6: means 1.5, 3.5, 5.5; variance (6·7/12 - (2³-2)/(12·5)) (1/2 + 1/2) = 3.4
    found = dunn([np.array([1.0, 2.0]), np.array([3.0, 3.0]), np.array([4.0, 5.0])])
    assert found.z[0] == pytest.approx([0, -2 / 3.4**0.5, -4 / 3.4**0.5])
    raw = 2 * stats.norm.sf(np.array([4, 2, 2]) / 3.4**0.5)
    assert found.p_value[0, 2] == pytest.approx(3 * raw[0])
    assert found.p_value[0, 1] == pytest.approx(2 * raw[1])


@given(values_matrix)
def test_dunn_is_antisymmetric(values):
    found = dunn(list(values.T))
    assert np.allclose(found.z, -found.z.T)
    assert np.array_equal(found.p_value, found.p_value.T)
    verdict = found.better()
    off = ~np.eye(len(verdict), dtype=bool)
    assert np.array_equal(verdict[off], -verdict.T[off])
    assert np.all(np.isnan(np.diag(verdict)))


def test_dunn_finds_the_group_with_smaller_errors():
    found = dunn([np.arange(30.0), np.arange(30.0) + 25])
    assert found.better()[0, 1] == 1
    assert found.better()[1, 0] == -1


def test_dunn_of_equal_values_finds_nothing():
    found = dunn([np.ones(4), np.ones(4)])
    assert found.p_value[0, 1] == 1.0


def test_holm_by_hand():
    # Sorted .005 .01 .03 .04, times 4 3 2 1 = .02 .03 .06 .04, made monotone: .02 .03 .06 .06
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(arrays(np.float64, st.integers(1, 12), elements=st.floats(0, 1)))
def test_holm_keeps_order_and_never_helps(p_values):
    adjusted = holm(p_values)
    assert np.all(adjusted >= p_values)
    assert np.all(adjusted <= 1)
    order = np.argsort(p_values, kind="stable")
    assert np.all(np.diff(adjusted[order]) >= 0)
