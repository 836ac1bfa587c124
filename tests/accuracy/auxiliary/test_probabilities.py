"""Variables of probabilities, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from fieldcheck.accuracy import auxiliary
from fieldcheck.accuracy.auxiliary import Combined, derived, expand
from fieldcheck.accuracy.auxiliary.base import Trace
from fieldcheck.core.errors import ModelError
from fieldcheck.sources.pools.arrays import from_arrays

ROWS = np.array([[0.7, 0.2, 0.1], [0.0, 1.0, 0.0], [0.25, 0.25, 0.5]])


def column(name, rows=ROWS, **others):
    seen = Trace(task="classification", predictions=rows.argmax(axis=1), probabilities=rows, **others)
    fitted = auxiliary.registry.build(name).fit(None, seed=0)
    return fitted.finish(fitted.values(seen))


def test_confidence() -> None:
    np.testing.assert_allclose(column("confidence"), [0.3, 0, 0.5], atol=1e-15)


def test_margin() -> None:
    np.testing.assert_allclose(column("margin"), [0.5, 0, 0.75], atol=1e-15)


def test_entropy() -> None:
    first = -(0.7 * np.log(0.7) + 0.2 * np.log(0.2) + 0.1 * np.log(0.1))
    np.testing.assert_allclose(column("entropy"), [first, 0, 1.5 * np.log(2)], atol=1e-15)


def test_gini() -> None:
    np.testing.assert_allclose(column("gini"), [1 - 0.54, 0, 1 - 0.375], atol=1e-15)


def test_single_precision_may_leave_the_unit_interval() -> None:
    rows = np.array([[1.0000001, -1e-8]], dtype=np.float32)
    for name in ("confidence", "margin", "entropy", "gini"):
        assert column(name, rows) == 0


def test_member_is_the_log_odds_against_the_prediction() -> None:
    member = np.array([[0.9, 0.05, 0.05], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    # 7 more than logit(1 - p): p = .9, then never (clipped at 5), then certain (clipped at -7).
    np.testing.assert_allclose(column("member", member=member), [7 + np.log(0.1 / 0.9), 12, 0], atol=1e-14)


def test_member_that_does_not_know_the_class() -> None:
    np.testing.assert_allclose(column("member", member=np.full((3, 2), 0.5)), [7, 7, 12], atol=1e-14)


def test_symmetry_looks_twice() -> None:
    mirrored = np.array([[0.1, 0.2, 0.7], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    lift = -np.log(1e-6 / (1 - 1e-6))
    expected = [np.log(0.6 / 0.4), -lift, np.log(0.75 / 0.25)]
    np.testing.assert_allclose(column("symmetry", mirrored=mirrored), np.array(expected) + lift, atol=1e-12)


def test_missing_numbers_are_refused() -> None:
    with pytest.raises(ModelError):
        column("confidence", np.array([[0.5, np.nan]]))


def test_combined_is_what_a_pool_makes_of_its_parts() -> None:
    confidence, dsa = np.array([0.9, 0.5, 1.0]), np.array([0.2, 0.8, 0.0])
    np.testing.assert_allclose(Combined.column(confidence, dsa), [1 - 0.9 * 0.75, 1, 0], atol=1e-15)
    pool = from_arrays(ids=np.arange(3), confidence=confidence, y_pred=["a", "b", "a"], auxiliary={"dsa": dsa})
    np.testing.assert_array_equal(derived.values(pool, "combined"), Combined.column(confidence, dsa))


def test_combined_gives_way_to_its_parts() -> None:
    assert expand(["combined"]) == ["confidence", "dsa"]
    assert expand(["lsa", "Combined ", "dsa:from_item=yes", "lsa"]) == ["lsa", "confidence", "dsa:from_item=yes"]
    assert "combined" not in set(auxiliary.registry)
