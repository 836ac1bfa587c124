"""Nearest neighbours against the definition: all distances in double precision, sorted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fieldcheck.numerics.distance import neighbours
from fieldcheck.numerics.distance.neighbours import Neighbours
from fieldcheck.numerics.distance.packing import coincide, pack


def defined(points, queries, k, allowed):
    """By the definition; ``allowed`` is one row per query and one column per point."""
    index, distance = np.full((len(queries), k), -1), np.full((len(queries), k), np.inf)
    for row, query in enumerate(queries.astype(np.float64)):
        away = np.sqrt(np.square(query - points.astype(np.float64)).sum(axis=1))
        order = [at for at in np.lexsort((np.arange(len(points)), away)) if allowed[row, at]][:k]
        index[row, : len(order)], distance[row, : len(order)] = order, away[order]
    return index, distance


def same(found, expected) -> None:
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


def check(points, labels, queries, said, k) -> None:
    searched = Neighbours.of(points, labels)
    same(searched.nearest(queries, k), defined(points, queries, k, np.ones((len(queries), len(points)), bool)))
    alike = said[:, None] == labels
    same(searched.nearest(queries, k, within=said), defined(points, queries, k, alike))
    same(searched.nearest_other(queries, said, k), defined(points, queries, k, ~alike))


@pytest.mark.parametrize("k", [1, 3, 10])
@pytest.mark.parametrize("columns", [1, 7, 84])
def test_random_points(k, columns) -> None:
    rng = np.random.default_rng(columns + k)
    points = rng.standard_normal((400, columns)).astype(np.float32)
    queries = (3 + 2 * rng.standard_normal((90, columns))).astype(np.float32)
    # Label 9 has one point; nobody asks for it in `said`, and label 5 has none.
    labels = np.append(rng.integers(0, 4, 399), 9)
    check(points, labels, queries, rng.integers(0, 6, 90), k)


@pytest.mark.parametrize("k", [1, 4])
def test_ties_and_duplicates_go_to_the_first(k) -> None:
    rng = np.random.default_rng(k)
    # Small whole numbers: every distance is exact, and most are ties.
    points = rng.integers(0, 3, (300, 4)).astype(np.float32)
    queries = rng.integers(0, 3, (60, 4)).astype(np.float32)
    check(points, rng.integers(0, 3, 300), queries, rng.integers(0, 3, 60), k)


def test_near_ties_below_single_precision() -> None:
    # Around a far centre, distances differ in the ninth digit: single-precision products cannot tell them apart.
    rng = np.random.default_rng(5)
    directions = rng.standard_normal((500, 6))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    points = (directions * (1 + 1e-9 * rng.random((500, 1)))).astype(np.float32)
    queries = np.concatenate([np.zeros((1, 6)), 1e-7 * rng.standard_normal((40, 6))]).astype(np.float32)
    check(points, rng.integers(0, 2, 500), queries, rng.integers(0, 2, 41), 3)


def test_one_far_outlier_does_not_blur_the_rest() -> None:
    rng = np.random.default_rng(6)
    points = rng.standard_normal((300, 5)).astype(np.float32)
    points[17] = 1e30
    queries = np.concatenate([rng.standard_normal((30, 5)), np.full((1, 5), 1e30), np.full((1, 5), 3e38)])
    check(points, np.arange(300) % 2, queries.astype(np.float32), np.arange(32) % 2, 2)


def test_a_common_label_is_searched_like_a_rare_one(monkeypatch) -> None:
    rng = np.random.default_rng(7)
    points, labels = rng.standard_normal((200, 3)).astype(np.float32), rng.integers(0, 3, 200)
    queries, said = rng.standard_normal((120, 3)).astype(np.float32), rng.integers(0, 2, 120)
    rare = Neighbours.of(points, labels).nearest_other(queries, said, 5)
    monkeypatch.setattr(neighbours, "OWN_BATCH", 1)
    same(Neighbours.of(points, labels).nearest_other(queries, said, 5), rare)


@pytest.mark.parametrize("k", [1, 6])
def test_a_long_short_list_is_cut(monkeypatch, k) -> None:
    monkeypatch.setattr(neighbours, "PENDING", 50)
    monkeypatch.setattr(neighbours, "PRODUCT", 1)
    rng = np.random.default_rng(8)
    points = rng.integers(0, 4, (500, 3)).astype(np.float32)
    queries = rng.integers(0, 4, (40, 3)).astype(np.float32) + np.float32(0.5)
    check(points, rng.integers(0, 2, 500), queries, rng.integers(0, 2, 40), k)


def test_any_split_of_the_queries_gives_the_same_bits() -> None:
    rng = np.random.default_rng(9)
    searched = Neighbours.of(rng.standard_normal((700, 40)).astype(np.float32))
    queries = rng.standard_normal((101, 40)).astype(np.float32)
    whole = searched.nearest(queries, 3)
    for size in (1, 7, 64):
        parts = [searched.nearest(queries[at : at + size], 3) for at in range(0, 101, size)]
        same(tuple(np.concatenate(part) for part in zip(*parts, strict=True)), whole)


FINITE = st.floats(-(2.0**127), 2.0**127, width=32, allow_subnormal=False)


@settings(max_examples=150, deadline=None)
@given(
    points=hnp.arrays(np.float32, st.tuples(st.integers(1, 12), st.just(2)), elements=FINITE),
    queries=hnp.arrays(np.float32, st.tuples(st.integers(1, 4), st.just(2)), elements=FINITE),
    k=st.integers(1, 4),
)
@example(points=np.zeros((3, 2), np.float32), queries=np.full((1, 2), 3e38, np.float32), k=2)
def test_any_finite_numbers(points, queries, k) -> None:
    check(points, np.arange(len(points)) % 3, queries, np.arange(len(queries)) % 3, k)


def test_no_queries_and_no_other_label() -> None:
    searched = Neighbours.of(np.ones((4, 2), np.float32))
    assert searched.nearest(np.zeros((0, 2), np.float32))[0].shape == (0, 1)
    index, distance = searched.nearest_other(np.zeros((3, 2), np.float32), np.zeros(3))
    assert (index == -1).all()
    assert np.isinf(distance).all()


def test_equal_points_are_packed_once() -> None:
    points = np.repeat(np.arange(6, dtype=np.float32)[:, None], 50, axis=0)
    packing = pack(points, np.zeros(300))
    assert len(packing.first) == 6
    assert sorted(packing.members) == list(range(300))
    assert sorted(packing.first) == [0, 50, 100, 150, 200, 250]


def test_points_that_coincide_under_two_labels_are_noticed() -> None:
    points = np.array([[0, 1], [2, 3], [0, 1], [2, 3], [4, 4], [0, 1]], np.float32)
    assert not coincide(points, np.array([0, 2, 0, 2, 1, 0]))
    assert coincide(points, np.array([0, 2, 1, 2, 1, 0]))


def test_products_keep_within_their_slack() -> None:
    # The bound is what the exactness rests on: it must hold, also for long rows.
    rng = np.random.default_rng(10)
    points = np.maximum(rng.standard_normal((256, 700)), 0).astype(np.float32)
    queries = (5 * rng.standard_normal((64, 700))).astype(np.float32)
    packing = pack(points, np.zeros(256))
    packed = packing.packed(queries)
    product = packing.rows @ packed.rows.T
    centred = (queries - packing.centre) / packing.scale
    shrink = 1 / np.maximum(np.linalg.norm(centred, axis=1), 1)
    exact = (points[packing.first].astype(np.float64) - packing.centre) / packing.scale
    wanted = (exact @ centred.T - 0.5 * np.square(exact).sum(axis=1)[:, None]) * shrink
    error = np.abs(product - wanted).reshape(-1, packing.group, 64).max(axis=1)
    assert (error <= packing.slack(slice(None), packed)).all()
