"""Estimates beside each other: a dot, its interval, and the truth as a line through all of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from fieldcheck.core import words
from fieldcheck.core.exhibit import IntervalChart, IntervalRow
from fieldcheck.report.charts.axes import Plot, label_room, x_axis
from fieldcheck.report.charts.canvas import FONT, NARROW, arrow, canvas, listing, mark
from fieldcheck.report.scale import AxisScale, padded, shown_range, usable
from fieldcheck.report.svg import label, shorten, tag, text_width

NOT_TRUSTED = "not trusted"


@dataclass(frozen=True)
class _Layout:
    """Where the rows go; ``compact`` puts each name above its interval, for narrow paper."""

    chart: IntervalChart
    plot: Plot
    x: AxisScale
    pitch: float
    compact: bool

    def middle(self, row: int) -> float:
        return self.plot.top + self.pitch * (row + (0.68 if self.compact else 0.5))


def draw_intervals(chart: IntervalChart, *, width: float) -> Markup:
    """The chart as SVG. An end that lies far outside of what the others need is cut off with an arrow."""
    layout = _lay_out(chart, width)
    parts = [
        x_axis(layout.plot, layout.x, title=chart.x_label, ticks=layout.x.ticks(6), grid=True),
        _truth(layout),
        *(_row(layout, index, row) for index, row in enumerate(chart.rows)),
    ]
    rows = listing(_in_words(layout.x, row) for row in chart.rows)
    words = f"Estimates with intervals of {chart.x_label}: {rows}."
    height = layout.plot.bottom + 46
    return canvas(parts, name=chart.name, title=chart.title, description=words, width=width, height=height)


def _lay_out(chart: IntervalChart, width: float) -> _Layout:
    compact = width < NARROW
    pitch = 40.0 if compact else 28.0
    left = 8.0 if compact else label_room([row.label for row in chart.rows], size=FONT, most=190) + 16
    low, high = padded(*_range(chart), share=0.05)
    figures = [_figures(AxisScale(low, high, 0, 1, share=chart.share), row) for row in chart.rows]
    right = width - (10 if compact else label_room(figures, size=FONT, most=260) + 22)
    plot = Plot(left, 24, right, 24 + pitch * max(len(chart.rows), 1) + 6)
    return _Layout(chart, plot, AxisScale(low, high, left, right, share=chart.share), pitch, compact)


def _range(chart: IntervalChart) -> tuple[float, float]:
    """What trusted rows and the truth need; where none is trusted, what the estimates need."""
    truth = () if chart.truth is None else (chart.truth,)
    trusted = [v for row in chart.rows if row.trusted for v in (row.low, row.value, row.high)]
    if not usable(trusted):
        trusted = [v for row in chart.rows for v in (row.low, row.value, row.high)]
    return shown_range(trusted, keep=tuple(usable(truth)))


def _truth(layout: _Layout) -> Markup:
    truth, plot = layout.chart.truth, layout.plot
    if truth is None or math.isnan(truth):
        return Markup()
    x, words = layout.x.held(truth), f"{layout.chart.truth_label} {layout.x.written(truth)}"
    half = text_width(words, FONT) / 2
    middle = min(max(x, half), plot.right - half)
    return _truth_line(layout, x) + label(words, x=middle, y=plot.top - 10, class_="legend", text_anchor="middle")


def _truth_line(layout: _Layout, x: float) -> Markup:
    """One line through all rows, or a piece for each where the names above the rows must stay readable."""
    pieces = [(layout.plot.top - 6, layout.plot.bottom)]
    if layout.compact:
        middles = [layout.middle(row) for row in range(len(layout.chart.rows))]
        pieces = [(y - 9, y + 11) for y in middles]
    return Markup().join(tag("line", class_="reference", x1=x, x2=x, y1=top, y2=bottom) for top, bottom in pieces)


def _row(layout: _Layout, index: int, row: IntervalRow) -> Markup:
    y = layout.middle(index)
    body = [*_whisker(layout, row, y), *_value(layout, row, y)]
    classes = "interval" if row.trusted else "interval untrusted"
    return Markup().join(
        [tag("g", tag("title", _in_words(layout.x, row)), *body, class_=classes), *_names(layout, row, y)]
    )


def _whisker(layout: _Layout, row: IntervalRow, y: float) -> Iterator[Markup]:
    if math.isnan(row.low) or math.isnan(row.high):
        return
    scale, low, high = layout.x, *sorted((row.low, row.high))
    yield tag("line", class_="whisker", x1=scale.held(low), x2=scale.held(high), y1=y, y2=y)
    for end, side in ((low, -1), (high, 1)):
        yield _whisker_end(layout, end, side, y)


def _whisker_end(layout: _Layout, end: float, side: int, y: float) -> Markup:
    x = layout.x.held(end)
    if layout.x.side(end) == side:
        return arrow(90.0 - 90 * side, x=x, y=y, words=f"goes on to {layout.x.written(end)}", colour="s0", kind="end")
    return tag("line", class_="cap", x1=x, x2=x, y1=y - 5, y2=y + 5)


def _value(layout: _Layout, row: IntervalRow, y: float) -> Iterator[Markup]:
    side = layout.x.side(row.value)
    if math.isnan(row.value):
        return
    x = layout.x.held(row.value)
    if side:
        yield arrow(90.0 - 90 * side, x=x, y=y, words=f"estimate {layout.x.written(row.value)}", colour="s1")
    else:
        yield mark(0, x=x, y=y, size=5)


def _names(layout: _Layout, row: IntervalRow, y: float) -> Iterator[Markup]:
    plot, muted = layout.plot, "legend" if row.trusted else "legend faint"
    if layout.compact:
        figures = _figures(layout.x, row)
        room = plot.right - text_width(figures, 11) - 14
        yield label(shorten(row.label, room, size=FONT), x=0, y=y - 13, full=row.label, class_=muted)
        yield label(figures, x=plot.right, y=y - 13, size=11, class_=muted, text_anchor="end")
        return
    words = shorten(row.label, plot.left - 16, size=FONT)
    yield label(words, x=plot.left - 12, y=y + 4, full=row.label, class_=muted, text_anchor="end")
    yield label(shorten(_figures(layout.x, row), 260, size=FONT), x=plot.right + 14, y=y + 4, class_=muted)


def _figures(scale: AxisScale, row: IntervalRow) -> str:
    if math.isnan(row.value):
        return row.remark or "no estimate"
    known = not (math.isnan(row.low) or math.isnan(row.high))
    bounds = f" [{scale.written(row.low)}, {scale.written(row.high)}]" if known else ""
    return f"{scale.written(row.value)}{bounds}" + ("" if row.trusted else f" {NOT_TRUSTED}")


def _in_words(scale: AxisScale, row: IntervalRow) -> str:
    return f"{row.label}: {_figures(scale, row)}".replace(words.MISSING, "unknown")
