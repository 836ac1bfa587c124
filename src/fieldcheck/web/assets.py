"""The files of the page, as they lie in the package, and its colours, which are those of the report."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from fieldcheck.report import palette

MEDIA = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
"""By suffix, what may be asked for."""


@dataclass(frozen=True)
class Asset:
    """A file of the page."""

    data: bytes
    media: str


def page(name: str) -> bytes:
    """A page itself: it holds nothing of a campaign."""
    return (files("fieldcheck.web") / "static" / name).read_bytes()


def asset(name: str) -> Asset | None:
    """A file by its name."""
    return _assets().get(name)


@cache
def _assets() -> dict[str, Asset]:
    folder = files("fieldcheck.web") / "static"
    found = {
        one.name: Asset(one.read_bytes(), MEDIA[suffix])
        for one in folder.iterdir()
        if (suffix := one.name.rpartition(".")[2]) in MEDIA
    }
    return {**found, "colours.css": Asset(colours().encode(), MEDIA["css"])}


def colours() -> str:
    """Light and dark: as the system says, or as chosen on the page."""
    light, dark = palette.variables(palette.LIGHT), palette.variables(palette.DARK)
    return (
        f":root{{{light}}}\n"
        f"@media (prefers-color-scheme: dark){{:root:not([data-theme=light]){{{dark}}}}}\n"
        f":root[data-theme=dark]{{{dark}}}\n"
    )
