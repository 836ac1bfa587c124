"""Values by rank, and quantiles, against numpy: the same to the bit, however the values are split."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldcheck.numerics import order
from fieldcheck.numerics.exact import merged

from .test_exact import Pieces, cut, itself

QUARTERS = [0.25, 0.5, 0.75]
FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=64).map(lambda x: x / 4)
FEW_VALUES = st.sampled_from([0.0, -0.0, 1.0, -1.5, 5e-324, -5e-324, 1e300, -1e300, 0.1, 0.1 + 2**-56])


def quartiles(parts: Pieces) -> list[float]:
    counts = merged(order.leading_counts(part) for part in parts.parts)
    return order.quantiles(parts, itself, QUARTERS, counts).tolist()


@pytest.mark.parametrize("fetched", [order.FETCHED, 0])
@given(st.lists(FLOATS | FEW_VALUES, min_size=1, max_size=60), st.integers(0, 99))
def test_quartiles_are_those_of_numpy(fetched: int, values: list[float], seed: int) -> None:
    """With values looked at one by one, and told by all of their bits."""
    given_values = np.array(values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(order, "FETCHED", fetched)
        assert quartiles(cut(given_values, seed, 4)) == np.quantile(given_values, QUARTERS).tolist()


@pytest.mark.parametrize("fetched", [order.FETCHED, 100, 0])
@pytest.mark.parametrize("kind", ["uniform", "wide", "ties", "saturated", "close", "single precision"])
def test_quartiles_of_many(kind: str, fetched: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "FETCHED", fetched)
    rng = np.random.default_rng(1)
    values = {
        "uniform": rng.random(9_001),
        "wide": rng.normal(size=9_000) * 10.0 ** rng.integers(-300, 300, 9_000),
        "ties": np.round(rng.normal(size=9_002), 1),
        "saturated": np.where(rng.random(9_003) < 0.6, 1.0, rng.random(9_003)),
        "close": 1e15 + rng.permutation(9_000),
        "single precision": rng.random(9_000).astype(np.float32).astype(np.float64),
    }[kind]
    assert quartiles(cut(values, 2, 7)) == np.quantile(values, QUARTERS).tolist()


def test_values_come_in_the_order_in_which_their_ranks_are_asked_for() -> None:
    values = np.random.default_rng(2).normal(size=500)
    ranks = [499, 0, 250, 250, 17]
    assert order.at_ranks(cut(values, 3, 5), itself, ranks).tolist() == np.sort(values)[ranks].tolist()


@given(st.lists(FLOATS | FEW_VALUES, min_size=1, max_size=40))
def test_bits_are_in_the_order_of_the_numbers(values: list[float]) -> None:
    given_values = np.array(values)
    found = order.ordered_bits(given_values)
    assert np.array_equal(found[:, None] < found, given_values[:, None] < given_values)
