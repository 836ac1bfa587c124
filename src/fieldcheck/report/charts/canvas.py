"""The outermost element of a drawing, with words for those who cannot see it, and the marks in all charts."""

from __future__ import annotations

import re
from collections.abc import Iterable

from markupsafe import Markup

from fieldcheck.report import palette
from fieldcheck.report.svg import clean, number, tag

NARROW = 460
"""Below this width (pixels) a chart is laid out for a phone."""


FONT = 12.0


def slug(text: str) -> str:
    """The text as an identifier."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "x"


def canvas(parts: Iterable[Markup], *, name: str, title: str, description: str, width: float, height: float) -> Markup:
    """The drawing; it takes the width that it is given and keeps its proportions."""
    key = f"{slug(name)}-{width:.0f}"
    return tag(
        "svg",
        tag("title", title, id=f"{key}-t"),
        tag("desc", description, id=f"{key}-d"),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        class_="chart",
        viewBox=f"0 0 {number(width)} {number(height)}",
        role="img",
        aria_labelledby=f"{key}-t {key}-d",
    )


def listing(labels: Iterable[str], *, most: int = 12) -> str:
    """The labels in a row, for a description."""
    every = list(labels)
    rest = f" and {len(every) - most} more" if len(every) > most else ""
    return clean(", ".join(every[:most]) + rest)


def path(points: Iterable[tuple[float, float]]) -> str:
    """The outline through the points."""
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)


def mark(index: int, *, x: float, y: float, words: str = "", kind: str = "point", size: float = 4.0) -> Markup:
    """The marker of a series; ``words`` appear on pointing at it."""
    outline = palette.marker(index)
    shape = "shape" if outline.endswith("Z") else "shape open"
    return tag(
        "path",
        *([tag("title", words)] if words else []),
        class_=f"{kind} {shape} {palette.colour_class(index)}",
        d=outline,
        transform=f"translate({number(x)} {number(y)}) scale({number(size)})",
    )


def arrow(turn: float, *, x: float, y: float, words: str, colour: str, kind: str = "point") -> Markup:
    """The sign for "goes on beyond the edge": 0 points right, 90 down, 180 left, 270 up."""
    return tag(
        "path",
        tag("title", words),
        class_=f"{kind} beyond {colour}",
        d="M0 0L-9-5V5Z",
        transform=f"translate({number(x)} {number(y)}) rotate({number(turn)})",
    )
