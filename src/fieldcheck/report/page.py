"""One self-contained HTML file: it loads nothing, needs no script, and escapes everything that users gave."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from markupsafe import Markup

from fieldcheck.core import words
from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.exhibit import Table
from fieldcheck.report import palette, tables
from fieldcheck.report.blocks import Block, Card, Commands, Gallery, Headline, ImageStrip, Picture, Section
from fieldcheck.report.charts.canvas import slug
from fieldcheck.report.charts.draw import PHONE, WIDE, Chart, draw, svg_file
from fieldcheck.report.svg import clean

if TYPE_CHECKING:
    from jinja2 import Environment


LONG = 14
"""A table with more rows is folded."""


FIRST = 12
"""Cards of a gallery that are not folded away."""


_PNG = b"\x89PNG\r\n\x1a\n"


_MAGIC = {_PNG: "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif", b"RIFF": "webp"}


def page(
    title: str,
    *,
    sections: Sequence[Section] = (),
    answer: Headline | None = None,
    lead: Sequence[str] = (),
    warnings: Sequence[str] = (),
    facts: Mapping[str, str] | None = None,
    version: str = "",
) -> str:
    """The page: the answer first, then what to know about it, the sections, and how it was made."""
    return _environment().get_template("page.html.j2").render(
        title=title,
        answer=answer,
        picture=_answer_picture(answer),
        lead=list(lead),
        warnings=list(warnings),
        sections=[_section(section, index) for index, section in enumerate(sections)],
        facts=list((facts or {}).items()),
        version=version,
        light=_css(palette.LIGHT),
        dark=_css(palette.DARK),
    )  # fmt: skip


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("fieldcheck.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: clean(value) if isinstance(value, str) else value,
    )


def _css(colours: Mapping[str, str]) -> Markup:
    return Markup(palette.variables(colours))  # noqa: S704 -- our own constants


def _answer_picture(answer: Headline | None) -> dict[str, Markup] | None:
    return None if answer is None or answer.chart is None else _both(answer.chart, key="answer")


def _section(section: Section, index: int) -> dict[str, Any]:
    key = f"{index + 1}-{slug(section.title)}"
    blocks = [_item(block, key=f"{key}-{place + 1}") for place, block in enumerate(section.blocks)]
    return {"id": f"section-{key}", "title": section.title, "text": section.text, "blocks": blocks}


def _item(block: Block, *, key: str) -> dict[str, Any]:
    """What the template needs to know of a block; ``key`` is unique in the page."""
    common = {"id": f"exhibit-{key}", "title": block.title, "note": block.note, "files": []}
    if isinstance(block, Table):
        return common | _table(block)
    if isinstance(block, ImageStrip):
        return common | {"kind": "images", "pictures": [_picture(picture) for picture in block.pictures]}
    if isinstance(block, Gallery):
        return common | {"kind": "gallery", "first": FIRST, "cards": [_card(card) for card in block.cards]}
    if isinstance(block, Commands):
        return common | {"kind": "commands", "text": "\n".join(block.lines)}
    return common | {"kind": "chart", "files": [_file(block.name, "SVG", svg_file(block))]} | _both(block, key=key)


def _table(table: Table) -> dict[str, Any]:
    written = [
        _file(table.name, "CSV", tables.to_csv(table)),
        _file(table.name, "LaTeX", tables.to_latex(table)),
    ]
    rows = {"long": len(table.rows) > LONG, "rows": words.count(len(table.rows))}
    return {"kind": "table", "html": tables.to_html(table), "files": written if table.rows else []} | rows


def _both(chart: Chart, *, key: str) -> dict[str, Markup]:
    """The chart for wide and for narrow paper; the page shows the one that fits.

    Two exhibits may bear the same name, and identifiers must not repeat in a page: it is drawn under ``key``.
    """
    keyed = replace(chart, name=key)
    return {"wide": draw(keyed, width=WIDE), "phone": draw(keyed, width=PHONE)}


_TYPES = {"CSV": ("csv", "text/csv"), "LaTeX": ("tex", "application/x-tex"), "SVG": ("svg", "image/svg+xml")}


def _file(name: str, kind: str, text: str) -> dict[str, str]:
    """A file to save, carried in the link itself."""
    ending, mime = _TYPES[kind]
    data = quote(clean(text), safe="/:;,=()")
    return {"name": f"{slug(name)}.{ending}", "kind": kind, "uri": f"data:{mime};charset=utf-8,{data}"}


def _picture(picture: Picture) -> dict[str, str]:
    if not picture.png.startswith(_PNG):
        raise FieldcheckError(
            f"the picture '{picture.caption}' is not a PNG file", rule="pictures in a report are PNG files"
        )
    return {"uri": _image_uri(picture.png, picture.caption), "caption": picture.caption}


def _card(card: Card) -> dict[str, Any]:
    return {
        "title": card.title,
        "facts": card.facts,
        "uri": _image_uri(card.picture, card.title) if card.picture else "",
        "text": card.text,
        "row": card.row,
        "tiny": card.tiny,
    }


def _image_uri(content: bytes, name: str) -> str:
    """The picture itself as an address. Its kind is told by its first bytes: a file may be named anything."""
    kind = next((kind for magic, kind in _MAGIC.items() if content.startswith(magic)), None)
    if kind is None:
        raise FieldcheckError(
            f"the picture '{name}' is neither PNG, JPEG, GIF nor WebP", rule="pictures that every browser shows"
        )
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
