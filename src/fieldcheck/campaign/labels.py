"""What a label means that is given in a campaign: checked at once, so that nothing wrong is ever kept."""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from functools import lru_cache

from fieldcheck.campaign.settings import INTERNAL, Settings
from fieldcheck.core.errors import CampaignError, LabelError
from fieldcheck.core.label import PLAIN, RIGHT, WRONG, Meaning, plain, spelling

LONGEST = 200
"""Letters of a name or a key."""


WORDIEST = 2_000
"""Letters of a label, a reason or a note."""


def read_label(typed: str, item: str, settings: Settings, *, prediction: str | float | None) -> str:
    """The label as it counts: the class as the pool spells it, the number, or ``wrong``.

    ``right`` is what the model said, where that is known. Words for right and wrong are classes first, where a class
    has that name.
    """
    if settings.task == "regression":
        return _number(typed, item)
    if prediction is not None and (name := class_of(typed, settings.classes)) is not None:
        return name
    word = typed.lower()
    # 0 and 1 beside classes with other names may mean right and wrong, or the other way round.
    if word in RIGHT | WRONG and (prediction is None or word not in PLAIN):
        return "wrong" if word in WRONG else "right" if prediction is None else str(prediction)
    raise _unknown(typed, item, settings.classes if prediction is not None else ())


def meaning(label: str, classes: tuple[str, ...]) -> Meaning:
    """What a label that was read says, where it is not a class or a number."""
    if label not in ("right", "wrong") or label in classes:
        return "as read"
    return "wrong" if label == "wrong" else "right"


def class_of(typed: str, classes: tuple[str, ...]) -> str | None:
    """The class that is meant; None where there is no such class."""
    names = _names(classes)
    text = plain(typed)
    return names.get(text, names.get(text.casefold()))


@lru_cache(maxsize=16)
def _names(classes: tuple[str, ...]) -> dict[str, str]:
    own = {plain(name): name for name in classes}
    return {written: own[name] for written, name in spelling(classes).items()}


def _number(typed: str, item: str) -> str:
    try:
        value = float(typed)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise LabelError(
            f"label '{typed}' of item '{item}' is not a number",
            rule="the labels of a regression are finite numbers, with a decimal point",
            hint="skip the item if it has none",
        )
    return repr(value)


def _unknown(typed: str, item: str, classes: Sequence[str]) -> LabelError:
    close = difflib.get_close_matches(typed, classes, n=3, cutoff=0.5)
    names = ", ".join(classes[:8]) + (", ..." if len(classes) > 8 else "")
    return LabelError(
        f"label '{typed}' of item '{item}' is no class",
        rule=f"a label is one of {names}; or right, or wrong" if classes else "a label is right or wrong",
        hint=" or ".join(close) if close else "a class that is missing is named when the campaign is started",
    )


def unknown_item(item: str, ids: Sequence[str]) -> LabelError:
    """An item that is not in the pool, with those that are called alike."""
    close = list(dict.fromkeys(difflib.get_close_matches(item, ids, n=6, cutoff=0.6)))[:3]
    return LabelError(
        f"no item '{item}' in this campaign",
        rule="an item is named by its id in the pool",
        hint=" or ".join(f"'{name}'" for name in close) if close else "check the id",
    )


def checked_words(text: str, what: str) -> str:
    """What somebody says, without blanks around it; whole documents are refused."""
    text = text.strip()
    if len(text) > WORDIEST:
        raise LabelError(f"{what} has {len(text):,} letters", rule=f"at most {WORDIEST:,}", hint="a shorter one")
    return text


def checked_text(text: str, what: str) -> str:
    """A name or key without blanks around it; too long ones, and those with control codes, are refused."""
    text = text.strip()
    if len(text) > LONGEST or not text.isprintable():
        raise CampaignError(f"{what} {text[:40]!r}", rule=f"at most {LONGEST} printable letters", hint="a shorter one")
    return text


def checked_name(text: str) -> str:
    """A person's name; none at all is refused."""
    name = checked_text(text, "the name")
    if not name:
        raise CampaignError("a person without a name", rule="everyone has a name", hint="ada,bob")
    return name


def checked_key(key: str) -> str:
    """A key as somebody sends it; those of events that nobody sends are refused."""
    key = checked_text(key, "the key")
    if not key or key.startswith(INTERNAL):
        raise CampaignError(f"the key '{key}'", rule=f"it says something, and does not begin with {INTERNAL}")
    return key
