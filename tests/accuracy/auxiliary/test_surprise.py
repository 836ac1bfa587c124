"""DSA, LSA, MDSA and neighbours against their definitions in double precision, and where those have gaps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import gaussian_kde

from fieldcheck.accuracy.auxiliary import Dsa, Knn, KnnDisagreement, Lsa, Mdsa
from fieldcheck.accuracy.auxiliary.base import Trace
from fieldcheck.core.errors import DesignError, InputsError, ModelError
from fieldcheck.testing.traces import trace

from .traces import activations_only


def distance(one, many):
    return np.sqrt(np.square(many.astype(np.float64) - one.astype(np.float64)).sum(axis=1))


def defined_dsa(reference, pool, *, from_item=False):
    """Item by item, as the paper says."""
    result = []
    for item, said in zip(pool.activations, pool.predictions, strict=True):
        same, other = (np.flatnonzero((reference.predictions == said) == wanted) for wanted in (True, False))
        away = distance(item, reference.activations[same])
        nearest = reference.activations[same[away.argmin()]]
        start = item if from_item else nearest
        result.append(away.min() / distance(start, reference.activations[other]).min())
    return np.array(result)


@pytest.mark.parametrize("from_item", [False, True])
@pytest.mark.parametrize("classes", [2, 3, 10])
def test_dsa(from_item, classes) -> None:
    rng = np.random.default_rng(classes)
    reference, pool = trace(rng, 300, classes=classes, neurons=20), trace(rng, 80, classes=classes, neurons=20)
    found = Dsa(from_item=from_item).fit(reference, seed=0).values(pool)
    np.testing.assert_allclose(found, defined_dsa(reference, pool, from_item=from_item), rtol=1e-12)


def test_dsa_with_ties_and_items_of_the_reference() -> None:
    # Distinct places per class, so that no distance between classes is 0; whole numbers, so that ties are exact.
    rng = np.random.default_rng(2)
    said = rng.integers(0, 3, 120)
    places = np.column_stack([rng.integers(0, 4, (120, 2)), 5 * said])
    reference = activations_only(places, said)
    beside = places[:20] + np.array([1, 0, 0])
    pool = activations_only(np.concatenate([places[:20], beside]), np.tile(said[:20], 2))
    found = Dsa().fit(reference, seed=0).values(pool)
    np.testing.assert_array_equal(found, defined_dsa(reference, pool))
    assert (found[:20] == 0).all()


def test_dsa_remembers_without_changing_its_mind() -> None:
    rng = np.random.default_rng(3)
    reference, first, second = (trace(rng, items, neurons=8) for items in (200, 50, 50))
    fitted = Dsa().fit(reference, seed=0)
    fitted.values(first)
    np.testing.assert_array_equal(fitted.values(second), Dsa().fit(reference, seed=0).values(second))


def test_dsa_where_traces_of_two_classes_coincide() -> None:
    reference = activations_only([[0, 0], [0, 0], [4, 0]], [0, 1, 1])
    fitted = Dsa().fit(reference, seed=0)
    radius = 4 - 4 / 3
    # dist_b is 0: both distances get a thousandth of the radius.
    expected = [1, (3 + 1e-3 * radius) / (1e-3 * radius)]
    np.testing.assert_allclose(fitted.values(activations_only([[0, 0], [3, 0]], [0, 0])), expected, rtol=1e-12)
    assert any("coincide" in note for note in fitted.notes)


def test_dsa_with_one_class() -> None:
    fitted = Dsa().fit(activations_only([[0, 0], [4, 0]], [1, 1]), seed=0)
    np.testing.assert_allclose(fitted.values(activations_only([[0, 3]], [1])), [3 / 2])
    assert any("one class" in note for note in fitted.notes)


def test_dsa_of_a_class_that_the_reference_lacks() -> None:
    # The nearest trace is that of class 2 at (9, 0); from there it is 5 to class 0.
    reference = activations_only([[0, 0], [4, 0], [9, 0]], [0, 0, 2])
    fitted = Dsa().fit(reference, seed=0)
    np.testing.assert_allclose(fitted.values(activations_only([[9, 2]], [1])), [2 / 5])
    assert any("lacks class 1" in note for note in fitted.notes)


def test_lsa_per_class_is_that_of_scipy() -> None:
    rng = np.random.default_rng(4)
    reference, pool = trace(rng, 400), trace(rng, 90, shift=1.0)
    found = Lsa().fit(reference, seed=0).values(pool)
    for code in range(3):
        golden = gaussian_kde(reference.activations[reference.predictions == code].T.astype(np.float64))
        here = pool.predictions == code
        np.testing.assert_allclose(found[here], -golden.logpdf(pool.activations[here].T), rtol=1e-10)


def test_lsa_over_all() -> None:
    rng = np.random.default_rng(5)
    reference, pool = trace(rng, 200), trace(rng, 40)
    golden = -gaussian_kde(reference.activations.T.astype(np.float64)).logpdf(pool.activations.T)
    np.testing.assert_allclose(Lsa(scope="global").fit(reference, seed=0).values(pool), golden, rtol=1e-10)
    numeric = Lsa().fit(activations_only(reference.activations), seed=0)
    np.testing.assert_allclose(numeric.values(activations_only(pool.activations)), golden, rtol=1e-10)


def test_lsa_is_shifted_to_start_at_zero() -> None:
    rng = np.random.default_rng(6)
    fitted = Lsa().fit(trace(rng, 200), seed=0)
    values = fitted.values(trace(rng, 40))
    np.testing.assert_array_equal(fitted.finish(values), values - values.min())


def test_lsa_says_what_it_dropped() -> None:
    rng = np.random.default_rng(7)
    rows = rng.standard_normal((90, 4))
    rows = np.column_stack([rows, rows[:, 0] + rows[:, 1], np.full(90, 3.0)])
    notes = Lsa().fit(activations_only(rows, np.repeat([0, 1, 3], 30)), seed=0).notes
    assert notes == (
        "lsa: Scott's bandwidth 0.654",
        "lsa: 1 of 6 neurons hardly vary and were dropped, by class",
        "lsa: singular covariance in classes 0, 1, 3: up to 1 neurons that the others determine on the reference were "
        "dropped",
        "lsa: the reference lacks class 2: items predicted as such are judged by the class that they fit best",
    )


@pytest.mark.parametrize("variable", [Lsa(), Mdsa()])
def test_a_class_with_one_item_or_none_is_judged_by_the_best_fit(variable) -> None:
    rng = np.random.default_rng(8)
    rows = rng.standard_normal((61, 3)) + np.repeat([[0.0], [6.0], [3.0]], [30, 30, 1], axis=0)
    fitted = variable.fit(activations_only(rows, np.repeat([0, 1, 4], [30, 30, 1])), seed=0)
    asked = rng.standard_normal((10, 3)) + 3
    by_0, by_1, by_4, by_2 = (fitted.values(activations_only(asked, np.full(10, code))) for code in (0, 1, 4, 2))
    np.testing.assert_array_equal(by_4, np.minimum(by_0, by_1))
    np.testing.assert_array_equal(by_2, np.minimum(by_0, by_1))
    assert any("one item, or constant activations, in class 4" in note for note in fitted.notes)
    assert any("lacks classes 2, 3" in note for note in fitted.notes)


@pytest.mark.parametrize("variable", [Lsa(), Mdsa()])
def test_constant_activations_say_nothing(variable) -> None:
    fitted = variable.fit(activations_only(np.ones((9, 3)), np.arange(9) % 2), seed=0)
    np.testing.assert_array_equal(fitted.values(activations_only(np.eye(3), [0, 1, 2])), 0)
    assert any("constant" in note for note in fitted.notes)


def test_mdsa_per_class() -> None:
    rng = np.random.default_rng(9)
    reference, pool = trace(rng, 300), trace(rng, 50)
    found = Mdsa().fit(reference, seed=0).values(pool)
    for at in range(50):
        own = reference.activations[reference.predictions == pool.predictions[at]].astype(np.float64)
        shift = pool.activations[at] - own.mean(axis=0)
        assert found[at] == pytest.approx(np.sqrt(shift @ np.linalg.inv(np.cov(own.T)) @ shift), rel=1e-10)


def test_knn_is_the_distance_to_the_kth() -> None:
    rng = np.random.default_rng(10)
    reference, pool = trace(rng, 100), trace(rng, 30)
    expected = [np.sort(distance(item, reference.activations))[6] for item in pool.activations]
    np.testing.assert_array_equal(Knn(k=7).fit(reference, seed=0).values(pool), expected)


def test_knn_with_too_few_items() -> None:
    fitted = Knn(k=7).fit(activations_only([[0.0], [1.0], [5.0]]), seed=0)
    np.testing.assert_array_equal(fitted.values(activations_only([[0.0]])), [5])
    assert fitted.notes == ("knn: the reference has 3 items: k is 3",)


def test_disagreement_of_the_neighbours() -> None:
    rng = np.random.default_rng(11)
    reference, pool = trace(rng, 120, labels=True), trace(rng, 40)
    expected = []
    for features, said in zip(pool.features, pool.predictions, strict=True):
        nearest = np.lexsort((np.arange(120), distance(features, reference.features)))[:10]
        expected.append((reference.labels[nearest] != said).mean())
    np.testing.assert_array_equal(KnnDisagreement().fit(reference, seed=0).values(pool), expected)


def test_disagreement_in_the_inputs() -> None:
    images = np.zeros((4, 2, 2), np.uint8)
    images[2:] = 200
    reference = Trace("classification", np.zeros(4), inputs=images, labels=np.array([0, 0, 1, 1]))
    pool = Trace("classification", np.array([0, 1]), inputs=images[[0, 1]])
    np.testing.assert_array_equal(KnnDisagreement(k=2).fit(reference, seed=0).values(pool), [0, 1])


def test_disagreement_of_texts_needs_features() -> None:
    texts = Trace("classification", np.zeros(2), inputs=["a", "b"], labels=np.zeros(2))
    with pytest.raises(InputsError, match="features"):
        KnnDisagreement().fit(texts, seed=0)


SMALL = st.one_of(st.sampled_from([0.0, 1.0, -1.0, 1e-20, 1e20]), st.floats(-(2.0**127), 2.0**127, width=32))


@settings(max_examples=100, deadline=None)
@given(
    known=hnp.arrays(np.float32, st.tuples(st.integers(1, 10), st.just(2)), elements=SMALL.map(np.float32)),
    asked=hnp.arrays(np.float32, (4, 2), elements=SMALL.map(np.float32)),
    classes=st.lists(st.integers(0, 3), min_size=10, max_size=10),
)
def test_degenerate_data_give_finite_values(known, asked, classes) -> None:
    reference = activations_only(known, classes[: len(known)])
    pool = activations_only(np.concatenate([asked, known]), np.arange(4 + len(known)) % 4)
    for variable in (Dsa(), Dsa(from_item=True), Lsa(), Lsa(scope="global"), Mdsa(), Knn(k=2)):
        fitted = variable.fit(reference, seed=0)
        finished = fitted.finish(fitted.values(pool))
        assert np.isfinite(finished).all()
        assert (finished >= 0).all()


@pytest.mark.parametrize("variable", [Dsa(), Lsa(), Mdsa(), Knn()])
def test_activations_that_are_not_finite_are_refused(variable) -> None:
    with pytest.raises(ModelError, match="row 2"):
        variable.fit(activations_only([[1.0, 2.0], [np.nan, 0.0]], [0, 1]), seed=0)


def test_dsa_is_not_for_regression() -> None:
    with pytest.raises(DesignError):
        Dsa().fit(activations_only([[1.0], [2.0]]), seed=0)
