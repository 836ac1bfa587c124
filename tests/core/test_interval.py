"""Intervals know what they contain and move with the scale."""

from __future__ import annotations

import pytest

from fieldcheck.core.interval import KINDS, Interval


def test_contains_its_ends() -> None:
    interval = Interval(0.1, 0.3)
    assert [value in interval for value in (0.1, 0.2, 0.3, 0.09, 0.31)] == [True, True, True, False, False]
    assert interval.width == pytest.approx(0.2)


def test_a_falling_function_swaps_the_ends() -> None:
    moved = Interval(0.1, 0.3, 0.9, "exact", "m", False, "n").map(lambda x: 1 - x)
    assert (moved.low, moved.high) == pytest.approx((0.7, 0.9))
    assert (moved.level, moved.kind, moved.method, moved.trusted, moved.note) == (0.9, "exact", "m", False, "n")


def test_every_kind_has_words() -> None:
    assert set(KINDS) == {"exact", "asymptotic", "anytime", "model-based", "none"}
    assert all(KINDS.values())
