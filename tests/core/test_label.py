"""From what people write to losses."""

from __future__ import annotations

import unicodedata

import pytest

from fieldcheck.core.errors import LabelError
from fieldcheck.core.label import SheetLabel, classification_losses, regression_offsets


def answers(*texts: str) -> list[SheetLabel]:
    return [SheetLabel(f"item{at}", at + 2, text) for at, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("texts", "predictions", "classes", "losses"),
    [
        (["cat", "dog"], ["cat", "cat"], ["cat", "dog"], [0, 1]),
        (["right", "wrong"], ["cat", "cat"], ["cat", "dog"], [0, 1]),
        (["Pass", "FAIL"], ["cat", "cat"], ["cat", "dog"], [0, 1]),
        (["1", "0"], ["1", "1"], ["0", "1"], [0, 1]),
        (["7", "7.0", "8"], ["7", "7", "7"], ["7", "8"], [0, 0, 1]),
        (["CAT", "Dog"], ["cat", "cat"], ["cat", "dog"], [0, 1]),
        (["A", "a"], ["a", "a"], ["A", "a"], [1, 0]),
        (["yes", "no"], ["yes", "yes"], ["no", "yes"], [0, 1]),
        (["TRUE", "FALSE"], ["true", "true"], ["false", "true"], [0, 1]),
        ([unicodedata.normalize("NFD", "grün")], ["grün"], ["grün", "rot"], [0]),
        (["right", "wrong"], None, [], [0, 1]),
        (["1", "0"], None, [], [0, 1]),
    ],
)
def test_losses(texts: list[str], predictions: list[str] | None, classes: list[str], losses: list[float]) -> None:
    assert classification_losses(answers(*texts), predictions, classes) == (losses, ())


def test_an_unknown_class_is_a_failure_and_is_named() -> None:
    losses, (warning,) = classification_losses(answers("cat", "cow"), ["cat", "cat"], ["cat", "dog"])
    assert losses == [0, 1]
    assert "first 'cow' for item 'item1' on line 3" in warning


def test_outcome_words_among_classes_are_unknown_classes() -> None:
    losses, warnings = classification_losses(answers("cat", "right"), ["cat", "cat"], ["cat", "dog"])
    assert losses == [0, 1]
    assert "'right'" in warnings[0]


@pytest.mark.parametrize(
    ("texts", "predictions", "classes"),
    [(["1", "0"], ["cat", "cat"], ["cat", "dog"]), (["right", "cat"], None, [])],
)
def test_ambiguous_labels_are_refused(texts: list[str], predictions: list[str] | None, classes: list[str]) -> None:
    with pytest.raises(LabelError):
        classification_losses(answers(*texts), predictions, classes)


def test_offsets() -> None:
    assert regression_offsets(answers("1.5", "-2", "1e1"), [1.0, 1.0, 10.0]) == [0.5, 3.0, 0.0]


@pytest.mark.parametrize("text", ["", "three", "1,5", "nan", "inf", "-Infinity"])
def test_a_number_is_finite_and_has_a_decimal_point(text: str) -> None:
    with pytest.raises(LabelError, match="item1"):
        regression_offsets(answers("1", text), [0.0, 0.0])
