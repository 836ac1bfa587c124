"""The one reader of labels."""

from __future__ import annotations

import unicodedata

import pytest

from fieldcheck.campaign.labels import read
from fieldcheck.core.errors import LabelError
from fieldcheck.core.label import Label, Missing, Outcome, TrueClass, Value

ANIMALS = ("cat", "dog", "grün", "7")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cat", TrueClass("cat")),
        (" DOG ", TrueClass("dog")),
        ("7.0", TrueClass("7")),
        (unicodedata.normalize("NFD", "grün"), TrueClass("grün")),
        ("right", TrueClass("cat")),
        ("Pass", TrueClass("cat")),
        ("wrong", Outcome(right=False)),
        ("?", Missing()),
        ("skip", Missing()),
        ("unclear", Missing("unclear")),
    ],
)
def test_what_a_text_says(text: str, said: Label) -> None:
    assert read(text, task="classification", classes=ANIMALS, prediction="cat") == said


@pytest.mark.parametrize(
    ("text", "classes", "said"),
    [
        ("A", ("A", "a"), TrueClass("A")),
        ("a", ("A", "a"), TrueClass("a")),
        ("yes", ("no", "yes"), TrueClass("yes")),
        ("FALSE", ("false", "true"), TrueClass("false")),
        ("1", ("0", "1"), TrueClass("1")),
        ("unknown", ("Unknown", "cat"), TrueClass("Unknown")),
        ("1", (), Outcome(right=True)),
        ("no", (), Outcome(right=False)),
        ("right", ("cat",), Outcome(right=True)),
    ],
)
def test_a_word_is_a_class_first(text: str, classes: tuple[str, ...], said: Label) -> None:
    assert read(text, task="classification", classes=classes) == said


@pytest.mark.parametrize("text", ["1.5", " 1.5 ", "15e-1"])
def test_a_number(text: str) -> None:
    assert read(text, task="regression", prediction=1.0) == Value(1.5)


@pytest.mark.parametrize("text", ["", "three", "1,5", "nan", "inf", "-Infinity", "right"])
def test_a_number_is_finite_and_has_a_decimal_point(text: str) -> None:
    with pytest.raises(LabelError, match="'x' on line 7 is not a number"):
        read(text, task="regression", item="x", where="line 7")


def test_a_misspelt_class_is_refused_and_the_close_one_named() -> None:
    with pytest.raises(LabelError, match="label 'Kat' of item 'x' on line 7 is no class") as caught:
        read("Kat", task="classification", classes=ANIMALS, prediction="cat", item="x", where="line 7")
    assert caught.value.hint.startswith("cat; or --new-class")


def test_a_class_of_its_own_is_declared() -> None:
    with pytest.raises(LabelError) as caught:
        read("zebra", task="classification", classes=ANIMALS, prediction="cat")
    assert "--new-class 'zebra'" in caught.value.hint
    assert read("Zebra", task="classification", classes=(*ANIMALS, "zebra"), prediction="cat") == TrueClass("zebra")


@pytest.mark.parametrize(
    ("text", "classes", "hint"), [("1", ("cat", "dog"), "right or wrong instead"), ("cat", (), "right or wrong for")]
)
def test_what_may_mean_two_things_is_refused(text: str, classes: tuple[str, ...], hint: str) -> None:
    with pytest.raises(LabelError) as caught:
        read(text, task="classification", classes=classes, prediction="cat")
    assert hint in caught.value.hint
