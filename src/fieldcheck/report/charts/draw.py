"""Which function draws which chart; a chart within a page, and a chart as a file of its own."""

from __future__ import annotations

from importlib.resources import files
from math import isnan

from markupsafe import Markup

from fieldcheck.core.exhibit import BarChart, IntervalChart, LineChart, Matrix
from fieldcheck.report import palette
from fieldcheck.report.charts.bars import draw_bars
from fieldcheck.report.charts.canvas import canvas
from fieldcheck.report.charts.intervals import draw_intervals
from fieldcheck.report.charts.lines import draw_lines
from fieldcheck.report.charts.matrix import draw_matrix
from fieldcheck.report.svg import label, tag

Chart = LineChart | IntervalChart | BarChart | Matrix


WIDE, PHONE = 760.0, 358.0


def draw(chart: Chart, *, width: float = WIDE) -> Markup:
    """The chart as inline SVG, coloured by the style sheet of the page around it."""
    if _is_empty(chart):
        return _nothing(chart, width=width)
    if isinstance(chart, LineChart):
        return draw_lines(chart, width=width)
    if isinstance(chart, IntervalChart):
        return draw_intervals(chart, width=width)
    if isinstance(chart, BarChart):
        return draw_bars(chart, width=width)
    return draw_matrix(chart, width=width)


def _is_empty(chart: Chart) -> bool:
    if isinstance(chart, LineChart):
        return all(isnan(y) for line in chart.lines for y in line.y)
    if isinstance(chart, BarChart):
        return all(isnan(value) for row in chart.values for value in row)
    return not chart.rows or (isinstance(chart, Matrix) and not chart.columns)


def _nothing(chart: Chart, *, width: float) -> Markup:
    words = label("nothing to show", x=width / 2, y=32, class_="axis-title", text_anchor="middle")
    return canvas([words], name=chart.name, title=chart.title, description="No values.", width=width, height=56)


def svg_file(chart: Chart, *, width: float = WIDE) -> str:
    """The chart as a file of its own, in the colours for white paper, as drawing programs read it."""
    style = palette.resolved(chart_css(), palette.LIGHT)
    inline = draw(chart, width=width)
    opening, rest = inline.split(">", 1)
    return f"{opening}>{tag('style', Markup(style))}{rest}\n"  # noqa: S704 -- our own style sheet


def chart_css() -> str:
    """The style sheet that all charts share."""
    return (files("fieldcheck.report") / "templates" / "chart.css").read_text(encoding="utf-8")
