"""What a person says about an item: the one form of a label between the store and the loss."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from fieldcheck.core.errors import CampaignError, LabelError

RIGHT = frozenset({"pass", "passed", "right", "correct", "ok", "success", "true", "yes", "1"})

WRONG = frozenset({"fail", "failed", "wrong", "incorrect", "failure", "error", "false", "no", "0"})

PLAIN = frozenset({"1", "0"})
"""As likely to be classes: they mean an outcome only where there are no classes, or in a column named as one."""

SKIP = frozenset({"skip", "skipped", "?"})
"""Words that skip an item without a reason."""

LOST = SKIP | {"unclear", "unknown", "cannot say"}
"""What people write when an item cannot be labelled."""

LONGEST_NAME = 200
"""Letters of a person's name or a key."""

LONGEST_TEXT = 2_000
"""Letters of a label, a reason or a note."""


@dataclass(frozen=True, slots=True)
class TrueClass:
    """The class that the item is of, as the pool spells it: any model can be measured against it."""

    name: str

    def __post_init__(self) -> None:
        if not self.name:
            raise LabelError("a class without a name", rule="a label says something", hint="skip the item")

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Value:
    """The true number of the item."""

    number: float

    def __post_init__(self) -> None:
        _check_finite(self.number)

    def __str__(self) -> str:
        return repr(self.number)


@dataclass(frozen=True, slots=True)
class Score:
    """How good the model's output is, whatever would have been right."""

    number: float

    def __post_init__(self) -> None:
        _check_finite(self.number)

    def __str__(self) -> str:
        return repr(self.number)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether one model is right: it says nothing about any other model."""

    right: bool

    def __str__(self) -> str:
        return "right" if self.right else "wrong"


@dataclass(frozen=True, slots=True)
class Missing:
    """There is no label to be had.

    disputed
        People disagree about the item: it has none until they settle it.
    """

    reason: str = ""
    disputed: bool = False

    def __str__(self) -> str:
        return self.reason if self.reason.lower() in LOST else "skip"


Label: TypeAlias = TrueClass | Value | Score | Outcome | Missing


def as_record(label: Label) -> dict[str, Any]:
    """A label as plain values, stored by the name of its kind."""
    match label:
        case TrueClass(name):
            return {"class": name}
        case Value(number):
            return {"value": number}
        case Score(number):
            return {"score": number}
        case Outcome(right):
            return {"right": right}
        case Missing(reason):
            return {"missing": reason}


_KINDS: dict[str, type[Label]] = {
    "class": TrueClass,
    "value": Value,
    "score": Score,
    "right": Outcome,
    "missing": Missing,
}


def from_record(record: Mapping[str, Any]) -> Label:
    """The inverse of ``as_record``."""
    ((kind, said),) = record.items()
    return _class(said) if kind == "class" and isinstance(said, str) else _KINDS[kind](said)


@lru_cache(maxsize=10_000)
def _class(name: str) -> TrueClass:
    """Classes come back with every label: one object for all of them."""
    return TrueClass(name)


def plain(text: str) -> str:
    """A class as it is compared: 7.0, which spreadsheets make of 7, is 7; an umlaut is one character."""
    text = unicodedata.normalize("NFC", text.strip())
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if math.isfinite(number) and number == int(number) else text


def checked_words(text: str, what: str) -> str:
    """What a person says, without blanks around it; whole documents are refused."""
    text = text.strip()
    if len(text) > LONGEST_TEXT:
        raise LabelError(f"{what} has {len(text):,} letters", rule=f"at most {LONGEST_TEXT:,}", hint="a shorter one")
    return text


def checked_name(text: str, what: str) -> str:
    """A name or key without blanks around it; too long ones, and those with control codes, are refused."""
    text = text.strip()
    if len(text) > LONGEST_NAME or not text.isprintable():
        raise CampaignError(
            f"{what} {text[:40]!r}", rule=f"at most {LONGEST_NAME} printable letters", hint="a shorter one"
        )
    return text


def _check_finite(number: float) -> None:
    if not math.isfinite(number):
        raise LabelError(f"the label {number}", rule="a number that is a label is finite", hint="skip the item")
