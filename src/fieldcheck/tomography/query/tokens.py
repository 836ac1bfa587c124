"""Text to tokens. Words and symbols mean the same: ``and``, ``&``, ``&&`` and ``∧``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fieldcheck.core.errors import QueryError

SYMBOLS = {
    "&": "and", "&&": "and", "∧": "and", "|": "or", "||": "or", "∨": "or", "!": "not", "¬": "not", "~": "not",
    "=": "=", "==": "=", "!=": "!=", "<>": "!=", "≠": "!=", "<": "<", "<=": "<=", "≤": "<=", "⩽": "<=",
    ">": ">", ">=": ">=", "≥": ">=", "⩾": ">=", "∈": "in", "∉": "not in",
    "(": "(", ")": ")", "{": "{", "}": "}", ",": ",", "..": "..",
}  # fmt: skip


WORDS = {"and": "and", "or": "or", "not": "not", "in": "in", "all": "all"}


COMPARISONS = frozenset({"<", "<=", "=", "!=", ">=", ">"})


_PATTERN = re.compile(
    r"(?P<space>\s+)"
    r"|(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?%?|-?\.\d+%?)"
    r"|(?P<name>[A-Za-z][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*)"
    r"|(?P<symbol>" + "|".join(re.escape(text) for text in sorted(SYMBOLS, key=len, reverse=True)) + ")",
    re.ASCII,
)


@dataclass(frozen=True)
class Token:
    """A piece of the query.

    kind
        ``number``, ``name``, ``end``, or the meaning of a word or symbol (``and``, ``<=``, ``(``, ...).
    text, start
        As it was written, and where.
    """

    kind: str
    text: str
    start: int


def tokens(text: str) -> Iterator[Token]:
    """The pieces of a query, and an ``end``."""
    at = 0
    while at < len(text):
        found = _PATTERN.match(text, at)
        if found is None:
            raise error(text, at, f"'{text[at]}' means nothing here", rule="names, numbers, < <= = != >= >, and or not")
        if found.lastgroup != "space":
            yield _token(found.lastgroup or "", found.group(), at)
        at = found.end()
    yield Token("end", "", len(text))


def _token(group: str, text: str, at: int) -> Token:
    if group == "symbol":
        return Token(SYMBOLS[text], text, at)
    return Token(WORDS.get(text.lower(), group) if group == "name" else group, text, at)


def error(text: str, at: int, problem: str, *, rule: str = "", hint: str = "") -> QueryError:
    """An error that shows the query with a mark below the place."""
    start = max(0, at - 50)
    shown = "".join(letter if letter.isprintable() else " " for letter in text[start : at + 30])
    lead = "..." if start else ""
    tail = "..." if at + 30 < len(text) else ""
    mark = " " * (len(lead) + at - start) + "^"
    return QueryError(f"{problem}\n    {lead}{shown}{tail}\n    {mark}", rule=rule, hint=hint)
