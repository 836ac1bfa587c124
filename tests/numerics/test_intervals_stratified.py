"""Intervals from strata: what must hold always, then coverage where a mistake would show."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldcheck.numerics.intervals import clopper_pearson, srs_mean, stratified_binary, stratified_mean

ROUNDING = 1e-9
PROMISED = 0.93


def fewest(repetitions: int) -> float:
    """Number of hits that an interval with the promised coverage falls short of with probability 1e-6 at most."""
    from scipy.stats import binom

    return float(binom.ppf(1e-6, repetitions, PROMISED))


@st.composite
def strata(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sizes, labels and failing labels of one to six strata."""
    k = draw(st.integers(1, 6))
    sizes = np.array(draw(st.lists(st.integers(1, 5_000), min_size=k, max_size=k)))
    counts = np.array([draw(st.integers(1, min(int(size), 60))) for size in sizes])
    failures = np.array([draw(st.integers(0, int(count))) for count in counts])
    return sizes, counts, failures


@given(strata(), st.booleans(), st.booleans())
def test_binary_properties(case: tuple[np.ndarray, ...], adaptive: bool, replacement: bool) -> None:
    sizes, counts, failures = case
    options = {"adaptive": adaptive, "replacement": replacement}
    low, high = stratified_binary(sizes, counts, failures, level=0.95, **options)
    rate = float(sizes @ (failures / counts)) / sizes.sum()
    assert -ROUNDING <= low <= rate + ROUNDING
    assert rate - ROUNDING <= high <= 1 + ROUNDING
    mirrored = stratified_binary(sizes, counts, counts - failures, level=0.95, **options)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=ROUNDING)
    wider = stratified_binary(sizes, counts, failures, level=0.99, **options)
    assert wider[0] <= low + ROUNDING
    assert wider[1] >= high - ROUNDING


@given(strata())
def test_an_adaptive_sample_is_never_given_a_narrower_interval(case: tuple[np.ndarray, ...]) -> None:
    fixed = stratified_binary(*case, level=0.95)
    adaptive = stratified_binary(*case, level=0.95, adaptive=True)
    assert adaptive[0] <= fixed[0] + ROUNDING
    assert adaptive[1] >= fixed[1] - ROUNDING


@given(strata())
def test_items_that_are_labelled_are_known(case: tuple[np.ndarray, ...]) -> None:
    sizes, counts, failures = case
    low, high = stratified_binary(sizes, counts, failures, level=0.5)
    assert low >= failures.sum() / sizes.sum() - ROUNDING
    assert high <= 1 - (counts - failures).sum() / sizes.sum() + ROUNDING


@pytest.mark.parametrize("adaptive", [False, True])
def test_a_pool_that_is_all_labelled_is_a_point(adaptive: bool) -> None:
    sizes, failures = np.array([3, 7, 1]), np.array([1, 0, 1])
    low, high = stratified_binary(sizes, sizes, failures, level=0.95, adaptive=adaptive)
    assert low == high == pytest.approx(2 / 11, abs=1e-15)
    losses, stratum = np.arange(11.0), np.repeat([0, 1, 2], sizes)
    low, high = stratified_mean(sizes, stratum, losses, level=0.95, adaptive=adaptive)
    assert low == high == pytest.approx(5.0, abs=1e-12)


def test_a_stratum_that_is_all_labelled_adds_no_width() -> None:
    alone = stratified_binary(np.array([900]), np.array([30]), np.array([3]), level=0.95)
    beside = stratified_binary(np.array([900, 100]), np.array([30, 100]), np.array([3, 10]), level=0.95)
    # The variance is shrunk towards all labels, of which a tenth fail in both cases: nearly the same smoothing.
    assert beside[1] - beside[0] == pytest.approx(0.9 * (alone[1] - alone[0]), rel=0.02)


def test_no_failures_at_all_still_leave_doubt() -> None:
    sizes, counts = np.array([8_000, 1_000, 1_000]), np.array([10, 20, 20])
    low, high = stratified_binary(sizes, counts, np.zeros(3), level=0.95)
    assert low == 0.0
    # The rule of three for the ten labels of the large stratum alone says 0.8 · 3/10.
    assert 0.15 < high < 0.3


def test_one_stratum_lies_between_mid_p_and_exact() -> None:
    for failures in range(31):
        low, high = stratified_binary(
            np.array([10**9]), np.array([30]), np.array([failures]), level=0.95, replacement=True
        )
        exact = clopper_pearson(failures, 30, level=0.95)
        assert low >= exact[0] - 0.012  # smoothing lets it be a little wider at the tame end
        assert high <= exact[1] + 0.012
        assert high - low <= exact[1] - exact[0] + 0.012


