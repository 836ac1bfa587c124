"""Samples and their labels."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldcheck.core.draws import StepDraws, StratifiedDraws
from fieldcheck.core.errors import LabelError, SampleError
from fieldcheck.core.sample import Labelled, Sample

SAMPLE = Sample(9, np.array([4, 2, 4, 7]), "stratified", StratifiedDraws(np.arange(4), np.array([5, 4])))


def test_items_are_labelled_once_in_draw_order() -> None:
    assert len(SAMPLE) == 4
    assert SAMPLE.to_label().tolist() == [4, 2, 7]


def test_prefix() -> None:
    start = SAMPLE.prefix(2)
    assert (start.items.tolist(), start.draws.stratum.tolist()) == ([4, 2], [0, 1])
    assert start.draws.sizes.tolist() == [5, 4]


def test_one_value_per_draw() -> None:
    with pytest.raises(SampleError, match="'stratum' for 3 draws"):
        Sample(9, np.arange(3), "stratified", StratifiedDraws(np.arange(2), np.array([5, 4])))


floats = st.floats(allow_nan=False, allow_infinity=False)


@given(
    items=st.lists(st.integers(0, 10**7), max_size=20),
    weight=floats,
    complete=st.booleans(),
    warnings=st.lists(st.text(), max_size=3),
)
def test_records_are_exact(items, weight: float, complete: bool, warnings) -> None:
    sample = Sample(
        10**7 + 1,
        np.array(items, dtype=np.int64),
        "adaptive",
        StepDraws(np.full(len(items), weight), weight),
        complete,
        tuple(warnings),
    )
    again = Sample.from_record(json.loads(json.dumps(sample.as_record())))
    assert again.as_record() == sample.as_record()
    assert again.items.dtype == np.int64


def labelled(losses) -> Labelled:
    values = np.array(losses, dtype=float)
    return Labelled(SAMPLE, values, values > 0)


def test_items_drawn_twice_count_once() -> None:
    found = labelled([1, 0, 1, 1])
    assert (found.labels, found.failures) == (3, 2)


@pytest.mark.parametrize("losses", [[1, 0], [1, 0, 1, np.nan], [1, 0, 1, np.inf]])
def test_labels_must_be_there(losses) -> None:
    with pytest.raises(LabelError):
        labelled(losses)
