"""Charts: well-formed, to scale, one mark per value, and no input that breaks them."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from math import inf, nan

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fieldcheck.core.exhibit import BarChart, Exhibit, IntervalChart, IntervalRow, Line, LineChart, Matrix, Table
from fieldcheck.report.charts import Chart, draw, svg_file
from fieldcheck.report.charts.draw import PHONE, WIDE

SVG = "{http://www.w3.org/2000/svg}"
WIDTHS = (WIDE, PHONE)


def parsed(chart: Chart, width: float = WIDE) -> ET.Element:
    return ET.fromstring(str(draw(chart, width=width)))  # noqa: S314 -- our own output


def marked(root: ET.Element, kind: str) -> list[ET.Element]:
    return [element for element in root.iter() if kind in element.get("class", "").split()]


def texts(root: ET.Element) -> str:
    return " | ".join("".join(element.itertext()) for element in root.iter(f"{SVG}text"))


def lines_of(*ys: tuple[float, ...], log: bool = False) -> LineChart:
    xs = (50.0, 100.0, 200.0, 400.0, 800.0)
    lines = tuple(Line(f"design {index}", xs, y) for index, y in enumerate(ys))
    return LineChart("a/b", "Title", "labels", "RMSE", lines, x_log=log, y_log=log)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_line_chart_has_a_marker_per_value_and_a_name_per_line(width: float) -> None:
    root = parsed(lines_of(*((0.1 * k, 0.2, 0.3, 0.4, 0.5) for k in range(10))), width)
    assert len(marked(root, "point")) == 50
    assert all(f"design {index}" in texts(root) for index in range(10))


def test_every_one_of_thirty_lines_looks_different() -> None:
    root = parsed(lines_of(*((float(k),) * 5 for k in range(30))))
    looks = {
        (line.get("class"), line.get("stroke-dasharray"), point.get("d"))
        for line, point in zip(marked(root, "line")[:30], marked(root, "point")[::5], strict=True)
    }
    assert len(looks) == 30


def test_gaps_interrupt_a_line() -> None:
    root = parsed(lines_of((0.1, 0.2, nan, 0.4, 0.5)))
    drawn = [path for path in marked(root, "line") if path.get("d", "").count("L") == 1]
    assert len(marked(root, "point")) == 4
    assert len(drawn) >= 2


def test_values_that_a_log_axis_cannot_show_are_left_out() -> None:
    assert len(marked(parsed(lines_of((0.1, 0.0, -1.0, 0.4, 0.5), log=True)), "point")) == 3


def test_a_far_value_becomes_an_arrow_at_the_edge_with_its_number() -> None:
    root = parsed(lines_of((0.91, 0.9, 0.92, 0.91, 0.9), (-6.9, 0.9, 0.93, 0.91, 0.9)))
    arrows = marked(root, "beyond")
    assert len(arrows) == 1
    assert "−6.90" in (arrows[0].findtext(f"{SVG}title") or "")
    assert not any("−" in "".join(tick.itertext()) for tick in marked(root, "ytick"))


def test_bars_are_as_long_as_their_values() -> None:
    chart = BarChart("b", "Bars", "group", "count", ("a", "b"), ("s",), ((10.0, 5.0),))
    first, second = (float(bar.get("height", 0)) for bar in marked(parsed(chart), "bar"))
    assert first == pytest.approx(2 * second, abs=0.02)  # coordinates have two decimals


@pytest.mark.parametrize("width", WIDTHS)
def test_a_bar_per_value_also_when_there_are_many(width: float) -> None:
    groups, series = tuple(f"subject {g}" for g in range(9)), tuple(f"design {s}" for s in range(10))
    values = tuple(tuple(float(s + g) for g in range(9)) for s in range(10))
    root = parsed(BarChart("b", "Bars", "subject", "failures", groups, series, values), width)
    bars = marked(root, "bar")
    assert len(bars) == 90
    assert min(min(float(b.get("width", 0)), float(b.get("height", 0))) for b in bars if b.get("x")) >= 0.5
    assert all(name in texts(root) for name in (*groups, *series))


def test_a_bar_that_would_flatten_the_others_is_cut_and_says_its_value() -> None:
    chart = BarChart("b", "Bars", "g", "RMSE", ("a", "b", "c", "d"), ("s",), ((0.03, 0.04, 0.05, 1.4),))
    root = parsed(chart)
    lengths = [float(bar.get("height", 0)) for bar in marked(root, "bar")]
    assert lengths[2] > 0.5 * lengths[3]
    assert len(marked(root, "gap")) == 1
    assert "1.40" in texts(root)


def test_a_bar_six_times_as_long_is_drawn_six_times_as_long() -> None:
    chart = BarChart("b", "Bars", "g", "bias", ("a", "b", "c", "d"), ("s",), ((0.1, 0.1, 0.1, 0.6),))
    *_, one, six = (float(bar.get("height", 0)) for bar in marked(parsed(chart), "bar"))
    assert six == pytest.approx(6 * one, abs=0.1)


@pytest.mark.parametrize(
    "chart",
    [
        LineChart("l", "T", "x", "y", (Line("a", (1.0,), (nan,)),)),
        IntervalChart("i", "T", "x", ()),
        BarChart("b", "T", "x", "y", ("a",), ("s",), ((nan,),)),
        Matrix("m", "T", (), (), ()),
    ],
)
def test_an_empty_chart_says_so(chart: Chart) -> None:
    assert texts(parsed(chart)) == "nothing to show"


def test_a_negative_bar_hangs_from_zero() -> None:
    chart = BarChart("b", "Bias", "group", "bias", ("a", "b"), ("s",), ((0.2, -0.2),))
    up, down = marked(parsed(chart), "bar")
    zero = float(up.get("y", 0)) + float(up.get("height", 0))
    assert float(down.get("y", 0)) == pytest.approx(zero, abs=0.02)


@pytest.mark.parametrize("width", WIDTHS)
def test_untrusted_intervals_say_so_and_do_not_stretch_the_axis(width: float) -> None:
    rows = (IntervalRow("srs", 0.9, 0.85, 0.95), IntervalRow("sups", -6.9, -19.0, 5.2, trusted=False))
    root = parsed(IntervalChart("i", "Intervals", "accuracy", rows, truth=0.91), width)
    ticks = ["".join(tick.itertext()) for tick in marked(root, "xtick")]
    assert "not trusted" in texts(root)
    assert len(marked(root, "untrusted")) == 1
    assert len(marked(root, "beyond")) == 3  # both ends and the estimate
    assert all(0.8 <= float(tick) <= 1 for tick in ticks)
    assert "truth 0.910" in texts(root)


def test_the_trusted_decide_the_axis_even_when_they_are_few() -> None:
    doubtful = tuple(IntervalRow(f"sups {k}", 0.5, -1.0 - k, 2.0 + k, trusted=False) for k in range(5))
    root = parsed(IntervalChart("i", "I", "accuracy", (IntervalRow("srs", 0.9, 0.85, 0.95), *doubtful)))
    ticks = ["".join(tick.itertext()) for tick in marked(root, "xtick")]
    assert all(0.8 <= float(tick) <= 1 for tick in ticks)


def test_intervals_are_to_scale() -> None:
    rows = (IntervalRow("a", 0.5, 0.25, 0.75), IntervalRow("b", 0.5, 0.0, 1.0))
    whiskers = marked(parsed(IntervalChart("i", "I", "x", rows)), "whisker")
    narrow, wide = (float(w.get("x2", 0)) - float(w.get("x1", 0)) for w in whiskers)
    assert wide == pytest.approx(2 * narrow, abs=0.03)


def test_a_matrix_has_a_cell_per_pair_coloured_by_sign() -> None:
    values = ((nan, 1.0, 0.0), (-1.0, nan, 0.3), (0.0, -0.3, nan))
    names = ("srs", "ssrs", "gbs")
    root = parsed(Matrix("m", "Dunn", names, names, values, texts=(("", "12–3", ""),)))
    kinds = [cell.get("class", "").split()[-1] for cell in marked(root, "cell")]
    assert kinds == ["none", "better", "same", "worse", "none", "better", "same", "worse", "none"]
    assert "12–3" in texts(root)


@pytest.mark.parametrize("width", WIDTHS)
def test_who_cannot_see_a_chart_gets_its_title_and_a_description(
    width: float, exhibits_with: Callable[[str], tuple[Exhibit, ...]]
) -> None:
    for chart in exhibits_with("some text"):
        if isinstance(chart, Table):
            continue
        root = parsed(chart, width)
        named = {element.get("id"): element.text for element in (root[0], root[1])}
        assert root.get("role") == "img"
        keys = (root.get("aria-labelledby") or "").split()
        assert keys == list(named)
        assert named[keys[0]] == "some text"


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", '"><b onload="x">&', "\x00\x1b\ud800\uffff"])
def test_hostile_text_stays_text(text: str, exhibits_with: Callable[[str], tuple[Exhibit, ...]]) -> None:
    for chart in exhibits_with(text):
        if isinstance(chart, Table):
            continue
        for width in WIDTHS:
            root = parsed(chart, width)
            names = {element.tag.removeprefix(SVG) for element in root.iter()}
            assert names <= {"svg", "title", "desc", "g", "path", "line", "rect", "text"}
            assert not any(key.startswith("on") for element in root.iter() for key in element.attrib)


def test_long_names_are_shortened_with_the_whole_at_hand() -> None:
    name = "a very long name of a technique with many parameters " * 3
    root = parsed(IntervalChart("i", "I", "x", (IntervalRow(name, 0.5, 0.4, 0.6),)))
    [shortened] = [t for t in root.iter(f"{SVG}text") if t.find(f"{SVG}title") is not None]
    assert (shortened.findtext(f"{SVG}title") or "").strip() == name.strip()
    assert "…" in "".join(shortened.itertext())


def test_a_file_needs_no_page_around_it() -> None:
    text = svg_file(lines_of((0.1, 0.2, 0.3, 0.4, 0.5)))
    root = ET.fromstring(text)  # noqa: S314
    assert "var(" not in text
    assert "#0072b2" in (root.findtext(f"{SVG}style") or "")


values = st.floats() | st.sampled_from([nan, inf, -inf, 0.0, 1e308, -1e308, 5e-324])
columns = st.lists(values, max_size=6).map(tuple)
words = st.text(max_size=12)
line = st.builds(Line, words, columns, columns, columns, columns)
line_charts = st.builds(
    LineChart, words, words, words, words, st.lists(line, max_size=4).map(tuple),
    x_log=st.booleans(), y_log=st.booleans(), reference=st.none() | values, reference_label=words,
)  # fmt: skip
interval_row = st.builds(IntervalRow, words, values, values, values, st.booleans())
interval_charts = st.builds(
    IntervalChart, words, words, words, st.lists(interval_row, max_size=5).map(tuple), st.none() | values
)
names = st.lists(words, max_size=4).map(tuple)
tables = st.lists(columns, max_size=4).map(tuple)
bar_charts = st.builds(BarChart, words, words, words, words, names, names, tables)
matrices = st.builds(Matrix, words, words, names, names, tables, st.lists(names, max_size=4).map(tuple))


@settings(max_examples=250, deadline=None)
@example(chart=lines_of((5e-324,)), width=WIDE)
@example(chart=lines_of((1e308, -1e308, inf, -inf, nan)), width=WIDE)
@given(chart=st.one_of(line_charts, interval_charts, bar_charts, matrices), width=st.sampled_from(WIDTHS))
def test_no_numbers_and_no_texts_break_a_chart(chart: Chart, width: float) -> None:
    root = parsed(chart, width)
    assert not any("nan" in value or "inf" in value for e in root.iter() for value in _geometry(e))


def _geometry(element: ET.Element) -> list[str]:
    keys = ("x", "y", "x1", "x2", "y1", "y2", "width", "height", "d", "transform", "viewBox")
    return [element.get(key, "") for key in keys]


def test_one_line_shows_its_whole_band_and_what_it_is_held_against() -> None:
    from fieldcheck.report.charts.lines import _y_range

    line = Line("estimate", (1.0, 2.0, 3.0), (0.2, 0.21, 0.2), (0.0, 0.1, 0.15), (0.9, 0.5, 0.3))
    low, high = _y_range(LineChart("c", "t", "x", "y", (line,), reference=0.95))
    assert low <= 0.0
    assert high >= 0.95


def test_shares_are_all_inside() -> None:
    """A perturbation that breaks the model is what the chart is looked at for, not an outlier."""
    from fieldcheck.report.charts.lines import _y_range

    fine = tuple(Line(f"fine {at}", (0.0, 1.0, 2.0), (0.92, 0.91, 0.9)) for at in range(4))
    chart = LineChart("c", "t", "x", "y", (*fine, Line("broken", (0.0, 1.0, 2.0), (0.92, 0.5, 0.1))), share=True)
    low, _ = _y_range(chart)
    assert low <= 0.1
    assert _y_range(replace(chart, share=False))[0] > 0.1
