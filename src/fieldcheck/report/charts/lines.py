"""A line chart: bands, a line and markers per series, named at the ends of the lines or in a legend."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from fieldcheck.core.exhibit import Line, LineChart
from fieldcheck.core.words import short
from fieldcheck.report import palette
from fieldcheck.report.charts import legend
from fieldcheck.report.charts.axes import TICK, Plot, label_room, x_axis, y_axis
from fieldcheck.report.charts.canvas import FONT, NARROW, arrow, canvas, listing, mark, path
from fieldcheck.report.scale import AxisScale, padded, shown_range, usable
from fieldcheck.report.svg import label, shorten, tag

MOST_END_LABELS = 14


@dataclass(frozen=True)
class _Layout:
    """What a line chart needs to know about its paper."""

    chart: LineChart
    plot: Plot
    x: AxisScale
    y: AxisScale
    names: tuple[str, ...]
    height: float
    end_labels: bool


def draw_lines(chart: LineChart, *, width: float) -> Markup:
    """The chart as SVG. Values that no axis can show (nan, zero on a log axis) interrupt their line."""
    layout = _lay_out(chart, width)
    inner = [_series(layout, index, line) for index, line in enumerate(chart.lines)]
    parts = [
        y_axis(layout.plot, layout.y, title=chart.y_label),
        x_axis(layout.plot, layout.x, title=chart.x_label, ticks=_x_ticks(layout)),
        _clipped(layout.plot, [_bands(layout), _reference(layout), *inner]),
        *(_points(layout, index, line) for index, line in enumerate(chart.lines)),
        _end_labels(layout) if layout.end_labels else _legend(layout, width),
    ]
    words = f"Line chart of {chart.y_label} against {chart.x_label}: {listing(layout.names)}."
    return canvas(parts, name=chart.name, title=chart.title, description=words, width=width, height=layout.height)


def _lay_out(chart: LineChart, width: float) -> _Layout:
    names = tuple(line.label for line in chart.lines) + ((_reference_name(chart),) if _has_reference(chart) else ())
    end_labels = width >= NARROW and 0 < len(names) <= MOST_END_LABELS
    low, high = _y_range(chart)
    beside = label_room(names, size=FONT, most=150) + 42 if end_labels else 14
    below = 46 if end_labels else 52 + legend.places(names, left=0, width=width)[1]
    tall = 380.0 if width >= NARROW else 250.0 + 46
    written = AxisScale(low, high, 0, 1, log=chart.y_log, share=chart.share)
    ticks = written.labels(written.ticks())
    plot = Plot(label_room(ticks) + 12, 30, width - beside, tall - 46)
    x_range = padded(*_x_range(chart), share=0.03, log=chart.x_log)
    x = AxisScale(*x_range, plot.left, plot.right, log=chart.x_log)
    y = AxisScale(low, high, plot.bottom, plot.top, log=chart.y_log, share=chart.share)
    return _Layout(chart, plot, x, y, names, plot.bottom + below, end_labels)


def _x_range(chart: LineChart) -> tuple[float, float]:
    xs = usable((x for line in chart.lines for x in line.x), log=chart.x_log)
    return shown_range((min(xs), max(xs)) if xs else (), log=chart.x_log)


def _y_range(chart: LineChart) -> tuple[float, float]:
    """The lines decide; bands and the reference widen the range to at most twice what the lines need.

    One line alone is there for its band and for what it is held against: all of them are shown. Of shares all values
    are, too: where one falls far below the others is what the chart is looked at for.
    """
    values = [y for line in chart.lines for y in line.y]
    edges = usable((v for line in chart.lines for v in (*line.low, *line.high)), log=chart.y_log)
    alone = len(chart.lines) == 1 and bool(edges)
    keep = (min(edges), max(edges), *_references(chart)) if alone else ()
    keep += tuple(usable(values)) if chart.share else ()
    low, high = shown_range([*values, *_references(chart)], log=chart.y_log, keep=keep)
    if edges and not alone and not chart.y_log:
        room = (high - low) / 2
        low, high = max(min(low, *edges), low - room), min(max(high, *edges), high + room)
    return padded(low, high, log=chart.y_log)


def _references(chart: LineChart) -> tuple[float, ...]:
    return (chart.reference,) if _has_reference(chart) and chart.reference is not None else ()


def _has_reference(chart: LineChart) -> bool:
    return chart.reference is not None and bool(usable([chart.reference], log=chart.y_log))


def _reference_name(chart: LineChart) -> str:
    return chart.reference_label or "reference"


def _x_ticks(layout: _Layout) -> tuple[float, ...]:
    """The measured places themselves where they are few, else round values."""
    chart = layout.chart
    measured = sorted({x for line in chart.lines for x in usable(line.x, log=chart.x_log)})
    return tuple(measured) if 0 < len(measured) <= 8 else layout.x.ticks(6)


def _clipped(plot: Plot, parts: Sequence[Markup]) -> Markup:
    """The parts, moved into an inner drawing that hides what leaves the plot area."""
    shifted = tag("g", *parts, transform=f"translate({-plot.left:.2f} {-plot.top:.2f})")
    return tag("svg", shifted, x=plot.left, y=plot.top, width=plot.width, height=plot.height, overflow="hidden")


def _runs(layout: _Layout, *columns: Sequence[float]) -> Iterator[list[tuple[float, ...]]]:
    """Stretches of neighbouring points that can be joined: x and the columns, all of them showable."""
    run = list[tuple[float, ...]]()
    for row in zip(*columns, strict=False):
        if usable(row[:1], log=layout.x.log) and all(_joins(layout, value) for value in row[1:]):
            run.append(row)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _joins(layout: _Layout, value: float) -> bool:
    return not math.isnan(value) and (value > 0 or not layout.y.log)


def _series(layout: _Layout, index: int, line: Line) -> Markup:
    strokes = list[Markup]()
    for run in _runs(layout, line.x, line.y):
        points = [(layout.x.at(x), layout.y.at(y)) for x, y in run]
        classes = f"line {palette.colour_class(index)}"
        strokes.append(tag("path", class_=classes, d=path(points), stroke_dasharray=palette.dash(index) or None))
    return Markup().join(strokes)


def _bands(layout: _Layout) -> Markup:
    """All bands, under all lines; fainter the more there are."""
    shapes = list[Markup]()
    opacity = 0.18 if len(layout.chart.lines) <= 3 else 0.07
    for index, line in enumerate(layout.chart.lines):
        for run in _runs(layout, line.x, line.low, line.high):
            upper = [(layout.x.at(x), layout.y.at(high)) for x, _, high in run]
            lower = [(layout.x.at(x), layout.y.at(low)) for x, low, _ in reversed(run)]
            classes = f"band {palette.colour_class(index)}"
            shapes.append(tag("path", class_=classes, d=path(upper + lower) + "Z", fill_opacity=opacity))
    return Markup().join(shapes)


def _reference(layout: _Layout) -> Markup:
    return Markup().join(
        tag("line", class_="reference", x1=layout.plot.left, x2=layout.plot.right, y1=y, y2=y)
        for y in map(layout.y.at, _references(layout.chart))
    )


def _points(layout: _Layout, index: int, line: Line) -> Markup:
    return Markup().join(
        _point(layout, index, x=x, y=y, words=f"{line.label}, {short(x)}: {layout.y.written(y)}")
        for run in _runs(layout, line.x, line.y)
        for x, y in run
    )


def _point(layout: _Layout, index: int, *, x: float, y: float, words: str) -> Markup:
    left, top, side = layout.x.at(x), layout.y.held(y), layout.y.side(y)
    if side:
        sign = arrow(-90.0 * side, x=left, y=top, words=words, colour=palette.colour_class(index))
        return sign + label(layout.y.written(y), x=left + 8, y=top + (10 if side > 0 else -2), size=TICK, class_="halo")
    return mark(index, x=left, y=top, words=words, size=4 if layout.end_labels else 3.4)


def _swatch(layout: _Layout, index: int, x: float, y: float) -> Markup:
    if index >= len(layout.chart.lines):
        return tag("line", class_="reference", x1=x, x2=x + 20, y1=y, y2=y)
    classes, dashes = f"line {palette.colour_class(index)}", palette.dash(index) or None
    stroke = tag("path", class_=classes, d=path([(x, y), (x + 20, y)]), stroke_dasharray=dashes)
    return stroke + mark(index, x=x + 10, y=y, kind="swatch", size=3.6)


def _legend(layout: _Layout, width: float) -> Markup:
    def swatch(index: int, x: float, y: float) -> Markup:
        return _swatch(layout, index, x, y)

    return legend.rows(layout.names, left=0, top=layout.plot.bottom + 46, width=width, swatch=swatch)


def _end_labels(layout: _Layout) -> Markup:
    """Each name level with the end of its line, moved up or down as far as its neighbours need."""
    plot, ends = layout.plot, [_end(layout, line) for line in layout.chart.lines]
    ends += [(layout.plot.right, layout.y.at(value)) for value in _references(layout.chart)]
    heights = legend.spread([y for _, y in ends], gap=16, low=plot.top + 2, high=plot.bottom - 2)
    parts = list[Markup]()
    for index, ((x, y), height, name) in enumerate(zip(ends, heights, layout.names, strict=True)):
        colour = palette.colour_class(index) if index < len(layout.chart.lines) else "reference"
        leader = path([(x + 6, y), (plot.right + 8, y), (plot.right + 20, height), (plot.right + 24, height)])
        words = shorten(name, 150, size=FONT)
        parts.append(tag("path", class_=f"leader {colour}", d=leader))
        parts.append(_sign(index, layout, x=plot.right + 29, y=height))
        parts.append(label(words, x=plot.right + 38, y=height + 4, full=name, class_="legend"))
    return Markup().join(parts)


def _sign(index: int, layout: _Layout, *, x: float, y: float) -> Markup:
    """The sign before a name at the end of its line."""
    if index < len(layout.chart.lines):
        return mark(index, x=x, y=y, kind="swatch", size=3.6)
    return tag("line", class_="reference", x1=x - 4, x2=x + 5, y1=y, y2=y)


def _end(layout: _Layout, line: Line) -> tuple[float, float]:
    """Where the line's last drawn point is; the middle of the right edge for a line without any."""
    runs = list(_runs(layout, line.x, line.y))
    if not runs:
        return layout.plot.right, (layout.plot.top + layout.plot.bottom) / 2
    x, y = runs[-1][-1]
    return layout.x.at(x), layout.y.held(y)
