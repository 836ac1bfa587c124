"""Numbers in sentences: one of a thing is one thing."""

from __future__ import annotations

import pytest

from fieldcheck.core.words import counted


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 labels"), (1, "1 label"), (2, "2 labels"), (1_200, "1,200 labels")]
)
def test_a_thing_or_several(number: int, words: str) -> None:
    assert counted(number, "label") == words


def test_both_forms_may_be_given() -> None:
    assert counted(1, "item waits", "items wait") == "1 item waits"
    assert counted(3, "item waits", "items wait") == "3 items wait"