def exact_coverage(sizes: np.ndarray, totals: np.ndarray, counts: np.ndarray) -> float:
    """Chance that the interval contains the truth, over every possible outcome."""
    truth, covered = totals.sum() / sizes.sum(), 0.0
    for outcome in product(*(range(count + 1) for count in counts)):
        ways = [
            comb(int(m), x) * comb(int(size - m), int(n) - x) / comb(int(size), int(n))
            for m, size, n, x in zip(totals, sizes, counts, outcome, strict=True)
        ]
        low, high = stratified_binary(sizes, counts, np.array(outcome), level=0.95)
        covered += float(np.prod(ways)) * (low <= truth <= high)
    return covered


@pytest.mark.parametrize(
    ("totals", "counts"),
    [
        ((0, 2, 92), (10, 12, 12)),  # a 99 % accurate model with good confidence
        ((200, 90, 160), (10, 12, 12)),
        ((840, 460, 640), (8, 14, 14)),
        ((2_700, 720, 830), (8, 14, 14)),
        ((80, 10, 10), (10, 12, 12)),  # confidence knows nothing
        ((100, 0, 0), (10, 12, 12)),  # every failure hides where the model is most confident
        ((7_990, 990, 995), (8, 12, 12)),  # nearly everything fails
    ],
)
def test_coverage_of_three_strata_by_enumeration(totals: tuple[int, ...], counts: tuple[int, ...]) -> None:
    """Strata of 8,000, 1,000 and 1,000 items. Exact, so the promise is held without slack."""
    sizes = np.array([8_000, 1_000, 1_000])
    assert exact_coverage(sizes, np.array(totals), np.array(counts)) >= PROMISED


def test_coverage_of_ten_strata() -> None:
    """5,000 samples: an interval that covers .93 fails once in a million runs, one that covers .90 nearly always."""
    sizes = np.array([600, 1_000, 1_200, 1_400, 1_400, 1_400, 1_300, 1_000, 500, 200])
    totals = (sizes * np.array([0.0, 0.01, 0.02, 0.05, 0.15, 0.25, 0.35, 0.42, 0.54, 0.55])).astype(int)
    counts = np.array([8, 10, 10, 12, 12, 12, 11, 11, 8, 6])
    samples = np.random.default_rng(20).hypergeometric(totals, sizes - totals, counts, size=(5_000, 10))
    truth = totals.sum() / sizes.sum()
    bounds = np.array([stratified_binary(sizes, counts, failures, level=0.95) for failures in samples])
    covered = np.mean((bounds[:, 0] <= truth) & (truth <= bounds[:, 1]))
    assert covered >= fewest(5_000) / 5_000


losses_of_a_sample = st.lists(st.floats(0, 1e3, allow_subnormal=False), min_size=2, max_size=40)


@given(losses_of_a_sample, st.floats(0.01, 100))
def test_mean_properties(values: list[float], factor: float) -> None:
    losses = np.array(values)
    low, high = srs_mean(losses, 1_000, level=0.95)
    mean = float(losses.mean())
    assert 0 <= low <= mean + 1e-9 * max(mean, 1)
    assert high >= mean - 1e-9 * max(mean, 1)
    scaled = srs_mean(losses * factor, 1_000, level=0.95)
    assert scaled == pytest.approx((low * factor, high * factor), rel=1e-6, abs=1e-12)


def test_losses_that_are_all_zero_have_no_scale() -> None:
    assert srs_mean(np.zeros(20), 100, level=0.95) == (0.0, np.inf)


def test_one_stratum_is_a_simple_random_sample() -> None:
    losses = np.random.default_rng(1).exponential(size=40)
    stratum = np.zeros(40, dtype=np.int64)
    assert stratified_mean(np.array([500]), stratum, losses, level=0.9) == srs_mean(losses, 500, level=0.9)


def test_without_replacement_is_narrower() -> None:
    losses = np.random.default_rng(2).exponential(size=40)
    with_replacement, without = srs_mean(losses, None, level=0.95), srs_mean(losses, 80, level=0.95)
    assert without[0] > with_replacement[0]
    assert without[1] < with_replacement[1]


def test_coverage_for_skewed_losses() -> None:
    """Squares of Laplace errors, skewness over 5. 4,000 samples of 100; the normal interval covers .89 and fails."""
    rng = np.random.default_rng(3)
    pool = rng.laplace(size=6_000) ** 2
    hits = 0
    for _ in range(4_000):
        low, high = srs_mean(rng.choice(pool, 100), None, level=0.95)
        hits += low <= pool.mean() <= high
    assert hits >= fewest(4_000)


@pytest.mark.parametrize("size", [1e-200, 1e-9, 1.0, 1e150])
def test_the_unit_of_the_losses_does_not_matter(size: float) -> None:
    losses = np.random.default_rng(7).exponential(size=30)
    low, high = srs_mean(losses, 1_000, level=0.95)
    scaled = srs_mean(losses * np.sqrt(size), 1_000, level=0.95)
    assert scaled == pytest.approx((low * np.sqrt(size), high * np.sqrt(size)), rel=1e-6, abs=0)
