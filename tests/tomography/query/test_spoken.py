"""Queries as people say them."""

from __future__ import annotations

import pytest

from fieldcheck.core.errors import QueryError
from fieldcheck.core.space import Axis, Space
from fieldcheck.tomography.query import parse

SPACE = Space((Axis("motion-blur", 5), Axis("brightness", 5), Axis("zoom", 5)))


def test_the_sentence_of_the_abstract_is_a_query() -> None:
    said = parse("low blur, high brightness, and medium zoom", SPACE).tests()
    written = parse("motion-blur <= 2 and motion-blur >= 1 and brightness >= 4 and zoom = 3", SPACE).tests()
    assert said.tolist() == written.tolist()
    assert len(said) == 4


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("blur > 2", "motion-blur > 2"),
        ("low blur or high zoom", "motion-blur in {1, 2} or zoom in {4, 5}"),
        ("zoom in {1, 2}, blur = 0", "zoom in {1, 2} and motion-blur = 0"),
        ("not (medium zoom)", "zoom != 3"),
    ],
)
def test_other_ways(said: str, written: str) -> None:
    assert parse(said, SPACE).tests().tolist() == parse(written, SPACE).tests().tolist()


@pytest.mark.parametrize(
    "wrong", ["low blur high zoom", "low", "low nothing", "blurry blur", "low blur,", ", low blur"]
)
def test_what_means_nothing_is_said(wrong: str) -> None:
    with pytest.raises(QueryError):
        parse(wrong, SPACE)


def test_two_blurs_are_asked_about() -> None:
    with pytest.raises(QueryError, match="which 'blur'"):
        parse("low blur", Space((Axis("motion-blur", 5), Axis("glass-blur", 5))))


def test_words_that_the_space_file_leaves_alone_keep_their_meaning() -> None:
    """Medium is said to be 2 and 3: low would share 2 with it and means nothing, high is 4 and 5 as ever."""
    space = Space(
        (Axis("zoom", 5, words={"medium": (2, 3)}), Axis("fog", 5, words={"Medium": (3, 3), "dense": (5, 5)}))
    )
    for words, levels in (("medium zoom", {2, 3}), ("high zoom", {4, 5})):
        assert set(space.severities(parse(words, space).tests())[:, 0].tolist()) == levels
    for words, levels in (("low fog", {1, 2}), ("medium fog", {3}), ("high fog", {4, 5}), ("dense fog", {5})):
        assert set(space.severities(parse(words, space).tests())[:, 1].tolist()) == levels
    with pytest.raises(QueryError, match="'low' is no level of zoom"):
        parse("low zoom", space)
