"""The page can be read in light and dark (WCAG 2.2: 1.4.3 and 1.4.11), and knows all colours that it names."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from fieldcheck.web.assets import asset, colours

TEXT_ON_PAPER = [
    *((text, paper) for text in ("ink", "muted", "accent") for paper in ("paper", "card")),
    *(("warn-ink", paper) for paper in ("warn-paper", "paper", "card")),
    ("paper", "accent"),
]
MARKS_ON_PAPER = [("muted", "paper"), ("accent", "paper"), ("s2", "paper"), ("warn-ink", "warn-paper")]
"""Borders of fields, the ring around what has the focus, the dot beside "Saved", the line of the chart."""


def schemes() -> dict[str, dict[str, str]]:
    """What is declared for each selector of the style sheet."""
    blocks = re.findall(r":root([^{]*)\{(--[^}]*)\}", colours())
    return {name: dict(re.findall(r"--([\w-]+):(#\w{6})", block)) for name, block in blocks}


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_light_dark_and_chosen_dark() -> None:
    found = schemes()
    assert set(found) == {"", ":not([data-theme=light])", "[data-theme=dark]"}
    assert found[":not([data-theme=light])"] == found["[data-theme=dark]"] != found[""]


@pytest.mark.parametrize("scheme", ["", "[data-theme=dark]"], ids=["light", "dark"])
def test_contrast(scheme: str) -> None:
    shades = schemes()[scheme]
    for text, paper in TEXT_ON_PAPER:
        assert contrast(shades[text], shades[paper]) >= 4.5, (text, paper)
    for mark, paper in MARKS_ON_PAPER:
        assert contrast(shades[mark], shades[paper]) >= 3, (mark, paper)


def test_every_colour_of_the_page_is_known() -> None:
    sheet = asset("label.css")
    assert sheet is not None
    used = set(re.findall(r"var\(--([\w-]+)\)", sheet.data.decode()))
    assert used
    assert used <= set(schemes()[""])
    assert not re.findall(r"#[0-9a-fA-F]{3,8}\b(?![^{]*\{)", re.sub(r"#[a-z][\w-]*", "", sheet.data.decode()))


def test_nothing_is_loaded_from_elsewhere() -> None:
    for one in (files("fieldcheck.web") / "static").iterdir():
        addresses = re.findall(r"https?://[^\s\"']+", one.read_text(encoding="utf-8"))
        assert set(addresses) <= {"http://www.w3.org/2000/svg"}
