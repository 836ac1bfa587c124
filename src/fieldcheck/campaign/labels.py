"""The one reader of labels: from what a person wrote to what it says, checked at once."""

from __future__ import annotations

import difflib
import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from fieldcheck.campaign.settings import INTERNAL
from fieldcheck.core import label, words
from fieldcheck.core.errors import CampaignError, LabelError
from fieldcheck.core.types import Task


def read(
    text: str,
    *,
    task: Task,
    classes: Sequence[str] = (),
    prediction: str | float | None = None,
    item: str = "",
    where: str = "",
) -> label.Label:
    """What a text says about an item; what it cannot mean is refused.

    Words for right, wrong and skip are classes first, where a class has that name.

    classes
        All that a label may name: those of the pool, and those that were declared. None: only right or wrong.
    prediction
        What ``right`` means; None where it is not known, or where there are several models.
    item, where
        For messages: whose label it is, and ``line 7``, where the text stands in a file.
    """
    written = label.checked_words(text, "the label")
    place = f"of item '{item}'" + (f" on {where}" if where else "")
    name = class_of(written, tuple(classes)) if task == "classification" else None
    if name is not None:
        return label.TrueClass(name)
    word = written.lower()
    if word in label.LOST:
        return label.Missing("" if word in label.SKIP else written)
    if task == "regression":
        return label.Value(_number(written, place))
    # 0 and 1 beside classes with other names may mean right and wrong, or the other way round.
    if word in label.RIGHT | label.WRONG and not (classes and word in label.PLAIN):
        return _outcome(word in label.RIGHT, prediction)
    raise _unknown(written, place, classes)


def _outcome(right: bool, prediction: str | float | None) -> label.Label:
    return label.TrueClass(str(prediction)) if right and prediction is not None else label.Outcome(right)


def class_of(written: str, classes: tuple[str, ...]) -> str | None:
    """The class that is meant; None where there is no such class."""
    names, text = _spellings(classes), label.plain(written)
    return names.get(text, names.get(text.casefold()))


@lru_cache(maxsize=16)
def _spellings(classes: tuple[str, ...]) -> dict[str, str]:
    """From what may be written to the class it names: any case will do where no two classes differ in nothing else."""
    own = {label.plain(name): name for name in classes}
    count = Counter(text.casefold() for text in own)
    alike = {text.casefold(): name for text, name in own.items() if count[text.casefold()] == 1}
    return alike | own


def _number(written: str, place: str) -> float:
    try:
        value = float(written)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise LabelError(
            f"label '{written}' {place} is not a number",
            rule="the labels of a regression are finite numbers, with a decimal point",
            hint="correct it, or skip the item if it has none",
        )
    return value


def _unknown(written: str, place: str, classes: Sequence[str]) -> LabelError:
    if not classes:
        return LabelError(
            f"label '{written}' {place} says neither right nor wrong",
            rule="this pool has no predictions to compare a class with",
            hint="right or wrong for every item",
        )
    names = words.some(classes, 8)
    return LabelError(
        f"label '{written}' {place} is no class",
        rule=f"a label is one of {names}; or right, or wrong",
        hint=_instead(written, classes),
    )


def _instead(written: str, classes: Sequence[str]) -> str:
    if written in label.PLAIN:
        return "write right or wrong instead of 1 and 0"
    folded = {name.casefold(): name for name in classes}
    close = [folded[one] for one in difflib.get_close_matches(written.casefold(), folded, n=3, cutoff=0.5)]
    declared = f"--new-class '{written}', if it is a class that the model does not know"
    return f"{' or '.join(close)}; or {declared}" if close else declared


def unknown_item(item: str, ids: Sequence[str]) -> LabelError:
    """An item that is not in the pool, with those that are called alike."""
    close = list(dict.fromkeys(difflib.get_close_matches(item, ids, n=6, cutoff=0.6)))[:3]
    return LabelError(
        f"no item '{item}' in this campaign",
        rule="an item is named by its id in the pool",
        hint=" or ".join(f"'{name}'" for name in close) if close else "check the id",
    )


def person_name(text: str) -> str:
    """A person's name; none at all is refused."""
    name = label.checked_name(text, "the name")
    if not name:
        raise CampaignError("a person without a name", rule="everyone has a name", hint="ada,bob")
    return name


def checked_key(key: str) -> str:
    """A key as it was sent; those of events that are not sent are refused."""
    key = label.checked_name(key, "the key")
    if not key or key.startswith(INTERNAL):
        raise CampaignError(f"the key '{key}'", rule=f"it says something, and does not begin with {INTERNAL}")
    return key
