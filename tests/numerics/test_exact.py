"""Sums, ranks and other results that must not depend on how items are split."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import ndtri

from fieldcheck.numerics import order, scores
from fieldcheck.numerics.exact import ExactSum, GroupedSum, Range, Top, grouped, merged, scan
from fieldcheck.numerics.scores import median, normal_scores

NUMBERS = st.floats(-1e300, 1e300).filter(lambda x: x == 0 or abs(x) > 1e-290)


@dataclass(frozen=True)
class Pieces:
    """Items in parts, in this order."""

    parts: tuple[np.ndarray, ...]

    def map(self, step: Callable[[Any, Any], Any], given: Any) -> Iterator[Any]:
        return (step(part, given) for part in self.parts)


def cut(values: np.ndarray, seed: int, count: int) -> Pieces:
    """Into some parts, in any order."""
    rng = np.random.default_rng(seed)
    places = np.sort(rng.integers(0, len(values) + 1, count - 1))
    parts = [part for part in np.split(values, places) if len(part)]
    return Pieces(tuple(parts[at] for at in rng.permutation(len(parts))))


def itself(part: np.ndarray) -> np.ndarray:
    return part


@given(st.lists(NUMBERS, max_size=60), st.integers(0, 99))
def test_a_sum_is_that_of_fsum_however_it_is_split(values: list[float], seed: int) -> None:
    given_values = np.array(values)
    try:
        expected = math.fsum(values)
    except OverflowError:
        return
    assert float(ExactSum.of(given_values)) == expected
    if values:
        parts = (ExactSum.of(part) for part in cut(given_values, seed, 5).parts)
        assert float(merged(parts)) == expected


@pytest.mark.parametrize("kind", ["uniform", "wide", "cancelling", "equal"])
def test_a_sum_of_many(kind: str) -> None:
    rng = np.random.default_rng(1)
    values = {
        "uniform": rng.random(40_000),
        "wide": rng.normal(size=40_000) * 10.0 ** rng.integers(-30, 30, 40_000),
        "cancelling": np.concatenate([rng.normal(size=20_000), -rng.normal(size=20_000)]),
        "equal": np.full(40_000, 0.1),
    }[kind]
    assert float(ExactSum.of(values)) == math.fsum(values)


def test_what_is_not_finite_stays_so() -> None:
    assert float(ExactSum.of(np.array([1.0, np.inf]))) == np.inf
    assert math.isnan(float(ExactSum.of(np.array([np.inf])) + ExactSum.of(np.array([-np.inf]))))
    assert float(ExactSum.of(np.zeros(0))) == 0


@given(st.lists(st.tuples(NUMBERS, st.integers(0, 3)), max_size=60), st.integers(0, 99))
def test_grouped_sums_are_those_of_fsum_however_they_are_split(rows: list[tuple[float, int]], seed: int) -> None:
    try:
        expected = [math.fsum(value for value, own in rows if own == group) for group in range(5)]
    except OverflowError:
        return
    both = np.array(rows, dtype=[("value", float), ("group", int)])
    parts = cut(both, seed, 5).parts if rows else (both,)
    (found,) = merged(grouped(part["group"], 5, part["value"]) for part in parts)
    assert found.rounded.tolist() == expected


@pytest.mark.parametrize("kind", ["uniform", "wide", "cancelling"])
def test_grouped_sums_of_many(kind: str) -> None:
    """Of 997 groups: what is worked out vector by vector is what fractions add up to."""
    rng = np.random.default_rng(4)
    group, count = rng.integers(0, 997, 32_768), 997
    values = {
        "uniform": rng.random(len(group)),
        "wide": rng.normal(size=len(group)) * 10.0 ** rng.integers(-30, 30, len(group)),
        "cancelling": rng.choice([-1.0, 1.0], len(group)) * rng.choice(rng.random(9), len(group)),
    }[kind]
    wanted = [math.fsum(values[group == at]) for at in range(count)]
    assert GroupedSum.of(values, group, count).rounded.tolist() == wanted
    exact_sums = [sum(map(Fraction, values[group == at].tolist())) for at in range(20)]
    assert [Fraction(one, 1 << 1022) for one in GroupedSum.of(values, group, count).units[:20]] == exact_sums


def test_grouped_sums_of_what_is_not_finite() -> None:
    values, group = np.array([1.0, np.inf, -np.inf, np.inf, 2.0, np.nan, 0.5]), np.array([0, 1, 2, 2, 3, 4, 4])
    found = GroupedSum.of(values, group, 6) + GroupedSum.of(np.ones(6), np.arange(6), 6)
    assert str(found.rounded.tolist()) == "[2.0, inf, nan, 3.0, nan, 1.0]"
    assert GroupedSum.of(np.zeros(0), np.zeros(0, dtype=int), 2).rounded.tolist() == [0, 0]


@given(st.lists(st.sampled_from([0.0, -1.5, 0.25, 3.0, 1e-9, 7e8, -2.0]), min_size=1, max_size=80), st.integers(0, 99))
def test_few_values_have_mid_ranks(values: list[float], seed: int) -> None:
    given_values = np.array(values)
    found = normal_scores(cut(given_values, seed, 4), itself, len(values))
    expected = ndtri((stats.rankdata(given_values) - 0.5) / len(values))
    assert np.array_equal(found.of(given_values), expected)


@pytest.mark.parametrize("kind", ["uniform", "heavy", "signed", "many ties"])
def test_cells_of_many_values(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for any split; ranks are off by no more than the items of a cell, and in order."""
    monkeypatch.setattr(scores, "MANY", 4096)
    monkeypatch.setattr(scores, "CELLS", 4096)
    rng = np.random.default_rng(2)
    values = {
        "uniform": rng.random(30_000),
        "heavy": np.exp(6 * rng.normal(size=30_000)),
        "signed": rng.normal(size=30_000),
        "many ties": np.round(rng.random(30_000), 2),
    }[kind]
    first, second = (normal_scores(cut(values, seed, count), itself, len(values)) for seed, count in ((0, 1), (1, 7)))
    assert np.array_equal(first.of(values), second.of(values))
    exact = ndtri((stats.rankdata(values) - 0.5) / len(values))
    order = np.argsort(values, kind="stable")
    assert (np.diff(first.of(values)[order]) >= 0).all()
    largest = np.bincount(np.unique(first.of(values), return_inverse=True)[1]).max()
    ranks = stats.norm.cdf(first.of(values)) * len(values), stats.norm.cdf(exact) * len(values)
    assert np.abs(ranks[0] - ranks[1]).max() <= largest / 2 + 1e-6
    if kind == "many ties":
        np.testing.assert_allclose(first.of(values), exact, atol=1e-12)
    else:
        assert largest <= 100


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=60), st.integers(0, 99))
def test_medians(values: list[float], seed: int) -> None:
    assert median(cut(np.array(values), seed, 3), itself, len(values)) == np.median(values)


@pytest.mark.parametrize("size", [20_000, 20_001])
def test_medians_of_many(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "FETCHED", 10)
    values = np.random.default_rng(3).normal(size=size)
    assert median(cut(values, 1, 6), itself, size) == np.median(values)


@pytest.mark.parametrize("digits", [-1, 0, 1, 2, 17])
def test_the_first_rows_are_those_of_a_stable_sort(digits: int) -> None:
    values = np.round(np.random.default_rng(2).random(500), digits)
    both = np.stack([-values, np.arange(500)], axis=1)
    for count in (1, 2, 64, 499, 500):
        found = scan(cut(both, count, 5), lambda part, many: Top.of((part[:, 0], part[:, 1]), many), count)
        assert np.array_equal(found.columns[1], np.argsort(-values, kind="stable")[:count])


def test_ranges() -> None:
    values = np.random.default_rng(2).random(50)
    assert scan(cut(values, 1, 5), lambda part, _: Range.of(part), None) == Range(values.min(), values.max())
    assert Range.of(np.zeros(0)) + Range(1, 2) == Range(1, 2)
