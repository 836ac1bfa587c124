"""What a page is made of, besides exhibits: the answer, sections, strips of pictures, galleries of items, commands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fieldcheck.core.exhibit import Exhibit, IntervalChart
from fieldcheck.core.requirement import Decided


@dataclass(frozen=True)
class Headline:
    """What the reader came for.

    what
        Whose number it is ("accuracy").
    number, bounds, sentence
        The estimate, its interval, and both in words.
    chips
        Few more numbers, as (name, value).
    chart
        The interval as a picture.
    decision
        Whether it meets what was asked for, in words; ``standing`` says the same as a colour.
    """

    what: str
    number: str
    bounds: str
    sentence: str
    trusted: bool = True
    chips: tuple[tuple[str, str], ...] = ()
    chart: IntervalChart | None = None
    decision: str = ""
    standing: Decided = "undecided"


@dataclass(frozen=True)
class Picture:
    """A PNG with its caption."""

    png: bytes
    caption: str


@dataclass(frozen=True)
class ImageStrip:
    """Small pictures beside each other."""

    name: str
    title: str
    pictures: tuple[Picture, ...]
    note: str = ""


@dataclass(frozen=True)
class Card:
    """One item: what it looks like (a picture, a text, or the cells of its row), and what is known about it.

    picture
        A PNG, JPEG, GIF or WebP file; empty where there is none.
    tiny
        Whether it has so few pixels that each is to be seen.
    """

    title: str
    facts: tuple[tuple[str, str], ...]
    picture: bytes = b""
    text: str = ""
    row: tuple[tuple[str, str], ...] = ()
    tiny: bool = False


@dataclass(frozen=True)
class Gallery:
    """Items beside each other."""

    name: str
    title: str
    cards: tuple[Card, ...]
    note: str = ""


@dataclass(frozen=True)
class Commands:
    """Lines to type, as they are."""

    name: str
    title: str
    lines: tuple[str, ...]
    note: str = ""


Block = Exhibit | ImageStrip | Gallery | Commands


_SPELLED = {"rmse": "RMSE", "rmedse": "RMedSE", "mse": "MSE", "mae": "MAE", "cpu": "CPU"}


@dataclass(frozen=True)
class Section:
    """Blocks under a heading; without a title they follow what is before them."""

    title: str
    blocks: tuple[Block, ...]
    text: str = ""


def sections_of(blocks: Iterable[Block]) -> tuple[Section, ...]:
    """The blocks by the part of their name before "/", in the order in which the parts first appear."""
    found = dict[str, list[Block]]()
    for block in blocks:
        section, slash, _ = block.name.partition("/")
        found.setdefault(section if slash else "", []).append(block)
    return tuple(Section(_heading(title), tuple(inside)) for title, inside in found.items())


def _heading(slug: str) -> str:
    return " ".join(_SPELLED.get(word, word) for word in slug.replace("_", " ").split())
