"""Names for series: in rows under a chart, or beside the ends of its lines. Neither ever lies on the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from markupsafe import Markup

from fieldcheck.report.svg import label, shorten, text_width

ROW, SWATCH, GAP, SIZE = 19.0, 26.0, 16.0, 12.0


Swatch = Callable[[int, float, float], Markup]
"""Draws the sign of series ``index`` in the ``SWATCH`` pixels from ``x`` on, centred on ``y``."""


def places(labels: Sequence[str], *, left: float, width: float) -> tuple[list[tuple[float, float]], float]:
    """Where each entry starts (x, row offset), filling rows from the left, and the height of them all."""
    found, x, y = list[tuple[float, float]](), 0.0, 0.0
    for text in labels:
        room = SWATCH + text_width(shorten(text, width - SWATCH, size=SIZE), SIZE)
        if x and x + room > width:
            x, y = 0.0, y + ROW
        found.append((left + x, y))
        x += room + GAP
    return found, (y + ROW if labels else 0.0)


def rows(labels: Sequence[str], *, left: float, top: float, width: float, swatch: Swatch) -> Markup:
    """The legend, in rows."""
    starts, _ = places(labels, left=left, width=width)
    parts = list[Markup]()
    for index, (text, (x, y)) in enumerate(zip(labels, starts, strict=True)):
        middle = top + y + ROW / 2
        words = shorten(text, width - SWATCH, size=SIZE)
        parts.append(swatch(index, x, middle))
        parts.append(label(words, x=x + SWATCH, y=middle + 4, full=text, class_="legend"))
    return Markup().join(parts)


def spread(wanted: Sequence[float], *, gap: float, low: float, high: float) -> list[float]:
    """Heights at least ``gap`` apart within ``low`` to ``high``, in the same order, near the wanted ones.

    Where there is no room for so many, the gap shrinks.
    """
    gap = min(gap, (high - low) / max(len(wanted) - 1, 1))
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    found, edge = [0.0] * len(wanted), low
    for index in order:
        edge = found[index] = max(wanted[index], edge)
        edge += gap
    edge = high
    for index in reversed(order):
        edge = found[index] = min(found[index], edge)
        edge -= gap
    return found
