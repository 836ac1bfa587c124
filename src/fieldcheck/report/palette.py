"""Colours, markers and dashes: the one place that knows them.

The series colours follow Okabe and Ito's set for all kinds of colour vision, darkened or lightened until each
stands out from the paper by 3 to 1 (WCAG 1.4.11). Nothing is told by colour alone: every series also has its
own marker, and a dash once the colours start over.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

SERIES_LIGHT = (
    "#0072b2", "#d55e00", "#008a64", "#b0457f", "#a06d00",
    "#2588bd", "#2b2f36", "#7b4fa3", "#75787d", "#8a3b12",
)  # fmt: skip


SERIES_DARK = (
    "#4da3e0", "#ff8a3d", "#2bc79a", "#e58fc0", "#f0b429",
    "#8fd3f7", "#e9ebee", "#b79ae8", "#9a9fa6", "#d99468",
)  # fmt: skip


COLOURS = len(SERIES_LIGHT)


LIGHT: Mapping[str, str] = {
    "paper": "#ffffff",
    "card": "#f6f7f9",
    "ink": "#16191d",
    "muted": "#555c66",
    "rule": "#d9dde3",
    "grid": "#e6e9ed",
    "accent": "#0b5fa5",
    "warn-ink": "#7a3b00",
    "warn-paper": "#fff4e5",
    "good": "#00664a",
    "bad": "#a32400",
    "better": "#5fb0e0",
    "worse": "#f2a271",
    "same": "#e3e6ea",
} | {f"s{index}": colour for index, colour in enumerate(SERIES_LIGHT)}


DARK: Mapping[str, str] = {
    "paper": "#12151a",
    "card": "#1b2027",
    "ink": "#eceff3",
    "muted": "#a6afba",
    "rule": "#363d47",
    "grid": "#272d35",
    "accent": "#7cbcf2",
    "warn-ink": "#ffcf99",
    "warn-paper": "#35240f",
    "good": "#45d3a8",
    "bad": "#ff9b73",
    "better": "#1f6ea3",
    "worse": "#a1501d",
    "same": "#2c333c",
} | {f"s{index}": colour for index, colour in enumerate(SERIES_DARK)}


# Outlines in a box from -1 to 1; an open one (no Z) is stroked only.
MARKERS = (
    "M-.9 0A.9 .9 0 1 0 .9 0A.9 .9 0 1 0 -.9 0Z",
    "M-.8-.8H.8V.8H-.8Z",
    "M0-1L1 .8H-1Z",
    "M0-1.15L1.15 0L0 1.15L-1.15 0Z",
    "M0 1L1-.8H-1Z",
    "M-.9-.9L.9 .9M-.9 .9L.9-.9",
    "M0-1.1V1.1M-1.1 0H1.1",
    "M-1 0L-.5-.9H.5L1 0L.5 .9H-.5Z",
    "M-1.1-.45H1.1V.45H-1.1Z",
    "M0-1.2L.35-.35L1.2 0L.35 .35L0 1.2L-.35 .35L-1.2 0L-.35-.35Z",
)


DASHES = ("", "6 3", "2 2.5", "8 3 2 3")


def colour_class(index: int) -> str:
    """The CSS class that sets the colour of a series."""
    return f"s{index % COLOURS}"


def dash(index: int) -> str:
    """The dash of a series: solid until the colours start over."""
    return DASHES[(index // COLOURS) % len(DASHES)]


def marker(index: int) -> str:
    """The outline of a series' marker, about two units wide; shifted by one whenever colours start over."""
    return MARKERS[(index + index // COLOURS) % len(MARKERS)]


def variables(colours: Mapping[str, str]) -> str:
    """The colours as declarations of CSS custom properties."""
    return "".join(f"--{name}:{value};" for name, value in colours.items())


def resolved(css: str, colours: Mapping[str, str]) -> str:
    """A style sheet without custom properties, for programs that do not know them."""
    return re.sub(r"var\(--([\w-]+)\)", lambda match: colours[match[1]], css)
