"""Features on a grid: against the kernel they come from, by enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldcheck.numerics.regression.grid_features import GridFeatures, rbf_features

POSITIONS = [np.arange(3.0), np.array([0.0, 1.0, 4.0, 5.0])]
CELLS = np.array(list(product(range(3), range(4))))


def kernel(first: np.ndarray, second: np.ndarray, length: float) -> float:
    gaps = [at[a] - at[b] for at, a, b in zip(POSITIONS, first, second, strict=True)]
    return float(np.exp(-0.5 * sum((gap / length) ** 2 for gap in gaps)))


def test_all_features_together_are_the_kernel() -> None:
    values = rbf_features(POSITIONS, lengths=[2.0, 2.0], count=99).rows(CELLS)
    expected = [[kernel(a, b, 2.0) for b in CELLS] for a in CELLS]
    assert values.shape == (12, 12)
    assert values @ values.T == pytest.approx(np.array(expected), abs=1e-12)


def test_the_leading_features_are_those_with_the_largest_eigenvalues() -> None:
    few = rbf_features(POSITIONS, lengths=[2.0, 3.0], count=5)
    everything = rbf_features(POSITIONS, lengths=[2.0, 3.0], count=99)
    sizes = (everything.rows(CELLS) ** 2).sum(axis=0)
    assert (few.rows(CELLS) ** 2).sum(axis=0) == pytest.approx(np.sort(sizes)[::-1][:5])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_expanding_is_the_sum_over_features_at_every_cell(shape: list[int], count: int, seed: int) -> None:
    features = rbf_features([np.arange(float(size)) for size in shape], lengths=[2.0] * len(shape), count=count)
    coefficients = np.random.default_rng(seed).normal(size=len(features))
    cells = np.stack(np.unravel_index(np.arange(int(np.prod(shape))), shape), axis=1)
    grid = features.expand(coefficients)
    assert grid.shape == tuple(shape)
    assert grid.ravel() == pytest.approx(features.rows(cells) @ coefficients, abs=1e-9)


def test_the_effect_of_an_axis_is_its_share_with_the_others_at_their_mean() -> None:
    tables = (np.array([[1.0, 0.0], [1.0, 2.0]]), np.array([[3.0], [5.0]]))
    features = GridFeatures(tables, np.array([[0, 0], [1, 0]]))
    effects = features.effects(np.array([10.0, 1.0]), np.array([[0, 0], [1, 1]]))
    assert effects[0] == pytest.approx([10 * 4, 10 * 4 + 2 * 4])  # the second axis is 4 on average
    assert effects[1] == pytest.approx([3 * (10 + 1), 5 * (10 + 1)])  # the first: 1, and 1 for its second function
