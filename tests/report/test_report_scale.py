"""Axes: ticks are round, increasing and inside; a few far values do not flatten the rest."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldcheck.core.words import column_decimals, count, in_column, percent, short
from fieldcheck.report.charts.legend import places, spread
from fieldcheck.report.scale import AxisScale, linear_ticks, log_ticks, shown_range, tick_labels

finite = st.floats(-1e12, 1e12)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.0, 1.0, (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        (-1.0, 1.0, (-1.0, -0.5, 0.0, 0.5, 1.0)),
        (50.0, 800.0, (200.0, 400.0, 600.0, 800.0)),
        (0.873, 0.9441, (0.88, 0.9, 0.92, 0.94)),
    ],
)
def test_linear_ticks_are_multiples_of_1_2_or_5(low: float, high: float, ticks: tuple[float, ...]) -> None:
    assert linear_ticks(low, high) == pytest.approx(ticks)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.001, 10.0, (0.001, 0.01, 0.1, 1.0, 10.0)),
        (50.0, 800.0, (50.0, 100.0, 200.0, 500.0)),
        (0.31, 0.48, (0.35, 0.4, 0.45)),
    ],
)
def test_log_ticks_are_decades_then_finer(low: float, high: float, ticks: tuple[float, ...]) -> None:
    assert log_ticks(low, high) == pytest.approx(ticks)


@given(values=st.lists(finite, min_size=1, max_size=8), log=st.booleans())
def test_ticks_increase_stay_inside_and_have_different_labels(values: list[float], log: bool) -> None:
    low, high = shown_range(values, log=log)
    ticks = AxisScale(low, high, 0, 100, log=log).ticks()
    slack = 1e-6 * (high - low)
    assert ticks
    assert all(a < b for a, b in pairwise(ticks))
    assert all(low - slack <= tick <= high + slack for tick in ticks)
    assert len(set(tick_labels(ticks))) == len(ticks)


@given(values=st.lists(finite, min_size=2, max_size=20))
def test_scale_maps_the_range_onto_its_ends(values: list[float]) -> None:
    low, high = shown_range(values)
    scale = AxisScale(low, high, 300.0, 20.0)
    assert scale.at(low) == pytest.approx(300)
    assert scale.at(high) == pytest.approx(20)
    assert all(20 - 1e-6 <= scale.held(value) <= 300 + 1e-6 for value in values)


def test_one_far_value_is_left_out_of_the_range() -> None:
    values = [0.88, 0.9, 0.91, 0.92, 0.95]
    assert shown_range([*values, -6.9]) == (0.88, 0.95)
    assert shown_range([*values, 0.5, 1.0])[0] == 0.88
    assert shown_range([0.1, 0.4, 0.9, 1.2]) == (0.1, 1.2)


def test_nothing_to_show_still_gives_a_range() -> None:
    assert shown_range([]) == (0.0, 1.0)
    assert shown_range([float("nan"), float("inf")]) == (0.0, 1.0)
    assert shown_range([-1.0, 0.0], log=True) == (1.0, 10.0)
    low, high = shown_range([0.7])
    assert low < 0.7 < high


@given(wanted=st.lists(st.floats(0, 100), max_size=15))
def test_spread_labels_keep_order_and_distance(wanted: list[float]) -> None:
    found = spread(wanted, gap=16, low=0, high=300)
    placed = sorted(found)
    assert all(b - a >= 16 - 1e-6 for a, b in pairwise(placed))
    assert all(-1e-6 <= height <= 300 + 1e-6 for height in found)
    assert all((a <= b) for (_, a), (_, b) in pairwise(sorted(zip(wanted, found, strict=True))))


@given(labels=st.lists(st.text(max_size=40), max_size=20), width=st.floats(120, 800))
def test_legend_entries_stay_on_the_paper(labels: list[str], width: float) -> None:
    found, height = places(labels, left=0, width=width)
    assert len(found) == len(labels) == len(set(found))
    assert all(0 <= x < width and 0 <= y < max(height, 1) for x, y in found)


def test_numbers_as_people_read_them() -> None:
    assert [short(v) for v in (0.0, 0.91063, 1234.5, -6.9, 1.26e-8, 3e9)] == [
        "0", "0.911", "1,234", "−6.90", "1.26e−8", "3.00e9",
    ]  # fmt: skip
    assert (short(float("nan")), short(float("-inf"))) == ("–", "−∞")
    assert (percent(0.91349), count(-1234567), short(-0.0)) == ("91.3 %", "−1,234,567", "0")


def test_a_column_shares_its_decimals_but_wipes_nothing_out() -> None:
    column = [0.0312, 0.0287, 0.1401, 0.00004]
    decimals = column_decimals(column)
    assert [in_column(v, decimals) for v in column] == ["0.0312", "0.0287", "0.1401", "4.00e−5"]
    assert in_column(-0.00000001, 2) == "−1.00e−8"
    assert in_column(0.0, 3) == "0.000"
