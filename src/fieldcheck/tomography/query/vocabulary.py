"""The names that a query may use in a space, the values that each can take, and words for values."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass

from fieldcheck.core import space as spaces
from fieldcheck.core.space import Axis, Space
from fieldcheck.tomography.query.tokens import Token, error


@dataclass(frozen=True)
class Quantity:
    """Something about a test that has a value.

    low, high
        The values that there are; whole numbers where ``whole``.
    words
        Names of values or ranges of values.
    """

    name: str
    low: float
    high: float
    whole: bool
    words: Mapping[str, tuple[int, int]]

    def range_of(self, token: Token, text: str) -> tuple[float, float]:
        """First and last value that a number or word stands for."""
        if token.kind == "number":
            value = self._number(token, text)
            return value, value
        meant = {word.lower(): levels for word, levels in self.words.items()}
        if token.text.lower() not in meant:
            raise error(
                text,
                token.start,
                f"'{token.text}' is no level of {self.name}",
                rule=self.rule(),
                hint=_closest(token.text, self.words),
            )
        low, high = meant[token.text.lower()]
        return float(low), float(high)

    def _number(self, token: Token, text: str) -> float:
        percent = token.text.endswith("%")
        value = float(token.text.rstrip("%")) / (100 if percent else 1)
        uneven = self.whole and (percent or value % 1 != 0)
        if uneven or not (math.isfinite(value) and self.low <= value <= self.high):
            raise error(text, token.start, f"{self.name} is never {token.text}", rule=self.rule())
        return value

    def rule(self) -> str:
        """The values that there are, for messages."""
        if math.isinf(self.high):
            return f"{self.name} is a number"
        span = f"{self.low:g} to {self.high:g}"
        words = f", or {', '.join(self.words)}" if self.words else ""
        return f"{self.name} is {'a whole number from ' if self.whole else 'from '}{span}{words}"


def vocabulary(space: Space) -> dict[str, Quantity]:
    """By the name as it is compared (lower case, - for _)."""
    found = {_plain(axis.name): Quantity(axis.name, 0, axis.highest, True, _words(axis)) for axis in space.axes}
    known = {
        "order": Quantity("order", 0, len(space.axes), True, {}),
        "severity_sum": Quantity("severity_sum", 0, sum(axis.highest for axis in space.axes), True, {}),
        "robustness": Quantity("robustness", 0, 1, False, {}),
        "quality": Quantity("quality", -math.inf, math.inf, False, {}),
    }
    return found | {_plain(name): known[name] for name in spaces.RESERVED}


def _words(axis: Axis) -> dict[str, tuple[int, int]]:
    """The words of the space file, and the usual ones that they leave alone."""
    own, usual = {word.lower(): levels for word, levels in axis.words.items()}, _usual(axis)
    taken = [levels for word, levels in own.items() if word in usual]
    left = {
        word: (low, high)
        for word, (low, high) in usual.items()
        if word not in own and all(high < first or last < low for first, last in taken)
    }
    return {**axis.words, **left}


def _usual(axis: Axis) -> dict[str, tuple[int, int]]:
    """Words for levels without which a space file may do: of five, 1 and 2 are low, 3 is medium, 4 and 5 are high."""
    top = axis.highest
    if top < 3:
        return {}
    low, high = (2 * top) // 5, -((-3 * top) // 5)
    low, high = max(low, 1), max(high, 2)
    return {"low": (1, low), "medium": (low + 1, max(high, low + 1)), "high": (max(high, low + 1) + 1, top)}


def look_up(token: Token, known: Mapping[str, Quantity], text: str) -> Quantity:
    """The quantity that a name stands for."""
    found = known.get(_plain(token.text)) or _only_one(token, known, text)
    if found is not None:
        return found
    names = [quantity.name for quantity in known.values()]
    raise error(
        text,
        token.start,
        f"there is no '{token.text}' here",
        rule="there are: " + ", ".join(names),
        hint=_closest(token.text, names),
    )


def is_known(token: Token, known: Mapping[str, Quantity]) -> bool:
    """Whether this is a name, or the end of one or more."""
    return token.kind == "name" and (_plain(token.text) in known or bool(_ending(token, known)))


def _ending(token: Token, known: Mapping[str, Quantity]) -> list[Quantity]:
    """Quantities whose names end so: ``blur`` of motion-blur."""
    return [quantity for name, quantity in known.items() if name.endswith("-" + _plain(token.text))]


def _only_one(token: Token, known: Mapping[str, Quantity], text: str) -> Quantity | None:
    """The only quantity whose name ends so; an error where there are several, none where there is none."""
    found = _ending(token, known)
    if len(found) > 1:
        names = [quantity.name for quantity in found]
        raise error(text, token.start, f"which '{token.text}'?", rule="there are: " + ", ".join(names), hint=names[0])
    return found[0] if found else None


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")


def _closest(text: str, names: Mapping[str, object] | list[str]) -> str:
    close = difflib.get_close_matches(text[:60].lower(), [name.lower() for name in names], n=1)
    return close[0] if close else ""
