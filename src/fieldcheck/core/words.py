"""Numbers in sentences, and texts of others as they can be shown."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence


def counted(number: int, one: str, many: str = "") -> str:
    """A number with what it counts: ``1 label``, ``1,200 labels``; ``1 item waits``, where both forms are given."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


_UNSEEN = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f"  # controls other than tab and line feed: a terminal obeys them
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # directions: what is shown is not what is written
    "\u2028\u2029\ud800-\udfff]"  # line ends of Unicode; lone surrogates, which no encoding has
)


def some(names: Sequence[object], most: int) -> str:
    """The first few of many, between commas."""
    return ", ".join(map(str, names[:most])) + (", ..." if len(names) > most else "")


def visible(text: str) -> str:
    """The text with characters that a terminal would obey, or could not show, as ``\\x1b`` or ``\\u202e``."""
    return _UNSEEN.sub(lambda found: _escaped(found[0]), text)


def on_one_line(text: str) -> str:
    """The same, with tabs and line ends as ``\\t`` and ``\\n``: for cells, names and ids."""
    return visible(text).replace("\t", "\\t").replace("\n", "\\n")


def _escaped(letter: str) -> str:
    return f"\\x{ord(letter):02x}" if ord(letter) < 256 else f"\\u{ord(letter):04x}"


MISSING = "–"

_SMALL, _LARGE = 1e-4, 1e7


def short(value: float, digits: int = 3) -> str:
    """The number with so many significant digits."""
    if not math.isfinite(value):
        return _not_finite(value)
    if value == 0:
        return "0"
    if not _SMALL <= abs(value) < _LARGE:
        return scientific(value, digits - 1)
    return fixed(value, max(digits - 1 - math.floor(math.log10(abs(value))), 0))


def scientific(value: float, decimals: int) -> str:
    """The number with a power of ten, as in 1.26e−8."""
    mantissa, power = f"{value:.{decimals}e}".split("e")
    return f"{minus(mantissa)}e{minus(str(int(power)))}"


def fixed(value: float, decimals: int) -> str:
    """The number with so many decimals and thousands separators."""
    return minus(f"{value:,.{decimals}f}") if math.isfinite(value) else _not_finite(value)


FINEST = 4
"""Decimals of a percentage at most: one item in a million. What is nearer to 0 or 100 % is written as that."""


def percent(share: float, decimals: int | None = None) -> str:
    """A share as a percentage: with one decimal, or with two digits of what is missing to 100 %, or to 0 %."""
    if not math.isfinite(share):
        return _not_finite(share)
    return fixed(100 * share, _decimals(share) if decimals is None else decimals) + " %"


def _decimals(share: float) -> int:
    rest = 100 * min(abs(share), abs(1 - share))
    return 1 if rest < 10**-FINEST / 2 else min(max(1, 1 - math.floor(math.log10(rest))), FINEST)


def count(value: int) -> str:
    """A whole number with separators."""
    return minus(f"{value:,}")


def minus(text: str) -> str:
    """The text of a number with the sign that is as wide as a digit, and none before a zero."""
    if text.startswith("-"):
        return text[1:] if not text.strip("-0.,") else "−" + text[1:]
    return text


def column_decimals(values: Iterable[float]) -> int:
    """Decimals that give the typical value of a column three significant digits."""
    sizes = sorted(abs(value) for value in values if math.isfinite(value) and value != 0)
    if not sizes:
        return 0
    typical = math.floor(math.log10(sizes[len(sizes) // 2]))
    return min(max(2 - typical, 0), 5)


def in_column(value: float, decimals: int) -> str:
    """The number as its column writes it; with significant digits where the decimals would wipe it out."""
    if math.isfinite(value) and (0 < abs(value) < 10.0**-decimals or abs(value) >= _LARGE):
        return short(value)
    return fixed(value, decimals)


def _not_finite(value: float) -> str:
    return MISSING if math.isnan(value) else "∞" if value > 0 else "−∞"
