"""The confidence sequence of simple random sampling: exact checks of its promise, at every label."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy.special import beta

from fieldcheck.numerics.intervals.sequence import log_evidence, sequence_bounds
from fieldcheck.testing import assert_covers


def table(population: int, *, expected: float, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of failures that are not rejected, lowest and highest, by [failures, labels]."""
    n = np.arange(population + 1)
    k = np.minimum(n[:, None], n)
    low, high = sequence_bounds(k, np.broadcast_to(n, k.shape), population=population, expected=expected, level=level)
    return np.rint(low * population), np.rint(high * population)


def test_evidence_is_the_ratio_of_the_two_chances_of_the_labels_in_their_order() -> None:
    a, b, population, total = 20 * 0.1 + 0.5, 20 * 0.9 + 0.5, 12, 3
    mixture = beta(a + 2, b + 3) / beta(a, b)
    likely = (3 * 2) * (9 * 8 * 7) / (12 * 11 * 10 * 9 * 8)
    found = log_evidence(np.array(2), np.array(5), np.array(total), population=population, expected=0.1)
    assert found == pytest.approx(math.log(mixture / likely), abs=1e-12)


@pytest.mark.parametrize(("expected", "level"), [(0.05, 0.95), (0.5, 0.6), (0.2, 0.5)])
def test_bounds_are_the_ends_of_what_is_not_rejected(expected: float, level: float) -> None:
    """Against trying every number of failures."""
    population = 30
    lowest, highest = table(population, expected=expected, level=level)
    for n in range(1, population + 1):
        for k in range(n + 1):
            possible = np.arange(k, population - (n - k) + 1)
            k_s, n_s = np.full_like(possible, k), np.full_like(possible, n)
            evidence = log_evidence(k_s, n_s, possible, population=population, expected=expected)
            kept = possible[evidence < math.log(1 / (1 - level))]
            assert (lowest[k, n], highest[k, n]) == (kept.min(), kept.max())
            assert len(kept) == kept.max() - kept.min() + 1


@pytest.mark.parametrize("level", [0.5, 0.7, 0.95])
def test_every_order_of_a_small_pool(level: float) -> None:
    """Of all orders of ten items, at most ``1 - level`` have bounds that ever miss the truth."""
    population = 10
    lowest, highest = table(population, expected=0.3, level=level)
    steps = np.arange(1, population + 1)
    for total in range(population + 1):
        missed = orders = 0
        for where in combinations(range(population), total):
            order = np.isin(np.arange(population), where)
            k = np.cumsum(order)
            orders += 1
            missed += bool(np.any((lowest[k, steps] > total) | (highest[k, steps] < total)))
        assert missed / orders <= 1 - level


@pytest.mark.parametrize(
    ("population", "total", "expected"), [(60, 3, 0.05), (60, 30, 0.5), (200, 10, 0.05), (200, 4, 0.3)]
)
def test_the_chance_ever_to_miss_is_computed_exactly(population: int, total: int, expected: float) -> None:
    """Follows the chance of every number of failures, label by label; it is positive, and at most 5 %."""
    lowest, highest = table(population, expected=expected, level=0.95)
    chance = np.zeros(population + 1)
    chance[0], missed = 1.0, 0.0
    counts = np.arange(population + 1)
    for n in range(1, population + 1):
        fails = np.clip((total - counts) / (population - n + 1), 0.0, 1.0)
        chance = chance * (1 - fails) + np.concatenate([[0.0], (chance * fails)[:-1]])
        outside = (lowest[:, n] > total) | (highest[:, n] < total)
        missed += float(chance[outside].sum())
        chance = np.where(outside, 0.0, chance)
    assert 0 < missed <= 0.05


def test_a_large_pool_label_by_label() -> None:
    """1,500 campaigns of 400 labels; fails for a true coverage of 95 % once in a million, notices 92 %."""
    population, total, campaigns = 20_000, 1_000, 1_500
    rng, n = np.random.default_rng(3), np.arange(1, 401)
    failures = np.zeros((campaigns, 401), dtype=np.int64)
    for label in n:
        left = (total - failures[:, label - 1]) / (population - label + 1)
        failures[:, label] = failures[:, label - 1] + (rng.random(campaigns) < left)
    counts = np.minimum(np.arange(failures.max() + 1)[:, None], n)
    low, high = sequence_bounds(
        counts, np.broadcast_to(n, counts.shape), population=population, expected=0.05, level=0.95
    )
    holds = (low <= 0.05) & (high >= 0.05)
    assert_covers(int(holds[failures[:, 1:], n - 1].all(axis=1).sum()), campaigns, least=0.95)


def test_all_labels_leave_no_doubt() -> None:
    low, high = sequence_bounds([3], [50], population=50, expected=0.5, level=0.95)
    assert (low[0], high[0]) == (0.06, 0.06)


def test_no_label_says_nothing() -> None:
    low, high = sequence_bounds([0], [0], population=50, expected=0.5, level=0.95)
    assert (low[0], high[0]) == (0.0, 1.0)
