"""How well a variable separates right from wrong."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldcheck.core.rng import stream
from fieldcheck.numerics.ranks import auc, explained
from fieldcheck.numerics.sampling.draws import uniforms
from fieldcheck.testing import scattered


@settings(deadline=None, max_examples=50)
@given(pairs=st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=2, max_size=40))
def test_auc_is_that_of_scikit_learn(pairs) -> None:
    from sklearn.metrics import roc_auc_score

    values, positive = (np.array(column) for column in zip(*pairs, strict=True))
    if positive.all() or not positive.any():
        assert math.isnan(auc(values.astype(float), positive))
    else:
        assert auc(values.astype(float), positive) == pytest.approx(roc_auc_score(positive, values), abs=1e-12)


def test_a_variable_that_gives_the_outcome_away() -> None:
    """One value per true class, as in one published column: useless alone, everything beside the prediction."""
    truth, predicted = np.arange(3000) % 10, (np.arange(3000) * 7 // 10) % 10
    failed = truth != predicted
    assert explained(truth.astype(float), failed, predicted) == pytest.approx(1.0)
    assert explained(truth.astype(float), failed, None) < 0.5


def test_an_unrelated_variable_explains_nothing() -> None:
    """Adjusted for chance, the share is zero on average; its standard error with 20 groups of 150 is about 0.002."""
    values, failed = uniforms(stream(1, "values"), 3000), uniforms(stream(1, "failed"), 3000) < 0.2
    assert abs(explained(values, failed, None)) < 0.02


def test_many_values_are_grouped() -> None:
    values = scattered(1000)
    assert explained(values, values > 0.5, None) > 0.9


@pytest.mark.parametrize("failed", [np.zeros(30, dtype=bool), np.ones(30, dtype=bool)])
def test_one_kind_of_outcome_has_nothing_to_explain(failed) -> None:
    assert math.isnan(explained(np.arange(30.0) % 3, failed, None))


def test_more_cells_than_items_explain_nothing() -> None:
    assert math.isnan(explained(np.arange(4.0), np.array([True, False, True, False]), np.array([0, 1, 2, 3])))
