"""How a pool was read, in a few lines for whoever owns the file."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fieldcheck.core import words
from fieldcheck.core.pool.column import numbers
from fieldcheck.core.pool.pool import Pool
from fieldcheck.sources.confidence import LOGIT, PERCENT, SHARE
from fieldcheck.sources.reading import Reading, as_confidence

LONGEST = 24
"""Characters of a name in a list."""


SHOWN = 6
"""Classes and columns that are named; more are counted."""


NO_SIGNAL = "nothing tells risky items from safe ones, so this will need about as many labels as a random sample"


@dataclass(frozen=True)
class PartLine:
    """One part, the column that plays it (or ``none``), and what it holds."""

    part: str
    column: str
    detail: str = ""


def described(found: Reading, pool: Pool | None, *, signals: Sequence[str] = ()) -> list[PartLine]:
    """The parts in their order; without a pool, where it could not be made, only the columns.

    signals
        What tells risky items from safe ones.
    """
    lines = [
        PartLine(
            "id",
            _shown(found.chosen.get("id"), "none"),
            "" if found.chosen.get("id") is not None else "numbered from 0",
        ),
        PartLine("prediction", *_prediction(found, pool)),
        PartLine("confidence", *_confidence(found, pool, signals)),
        PartLine("truth", *_truth(found, pool)),
    ]
    return [*lines, PartLine("also", listed(found.others))] if found.others else lines


def _shown(name: str | None, otherwise: str) -> str:
    return otherwise if name is None else name or "(no name)"


def listed(names: list[str] | tuple[str, ...], most: int = SHOWN) -> str:
    """Names between commas; long ones are cut, many are counted."""
    shown = [name if len(name) <= LONGEST else f"{name[: LONGEST - 1].rstrip()}…" for name in names[:most]]
    return ", ".join(shown) + (f", ... ({len(names):,})" if len(names) > most else "")


def _prediction(found: Reading, pool: Pool | None) -> tuple[str, str]:
    name = found.chosen.get("prediction")
    column = _shown(name, "the largest probability" if found.likely else "none")
    if pool is None or pool.predictions is None:
        return column, ""
    if pool.task == "regression":
        low, high = (words.short(float(value)) for value in (pool.predictions.min(), pool.predictions.max()))
        return column, f"numbers, {low} … {high}"
    said = [pool.classes[code] for code in np.unique(pool.predictions)]
    return column, f"{words.counted(len(said), 'class', 'classes')}: {listed(said)}"


def _confidence(found: Reading, pool: Pool | None, signals: Sequence[str]) -> tuple[str, str]:
    name = found.chosen.get("confidence")
    if name is None and found.likely:
        held = listed(list(found.likely))
        return held, f"probabilities of {words.counted(len(pool.classes), 'class', 'classes')}" if pool else ""
    if name is None:
        if signals:
            return "none", f"risky items are told from safe ones by {listed(list(signals))}, if that can tell them"
        return "none", NO_SIGNAL if pool is None or pool.task == "classification" else ""
    values = numbers(as_confidence(found.table.columns[name]), name, origin=found.origin)
    spread = f"{words.short(float(np.nanmin(values)))} … {words.short(float(np.nanmax(values)))}"
    return name, spread + (_scale(pool.origin.scale) if pool else "")


def _scale(scale: str) -> str:
    known = {SHARE: "", "": "", PERCENT: ", taken as percent", LOGIT: ", taken as logits"}
    return known.get(scale, f", taken as the probability of '{scale}'")


def _truth(found: Reading, pool: Pool | None) -> tuple[str, str]:
    name = found.chosen.get("target", found.chosen.get("outcome"))
    if name is not None:
        kind = "right or wrong" if found.chosen.get("outcome") == name else "the right answers"
        known = "" if pool is None or not pool.truth_known else "; `simulate` uses it, labelling does not show it"
        return name, kind + known
    if found.labels is not None:
        return "none", f"(column '{found.labels}' looks like labels: --truth {shlex.quote(found.labels)})"
    return "none", ""
