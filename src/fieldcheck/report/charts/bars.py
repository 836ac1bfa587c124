"""Groups of bars: upright where there is room for them and their names, else lying."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from fieldcheck.core.exhibit import BarChart
from fieldcheck.core.words import short
from fieldcheck.report import palette
from fieldcheck.report.charts import legend
from fieldcheck.report.charts.axes import TICK, Plot, label_room, x_axis, x_title, y_axis
from fieldcheck.report.charts.canvas import FONT, NARROW, canvas, listing, path
from fieldcheck.report.scale import AxisScale, shown_range, tick_labels
from fieldcheck.report.svg import label, shorten, tag, text_width, wrap

SQUEEZE = 12.0  # a bar invites comparing lengths, so it is only cut off where the others would vanish


THINNEST = 4.0  # pixels of an upright bar


_NUMERIC = re.compile(r"^[\s\[(<>≤≥]*[-+−]?[\d.∞]")


@dataclass(frozen=True)
class _Layout:
    """``along`` runs through the groups, ``value`` is the axis of the values; ``lying`` swaps the two."""

    chart: BarChart
    plot: Plot
    value: AxisScale
    step: float
    lying: bool

    @property
    def thickness(self) -> float:
        return self.step * 0.8 / max(len(self.chart.series), 1)

    def start(self, group: int, series: int) -> float:
        edge = self.plot.top if self.lying else self.plot.left
        return edge + self.step * (group + 0.1) + self.thickness * series

    @property
    def every(self) -> int:
        """How many groups share one name, so that names do not touch; of words, none can be left out."""
        groups = self.chart.groups
        widest = label_room(groups, most=1e9) + 8 if _numeric(groups) else 0.0
        return max(math.ceil(widest / self.step), 1)

    @property
    def below(self) -> float:
        """Where the title of the horizontal axis stands: under the names, which may take two lines."""
        room = self.step * self.every - 4
        two = not self.lying and any(len(_name_lines(name, room)) > 1 for name in self.chart.groups)
        return self.plot.bottom + (49 if two else 36)

    def middle(self, group: int) -> float:
        return (self.plot.top if self.lying else self.plot.left) + self.step * (group + 0.5)


def draw_bars(chart: BarChart, *, width: float) -> Markup:
    """The chart as SVG. Bars start at zero; one that would flatten the others is cut off with an arrow."""
    series = chart.series if len(chart.series) > 1 else ()
    room = legend.places(series, left=0, width=width)[1]
    layout = _lying(chart, width) if _lies(chart, width) else _upright(chart, width)
    axes = _lying_axes if layout.lying else _upright_axes
    parts = [
        *axes(layout),
        *_bars(layout),
        legend.rows(series, left=0, top=layout.below + 12, width=width, swatch=_swatch),
    ]
    words = f"Bars of {chart.y_label} by {chart.x_label}: {listing(chart.groups)}. {listing(series)}"
    height = layout.below + 14 + room
    return canvas(parts, name=chart.name, title=chart.title, description=words, width=width, height=height)


def _lies(chart: BarChart, width: float) -> bool:
    """Whether upright bars would be too thin, or names too wide (of numbers, some can be left out)."""
    step = (width - 60) / max(len(chart.groups), 1)
    if _numeric(chart.groups):
        return False
    names_fit = all(text_width(word, TICK) <= step - 4 for group in chart.groups for word in group.split())
    return step * 0.8 / max(len(chart.series), 1) < THINNEST or not names_fit


def _numeric(groups: Sequence[str]) -> bool:
    return bool(groups) and all(_NUMERIC.match(group) for group in groups)


def _range(chart: BarChart) -> tuple[float, float]:
    low, high = shown_range((v for row in chart.values for v in row), keep=(0.0,), squeeze=SQUEEZE)
    air = 0.05 * (high - low)
    return low - air * (low < 0), high + air * (high > 0)


def _upright(chart: BarChart, width: float) -> _Layout:
    low, high = _range(chart)
    left = label_room(tick_labels(AxisScale(low, high, 0, 1).ticks())) + 12
    plot = Plot(left, 30, width - 6, 300 if width >= NARROW else 230)
    step = plot.width / max(len(chart.groups), 1)
    return _Layout(chart, plot, AxisScale(low, high, plot.bottom, plot.top), step, lying=False)


def _lying(chart: BarChart, width: float) -> _Layout:
    low, high = _range(chart)
    step = max(26.0, 10.0 + 7.0 * len(chart.series))
    left = label_room(chart.groups, size=FONT, most=width * 0.32) + 12
    plot = Plot(left, 24, width - 14, 24 + step * max(len(chart.groups), 1))
    return _Layout(chart, plot, AxisScale(low, high, plot.left, plot.right), step, lying=True)


def _upright_axes(layout: _Layout) -> Iterator[Markup]:
    plot, groups = layout.plot, layout.chart.groups
    yield y_axis(plot, layout.value, title=layout.chart.y_label)
    zero = layout.value.at(0)
    yield tag("line", class_="axis", x1=plot.left, x2=plot.right, y1=zero, y2=zero)
    every = layout.every
    for index in range(0, len(groups), every):
        yield _group_name(groups[index], layout.middle(index), plot.bottom + 15, room=layout.step * every - 4)
    yield x_title(plot, layout.chart.x_label, below=layout.below - plot.bottom)


def _name_lines(name: str, room: float) -> list[str]:
    return wrap(name, max(room, 12.0), size=TICK)


def _group_name(name: str, x: float, y: float, *, room: float) -> Markup:
    return Markup().join(
        label(text, x=x, y=y + 13 * row, size=TICK, full=name, class_="tick", text_anchor="middle")
        for row, text in enumerate(_name_lines(name, room))
    )


def _lying_axes(layout: _Layout) -> Iterator[Markup]:
    plot, chart = layout.plot, layout.chart
    yield x_axis(plot, layout.value, title=chart.y_label, ticks=layout.value.ticks(5), grid=True)
    yield label(shorten(chart.x_label, plot.right, size=FONT), x=0, y=13, full=chart.x_label, class_="axis-title")
    zero = layout.value.at(0)
    yield tag("line", class_="axis", x1=zero, x2=zero, y1=plot.top, y2=plot.bottom)
    for index, group in enumerate(chart.groups):
        words = shorten(group, plot.left - 10, size=FONT)
        y = layout.middle(index) + 4
        yield label(words, x=plot.left - 8, y=y, full=group, class_="legend", text_anchor="end")


def _bars(layout: _Layout) -> Iterator[Markup]:
    for series, row in enumerate(layout.chart.values):
        for group, value in enumerate(row[: len(layout.chart.groups)]):
            if not math.isnan(value):
                yield _bar(layout, series, group=group, value=value)


def _bar(layout: _Layout, series: int, *, group: int, value: float) -> Markup:
    names = layout.chart.series
    name = names[series] if series < len(names) else ""
    words = f"{name}, {layout.chart.groups[group]}: {short(value)}"
    zero, end = layout.value.at(0), layout.value.held(value)
    start, thick = layout.start(group, series), max(layout.thickness - 1, 0.5)
    low, length = min(zero, end), max(abs(end - zero), 0.5)
    place = (
        {"x": low, "y": start, "width": length, "height": thick}
        if layout.lying
        else {"x": start, "y": low, "width": thick, "height": length}
    )
    rect = tag("rect", tag("title", words), class_=_classes(series), **place)
    if not layout.value.side(value):
        return rect
    return rect + _cut(layout, start=start, thick=thick, value=value)


def _cut(layout: _Layout, *, start: float, thick: float, value: float) -> Markup:
    """A gap across a bar that is longer than the paper, and its value, so that nobody compares its length."""
    side, end = layout.value.side(value), layout.value.held(value)
    inward = -side if layout.lying else side
    gap = [(end + 14 * inward - 3, start - 1), (end + 14 * inward + 3, start + thick + 1)]
    place = (end + 22 * inward, start + thick / 2 + 4)
    if not layout.lying:
        gap = [(x, y) for y, x in gap]
        place = (start + thick / 2, end - 4 if side > 0 else end - 20)
    x, y = place
    anchor = "middle" if not layout.lying else "end" if side > 0 else "start"
    words = label(short(value), x=x, y=y, size=TICK, class_="halo", text_anchor=anchor)
    return tag("path", class_="gap", d=path(gap)) + words


def _classes(series: int) -> str:
    again = " again" if (series // palette.COLOURS) % 2 else ""
    return f"bar {palette.colour_class(series)}{again}"


def _swatch(index: int, x: float, y: float) -> Markup:
    return tag("rect", class_=_classes(index).replace("bar", "swatch", 1), x=x, y=y - 6, width=18, height=12)
