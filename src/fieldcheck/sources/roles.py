"""Which column plays which part, by the names that neighbouring tools and the published subjects use."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fieldcheck.core.pool.column import Column, closest, missing, numbers
from fieldcheck.core.pool.origin import Origin
from fieldcheck.sources.classes import is_outcome

ColumnMap = Mapping[str, str]
"""From a role to the name of a column."""


RECOGNISED: dict[str, tuple[str, ...]] = {
    "id": (
        "id",
        "row id",
        "row_id",
        "rowid",
        "item",
        "item_id",
        "index",
        "",
        "unnamed: 0",
        "filename",
        "file_name",
        "file",
        "path",
    ),
    "prediction": ("prediction", "predictions", "pred", "y_pred", "sut", "predicted", "pred_class", "output"),
    "confidence": ("confidence", "conf", "max_prob", "y_pred_proba", "y_proba", "probability"),
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
    "outcome": ("outcome", "correct", "passed", "result"),
    "probabilities": ("pred_probs", "y_proba", "y_pred_proba", "probabilities", "probs", "proba"),
}
"""By role, in order of preference, in small letters. The empty name is the index that pandas writes."""


ONE_SIDED = frozenset({"y_pred_proba", "y_proba", "probability"})
"""Columns that hold the probability of the second of two classes as often as that of the predicted one."""


PROBABILITY = re.compile(r"(?:y_pred_proba|pred_probs?|y_proba|proba|prob)_(.+)", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Roles:
    """The columns of a pool by their part; what has no part is an auxiliary variable or metadata.

    probabilities
        One row per item, one column per class.
    classes
        Names of the columns of ``probabilities``, where they are known.
    one_sided
        True where ``confidence`` may be the probability of the second of two classes.
    """

    ids: Column | None = None
    prediction: Column | None = None
    confidence: Column | None = None
    target: Column | None = None
    outcome: Column | None = None
    probabilities: Any = None
    classes: Sequence[str] | None = None
    one_sided: bool = False
    others: Mapping[str, Column] = field(default_factory=dict)


def resolve(names: Sequence[str], given: ColumnMap, *, origin: Origin) -> dict[str, str]:
    """By role, the column that plays it: the given one, else the first recognised name that is still free."""
    found = {role: closest(given[role], names, origin=origin) for role in _known(given, origin)}
    if len(set(found.values())) < len(found):
        raise origin.error(
            "one column for two roles: " + ", ".join(f"{role}={name}" for role, name in found.items()),
            rule="every role has a column of its own",
        )
    lowered = {name.strip().lower(): name for name in reversed(names)}
    for role, candidates in RECOGNISED.items():
        free = [lowered[c] for c in candidates if c in lowered and lowered[c] not in found.values()]
        if free and role not in found and role != "probabilities":
            found[role] = free[0]
    return found


def _known(given: ColumnMap, origin: Origin) -> Iterable[str]:
    for role in given:
        if role not in RECOGNISED:
            raise origin.error(
                f"no role '{role}' for a column",
                rule="roles: " + ", ".join(RECOGNISED),
                hint=next(iter(difflib.get_close_matches(role, RECOGNISED, n=1)), "prediction=COLUMN"),
            )
    return given


def probability_columns(names: Iterable[str], prefix: str | None = None) -> dict[str, str]:
    """By column (``proba_<class>``), the class it is the probability of; a lone one is not a distribution."""
    pattern = PROBABILITY if prefix is None else re.compile(re.escape(prefix) + "_?(.+)", re.IGNORECASE)
    found = {name: match[1] for name in names if (match := pattern.fullmatch(name.strip()))}
    return found if len(found) > 1 else {}


def place_truth(
    found: Mapping[str, str], columns: Mapping[str, Column], *, truth: str | None, origin: Origin
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The roles with the truth put where its values belong, and what to tell the user about it.

    A column of Pass and Fail is an outcome; an ``outcome`` column of other values is a target. A truth that
    is only
    known for some items is left among the other columns, unless it was asked for: then it is refused when it
    is read.
    """
    prediction = columns.get(found.get("prediction", ""))
    rest = {role: name for role, name in found.items() if role not in ("target", "outcome")}
    if truth is not None:
        return _chosen_truth(found, rest, columns=columns, truth=closest(truth, columns, origin=origin)), ()
    notes = []
    for role, name in found.items():
        if role in rest:
            continue
        if gaps := int(missing(columns[name]).sum()):
            notes.append(f"'{name}' is missing for {gaps:,} items: the truth counts as unknown")
            continue
        says = is_outcome(columns[name], named=role == "outcome", prediction=prediction)
        rest.setdefault("outcome" if says else "target", name)
    return rest, tuple(notes)


def _chosen_truth(
    found: Mapping[str, str], rest: Mapping[str, str], *, columns: Mapping[str, Column], truth: str
) -> dict[str, str]:
    """The truth that was asked for, and no other."""
    kept = {role: name for role, name in rest.items() if name != truth}
    named = truth.strip().lower() in RECOGNISED["outcome"] or found.get("outcome") == truth
    prediction = columns[kept["prediction"]] if "prediction" in kept else None
    says = is_outcome(columns[truth], named=named, prediction=prediction)
    return {**kept, ("outcome" if says else "target"): truth}


def assign(
    columns: Mapping[str, Column], given: ColumnMap, *, truth: str | None, origin: Origin
) -> tuple[Roles, Origin, tuple[str, ...]]:
    """A table's columns by their part, the origin that knows their names, and notes."""
    likely = _likely(columns, given.get("probabilities"), origin)
    plain = {name: column for name, column in columns.items() if name not in likely}
    mapped = {role: name for role, name in given.items() if role != "probabilities"}
    found, notes = place_truth(resolve(list(plain), mapped, origin=origin), plain, truth=truth, origin=origin)
    named = replace(origin, columns={**found, "probabilities": ", ".join(likely)})
    parts = {("ids" if role == "id" else role): plain[name] for role, name in found.items()}
    matrix = [numbers(columns[name], name, origin=origin) for name in likely]
    roles = Roles(
        **parts,
        probabilities=np.column_stack(matrix) if matrix else None,
        classes=list(likely.values()) or None,
        one_sided=found.get("confidence", "").strip().lower() in ONE_SIDED,
        others={name: column for name, column in plain.items() if name not in found.values()},
    )
    return roles, named, notes


def _likely(columns: Mapping[str, Column], prefix: str | None, origin: Origin) -> dict[str, str]:
    found = probability_columns(columns, prefix)
    if prefix is not None and not found:
        raise origin.error(
            f"no columns '{prefix}_<class>'",
            rule="columns: " + ", ".join(columns),
            hint="the part that the names of all probability columns begin with",
        )
    return found
