"""The plot area and its two axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from fieldcheck.report.scale import AxisScale
from fieldcheck.report.svg import label, shorten, tag, text_width

TICK = 11.0


@dataclass(frozen=True)
class Plot:
    """The edges of the plot area, in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top


def label_room(texts: Sequence[str], *, size: float = TICK, most: float = 160) -> float:
    """Pixels that the widest of the texts takes."""
    return min(max((text_width(text, size) for text in texts), default=0.0) + 1, most)


def y_axis(plot: Plot, scale: AxisScale, *, title: str, wanted: int = 5) -> Markup:
    """Grid lines with their values to the left, and the title above, where nobody has to turn their head."""
    ticks = scale.ticks(wanted)
    parts = [label(shorten(title, plot.right, size=12), x=0, y=13, full=title, class_="axis-title")]
    for tick, text in zip(ticks, scale.labels(ticks), strict=True):
        y = scale.at(tick)
        parts.append(tag("line", x1=plot.left, x2=plot.right, y1=y, y2=y, class_="grid"))
        parts.append(label(text, x=plot.left - 8, y=y + 4, size=TICK, class_="tick ytick", text_anchor="end"))
    return Markup().join(parts)


def x_axis(plot: Plot, scale: AxisScale, *, title: str, ticks: tuple[float, ...], grid: bool = False) -> Markup:
    """The base line with its values and title; values that would touch the one before are left out."""
    base = tag("line", x1=plot.left, x2=plot.right, y1=plot.bottom, y2=plot.bottom, class_="axis")
    parts, free = [base], -1e9
    for tick, text in zip(ticks, scale.labels(ticks), strict=True):
        x, half = scale.at(tick), text_width(text, TICK) / 2
        if grid:
            parts.append(tag("line", x1=x, x2=x, y1=plot.top, y2=plot.bottom, class_="grid"))
        parts.append(tag("line", x1=x, x2=x, y1=plot.bottom, y2=plot.bottom + 4, class_="axis"))
        if x - half > free + 4:
            parts.append(label(text, x=x, y=plot.bottom + 17, size=TICK, class_="tick xtick", text_anchor="middle"))
            free = x + half
    return Markup().join([*parts, x_title(plot, title)])


def x_title(plot: Plot, title: str, *, below: float = 36) -> Markup:
    """The title of the horizontal axis, under the middle of the plot as far as it fits there."""
    text = shorten(title, plot.right - 4, size=12)
    half = text_width(text, 12) / 2
    middle = min(max((plot.left + plot.right) / 2, half), plot.right - half)
    place = {"x": middle, "y": plot.bottom + below}
    return label(text, **place, full=title, class_="axis-title", text_anchor="middle")
