"""What a design may look at."""

from __future__ import annotations

import numpy as np
import pytest

from fieldcheck.core.errors import DesignError
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.pool.trait import Trait

VALUES = np.array([2.0, 4.0, 3.0])


def frame(name: str, task="classification", values=VALUES) -> Frame:
    return Frame(3, task, {name: values}, traits=dict.fromkeys(("dsa", "lsa"), Trait(surprise=True)))


@pytest.mark.parametrize("name", ["dsa", "lsa"])
def test_surprise_has_no_zero_of_its_own_in_classification(name: str) -> None:
    assert frame(name).size_measure(name).tolist() == [0.0, 1.0, 0.5]
    assert frame(name, "regression").size_measure(name).tolist() == [2, 4, 3]
    assert frame(name).values(name).tolist() == [2, 4, 3]


def test_other_variables_are_sizes_as_they_are() -> None:
    assert frame("confidence").size_measure("confidence").tolist() == [2, 4, 3]


def test_constant_surprise_is_an_equal_size() -> None:
    assert frame("dsa", values=np.full(3, 7.0)).size_measure("dsa").tolist() == [1, 1, 1]


@pytest.mark.parametrize("name", ["lsa", "confidence+lsa"])
def test_what_is_missing_is_named(name: str) -> None:
    with pytest.raises(DesignError) as caught:
        frame("confidence").values(name)
    assert name in caught.value.problem


def test_memo_computes_once() -> None:
    calls = []
    one = frame("confidence")
    for _ in range(3):
        assert one.memo("key", lambda: calls.append(1) or len(calls)) == 1
    assert one.memo("other", lambda: 5) == 5
    assert frame("confidence").memo("key", lambda: 9) == 9
