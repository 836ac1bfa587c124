"""What outputs mean: found out from a sample, held against every later batch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from fieldcheck.core.errors import ModelError
from fieldcheck.models.shared.outputs import Head, decide, stated

LOGITS = np.array([[2.0, -1.0, 0.5], [0.0, 0.0, 0.0]])
ROWS = np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]])


def found(raw: object, **given: object) -> tuple[Head, str]:
    array = np.asarray(raw)
    return decide(array, items=len(array), **{"task": None, "outputs": "auto", **given})  # type: ignore[arg-type]


def test_rows_that_sum_to_one_are_probabilities() -> None:
    head, said = found(ROWS)
    assert (head.kind, head.columns, head.task) == ("probabilities", 3, "classification")
    assert "probabilities" in said
    np.testing.assert_allclose(head.outputs(ROWS, 2), ROWS, atol=1e-15)


def test_other_rows_are_logits() -> None:
    head, said = found(LOGITS)
    assert head.kind == "logits"
    assert "softmax" in said
    e = np.exp([2.0, -1.0, 0.5])
    np.testing.assert_allclose(head.outputs(LOGITS, 2), [e / e.sum(), np.full(3, 1 / 3)], atol=1e-15)


def test_log_probabilities_become_probabilities() -> None:
    rows = np.array([[0.2, 0.5, 0.3]])
    np.testing.assert_allclose(found(np.log(rows))[0].outputs(np.log(rows), 1), rows, atol=1e-15)


def test_independent_sigmoids_are_not_taken_in_silence() -> None:
    assert "sigmoids" in found([[0.9, 0.8], [0.1, 0.3]])[1]


@pytest.mark.parametrize("shape", [(3,), (3, 1), (3, 1, 1)])
def test_a_single_column_between_0_and_1_is_the_probability_of_class_1(shape: tuple[int, ...]) -> None:
    raw = np.array([0.0, 0.25, 1.0]).reshape(shape)
    np.testing.assert_array_equal(found(raw)[0].outputs(raw, 3), [[1, 0], [0.75, 0.25], [0, 1]])


def test_a_single_column_elsewhere_needs_the_task() -> None:
    raw = np.array([-1.0, 3.0])
    with pytest.raises(ModelError, match="task"):
        found(raw)
    sigmoid = 1 / (1 + np.exp(-raw))
    outputs = found(raw, task="classification")[0].outputs(raw, 2)
    np.testing.assert_allclose(outputs, np.column_stack([1 - sigmoid, sigmoid]), atol=1e-15)
    np.testing.assert_array_equal(found(raw, task="regression")[0].outputs(raw, 2), raw)


def test_a_regression_between_0_and_1_is_a_regression_when_that_is_said() -> None:
    head, _ = found([0.2, 0.3], task="regression")
    np.testing.assert_array_equal(head.outputs(np.array([7.0]), 1), [7.0])


@pytest.mark.parametrize("later", [[1.7], [-0.4]])
def test_a_later_batch_that_contradicts_the_first_is_refused(later: list[float]) -> None:
    head, _ = found([0.2, 0.9])
    with pytest.raises(ModelError, match="first batch"):
        head.outputs(np.array([0.5, *later]), 2)


def test_later_rows_that_do_not_sum_to_one_are_refused_with_their_position() -> None:
    head, _ = found(ROWS)
    with pytest.raises(ModelError, match="item 1 "):
        head.outputs(np.array([[0.2, 0.5, 0.3], [0.2, 0.5, 0.4]]), 2)


def test_columns_may_not_change() -> None:
    with pytest.raises(ModelError, match="columns"):
        found(LOGITS)[0].outputs(LOGITS[:, :2], 2)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_what_is_not_finite_is_refused_with_its_position(bad: float, task: str) -> None:
    raw = np.array([1.0, 2.0, bad])
    with pytest.raises(ModelError, match="item 2 "):
        Head("values" if task == "regression" else "logits").outputs(raw, 3)


def test_a_class_that_cannot_be_may_have_minus_infinity() -> None:
    raw = np.array([[0.0, 0.0, -np.inf]])
    np.testing.assert_array_equal(found(raw)[0].outputs(raw, 1), [[0.5, 0.5, 0.0]])
    with pytest.raises(ModelError):
        found([[-np.inf, -np.inf]])


def test_whole_numbers_are_no_probabilities() -> None:
    with pytest.raises(ModelError, match="whole number"):
        found(np.array([0, 1, 1]))
    assert found(np.array([0, 1, 1]), task="regression")[0].kind == "values"


def test_names_are_no_numbers() -> None:
    with pytest.raises(ModelError, match="cat"):
        found(np.array(["cat", "dog"]))


@pytest.mark.parametrize("shape", [(2, 3, 4), (3, 2), ()])
def test_shapes_that_are_no_answer_per_item_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ModelError):
        decide(np.zeros(shape), items=2, task=None, outputs="auto")


def test_axes_of_one_are_left_out() -> None:
    np.testing.assert_array_equal(
        Head("logits").outputs(LOGITS[:, None, :, None], 2), Head("logits").outputs(LOGITS, 2)
    )


def test_what_the_user_says_counts() -> None:
    assert found(ROWS, outputs="logits")[0].kind == "logits"
    with pytest.raises(ModelError):
        found(LOGITS, outputs="probabilities")[0].outputs(LOGITS, 2)
    with pytest.raises(ModelError, match="regression"):
        stated("regression", "logits")
    with pytest.raises(ModelError, match="2 numbers"):
        found(LOGITS[:, :2], task="regression")[0].outputs(LOGITS[:, :2], 2)


def test_confidence_does_not_saturate_in_float32() -> None:
    outputs = Head("logits").outputs(np.array([[40.0, 10.0]], dtype=np.float32), 1)
    assert 0 < outputs[0, 1] < 1e-12


numbers = arrays.arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(2, 6)), elements=st.floats(-700, 700))


@given(numbers)
def test_logits_give_probabilities_that_keep_their_order(raw: np.ndarray) -> None:
    outputs = Head("logits").outputs(raw, len(raw))
    np.testing.assert_allclose(outputs.sum(axis=1), 1, atol=1e-12)
    assert outputs.min() >= 0
    assert np.all(
        np.take_along_axis(outputs, raw.argmax(axis=1)[:, None], axis=1) == outputs.max(axis=1, keepdims=True)
    )


@given(numbers)
def test_probabilities_in_half_precision_are_recognised_and_made_exact(raw: np.ndarray) -> None:
    half = Head("logits").outputs(raw, len(raw)).astype(np.float16).astype(np.float32)
    head, _ = found(half)
    assert head.kind == "probabilities"
    np.testing.assert_allclose(head.outputs(half, len(half)).sum(axis=1), 1, atol=1e-12)
