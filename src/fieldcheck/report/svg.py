"""Markup by small pieces: everything that goes in is escaped, unless it is markup already."""

from __future__ import annotations

import re
import unicodedata

from markupsafe import Markup, escape

# What XML 1.0 cannot hold, not even escaped; lone surrogates cannot be encoded either.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


NARROW, WIDE = set("iljtfrI.,:;'|!()[]{} -"), set("mwMWQ@%—")


def clean(text: str) -> str:
    """The text with each character that a document cannot hold replaced; markup stays markup."""
    return type(text)(_FORBIDDEN.sub("\ufffd", text))


def number(value: float) -> str:
    """A coordinate: two decimals are a fortieth of a millimetre."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def tag(name: str, /, *children: str, **attributes: object) -> Markup:
    """One element. Plain strings are escaped. ``class_`` is ``class``, ``text_anchor`` is ``text-anchor``.

    Attributes that are None are left out; names of elements and attributes are ours, never the user's.
    """
    written = Markup().join(_attribute(key, value) for key, value in attributes.items() if value is not None)
    inside = Markup().join(escape(clean(child)) for child in children)
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), written, inside)  # noqa: S704


def _attribute(key: str, value: object) -> Markup:
    text = number(value) if isinstance(value, float) else clean(str(value))
    return Markup(' {}="{}"').format(Markup(key.rstrip("_").replace("_", "-")), text)  # noqa: S704


def text_width(text: str, size: float) -> float:
    """About how wide a text is in the widest of the common sans-serif faces (DejaVu, Verdana)."""
    return size * sum(_advance(character) for character in text)


def _advance(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    if character in NARROW:
        return 0.4
    return 0.95 if character in WIDE else 0.72 if character.isupper() else 0.62


def shorten(text: str, width: float, *, size: float) -> str:
    """The text if it fits, else its beginning and an ellipsis."""
    text = " ".join(text.split())
    if text_width(text, size) <= width:
        return text
    while text and text_width(text + "…", size) > width:
        text = text[:-1]
    return text.rstrip() + "…"


def wrap(text: str, width: float, *, size: float, lines: int = 2) -> list[str]:
    """The text on at most so many lines; what does not fit is cut with an ellipsis."""
    words, done, current = text.split(), list[str](), ""
    for position, word in enumerate(words):
        longer = f"{current} {word}".strip()
        if current and text_width(longer, size) > width:
            if len(done) == lines - 1:
                return [*done, shorten(" ".join([current, *words[position:]]), width, size=size)]
            done.append(shorten(current, width, size=size))
            longer = word
        current = longer
    return [*done, shorten(current, width, size=size)]


def label(text: str, *, x: float, y: float, size: float = 12, full: str = "", **attributes: object) -> Markup:
    """A text at a place; ``full`` is what the reader gets to see on pointing at a shortened one."""
    inside = [text] if full in ("", text) else [tag("title", full), text]
    return tag("text", *inside, x=float(x), y=float(y), font_size=size, **attributes)
