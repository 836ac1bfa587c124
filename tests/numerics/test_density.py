"""Kernel density and Mahalanobis distance against SciPy and the definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import gaussian_kde

from fieldcheck.numerics.distance import density
from fieldcheck.numerics.distance.density import Density, Ellipsoid


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def correlated(rng, items, columns):
    return (rng.standard_normal((items, columns)) @ rng.standard_normal((columns, columns)) + 2).astype(np.float32)


@pytest.mark.parametrize(("items", "columns"), [(50, 1), (80, 5), (300, 40)])
def test_the_density_is_that_of_scipy(rng, items, columns) -> None:
    points, others = correlated(rng, items, columns), correlated(rng, 30, columns)
    golden = gaussian_kde(points.T.astype(np.float64))
    found = Density.of(points)
    assert found.bandwidth == pytest.approx(golden.factor, rel=1e-14)
    # Rounding of the covariance's inverse leaves 1e-16 times its condition, here below 1e6.
    np.testing.assert_allclose(found.surprise(others), -golden.logpdf(others.T), rtol=1e-9)


def test_the_density_by_its_definition_in_blocks(rng, monkeypatch) -> None:
    monkeypatch.setattr(density, "ROWS", 7)
    monkeypatch.setattr(density, "COLUMNS", 5)
    points, others = correlated(rng, 40, 3), correlated(rng, 12, 3)
    covariance = np.cov(points.T.astype(np.float64)) * 40 ** (-2 / 7)
    shift = others[:, None, :].astype(np.float64) - points
    kernel = np.exp(-0.5 * np.einsum("abi,ij,abj->ab", shift, np.linalg.inv(covariance), shift))
    expected = -np.log(kernel.mean(axis=1) / np.sqrt(np.linalg.det(2 * np.pi * covariance)))
    np.testing.assert_allclose(Density.of(points).surprise(others), expected, rtol=1e-10)


def test_far_away_it_is_the_largest_exponent(rng) -> None:
    points = correlated(rng, 60, 4)
    far = np.full((1, 4), 1e30, np.float32)
    white = Ellipsoid.of(points).whiten(far)
    found = Density.of(points)
    assert found.surprise(far)[0] == pytest.approx(0.5 * np.square(white / found.bandwidth).sum(), rel=1e-9)


def test_columns_that_hardly_vary_are_left_out(rng) -> None:
    points = correlated(rng, 60, 5)
    still = points.copy()
    still[:, 2] = 7 + 1e-3 * rng.random(60)
    shape = Ellipsoid.of(still)
    assert sorted(shape.kept) == [0, 1, 3, 4]
    assert (shape.flat, shape.determined) == (1, 0)
    expected = Density.of(np.delete(points, 2, axis=1)).surprise(np.delete(points, 2, axis=1))
    np.testing.assert_allclose(Density.of(still).surprise(still), expected, rtol=1e-10)


def test_columns_that_others_determine_are_left_out(rng) -> None:
    points = correlated(rng, 60, 4)
    more = np.column_stack([points, points[:, 0] + points[:, 1], 2 * points[:, 3]]).astype(np.float32)
    shape = Ellipsoid.of(more)
    assert (shape.dimension, shape.flat, shape.determined) == (4, 0, 2)
    # Whichever columns stay, they span the same space: the distance is that in the four.
    np.testing.assert_allclose(shape.distance(more), Ellipsoid.of(points).distance(points), rtol=1e-4)


def test_fewer_points_than_columns(rng) -> None:
    shape = Ellipsoid.of(correlated(rng, 6, 20))
    assert (shape.dimension, shape.determined) == (5, 15)


def test_the_distance_is_that_of_mahalanobis(rng) -> None:
    points, others = correlated(rng, 200, 6), correlated(rng, 9, 6)
    inverse = np.linalg.inv(np.cov(points.T.astype(np.float64)))
    shift = others - points.mean(axis=0, dtype=np.float64)
    expected = np.sqrt(np.einsum("ai,ij,aj->a", shift, inverse, shift))
    np.testing.assert_allclose(Ellipsoid.of(points).distance(others), expected, rtol=1e-9)


def test_one_point_or_equal_points_have_no_columns() -> None:
    for points in (np.ones((1, 3), np.float32), np.ones((9, 3), np.float32)):
        found = Density.of(points)
        assert found.shape.dimension == 0
        np.testing.assert_allclose(found.surprise(np.eye(3, dtype=np.float32)), 0, atol=1e-12)
        np.testing.assert_array_equal(found.shape.distance(np.eye(3, dtype=np.float32)), 0)


@settings(max_examples=150, deadline=None)
@given(
    points=hnp.arrays(
        np.float32, st.tuples(st.integers(1, 9), st.just(3)), elements=st.floats(-(2.0**127), 2.0**127, width=32)
    ),
    others=hnp.arrays(np.float32, (3, 3), elements=st.floats(-(2.0**127), 2.0**127, width=32)),
)
@example(points=np.array([[0, 0, 0], [3e38, 3e38, -3e38]], np.float32), others=np.zeros((3, 3), np.float32))
def test_always_finite(points, others) -> None:
    found = Density.of(points)
    assert np.isfinite(found.surprise(others)).all()
    assert np.isfinite(found.shape.distance(others)).all()
    assert found.surprise(np.zeros((0, 3), np.float32)).shape == (0,)
