"""The parts that columns play, and the names that neighbouring tools and the published subjects give them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fieldcheck.core.pool.column import Column, closest
from fieldcheck.core.pool.origin import Origin

ColumnMap = Mapping[str, str]
"""From a role to the name of a column; to ``none`` where no column has it."""


NONE = "none"


RECOGNISED: dict[str, tuple[str, ...]] = {
    "id": ("id", "row id", "row_id", "rowid", "item", "item_id", "filename", "file_name", "file", "path"),
    "prediction": (
        "prediction",
        "predictions",
        "pred",
        "y_pred",
        "sut",
        "predicted",
        "pred_class",
        "output",
        "outputs",
    ),
    "confidence": ("confidence", "conf", "max_prob", "y_pred_proba", "y_proba", "y_prob", "probability"),
    "target": (
        "target",
        "targets",
        "label",
        "labels",
        "y_true",
        "truth",
        "ground_truth",
        "references",
        "expected",
    ),
    "outcome": ("outcome", "correct", "passed", "success", "result"),
    "probabilities": ("pred_probs", "y_proba", "y_pred_proba", "probabilities", "probs", "proba"),
}
"""By role, in order of preference, in small letters."""


ROWS = ("", "unnamed: 0", "index")
"""Names of columns that only number or name the rows: what pandas and R write beside the table."""


SURE = re.compile(r"(?:y_pred_proba|pred_probs?|y_proba|y_prob|probability|probabilities|probs|proba|prob)_(.+)", re.I)
"""Columns of probabilities by their names alone."""


LIKELY = (
    re.compile(r"(?:\.pred|p|prob|proba|probability|softmax|logits?|scores?|pred)[_ .:(\[-]+(.+?)[)\]]?", re.I),
    re.compile(r"(.+?)[_ .-](?:p|prob|proba|probability|score|softmax|logit|conf|confidence)", re.I),
)
"""Columns that are, if what they hold fits too."""


@dataclass(frozen=True, eq=False)
class Roles:
    """The columns of a pool by their part; what has no part is an auxiliary variable or metadata.

    probabilities
        One row per item, one column per class.
    classes
        Names of the columns of ``probabilities``, where they are known.
    scale
        What the numbers of ``confidence`` are (see ``sources.confidence``); empty: to be found out.
    named
        Whether the user said which column is the confidence.
    """

    ids: Column | None = None
    prediction: Column | None = None
    confidence: Column | None = None
    target: Column | None = None
    outcome: Column | None = None
    probabilities: Any = None
    classes: Sequence[str] | None = None
    scale: str | None = None
    named: bool = False
    others: Mapping[str, Column] = field(default_factory=dict)


Chosen = dict[str, str | None]
"""From a role to its column; to None where it is to have none."""


def given_columns(given: ColumnMap, names: Sequence[str], *, origin: Origin) -> tuple[Chosen, str]:
    """By role, the column that was asked for, and what its confidence was said to be: ``score:percent``."""
    found, scale = Chosen(), ""
    for role in _known(given, origin):
        asked = given[role]
        if asked.strip().lower() == NONE and NONE not in (name.lower() for name in names):
            found[role] = None
            continue
        if role == "confidence" and ":" in asked and asked not in names:
            asked, _, scale = asked.rpartition(":")
        found[role] = closest(asked, names, origin=origin)
    used = [name for name in found.values() if name is not None]
    if len(set(used)) < len(used):
        raise origin.error(
            "one column for two roles: " + ", ".join(f"{role}={name}" for role, name in found.items()),
            rule="every role has a column of its own",
        )
    return found, scale


def _known(given: ColumnMap, origin: Origin) -> Iterable[str]:
    for role in given:
        if role not in RECOGNISED:
            raise origin.error(
                f"no role '{role}' for a column",
                rule="roles: " + ", ".join(RECOGNISED),
                hint=next(iter(difflib.get_close_matches(role, RECOGNISED, n=1)), "prediction=COLUMN"),
            )
    return given


def surely_probabilities(names: Iterable[str], prefix: str | None = None) -> dict[str, str]:
    """By column (``proba_<class>``), the class it is the probability of; a lone one is not a distribution."""
    pattern = SURE if prefix is None else re.compile(re.escape(prefix) + "_?(.+)", re.IGNORECASE)
    found = {name: match[1] for name in names if (match := pattern.fullmatch(name.strip()))}
    return found if len(found) > 1 else {}


def likely_probabilities(names: Iterable[str]) -> list[dict[str, str]]:
    """The same by names that also mean other things, one for each way to write them."""
    tried = [{name: match[1] for name in names if (match := one.fullmatch(name.strip()))} for one in LIKELY]
    return [found for found in tried if len(found) > 1]
