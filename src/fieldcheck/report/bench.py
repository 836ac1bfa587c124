"""The page of a comparison: who did best how often, then the exhibits of the analysis, section by section."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from fieldcheck.core import words
from fieldcheck.report.blocks import Block, sections_of
from fieldcheck.report.page import page

Row = Mapping[str, Any]


def bench_page(
    result: Mapping[str, Any], exhibits: Sequence[Block], *, title: str = "Sampling techniques compared"
) -> str:
    """The report of a comparison.

    result
        What ``bench --json`` writes: ``rows``, and whatever else says how they were made.
    exhibits
        In the order to show them; the part of a name before "/" is its section.
    """
    rows = result.get("rows", [])
    return page(
        title,
        lead=[line for line in (_extent(rows), _best(rows)) if line],
        warnings=[str(warning) for warning in result.get("warnings", ())],
        sections=sections_of(exhibits),
        facts=_facts(result),
        version=str(dict(result.get("versions") or {}).get("fieldcheck", "")),
    )


def _extent(rows: Sequence[Row]) -> str:
    """How much was compared."""
    if not rows:
        return ""
    parts = [
        _some(rows, "design", "technique"),
        _some(rows, "subject", "subject"),
        _some(rows, "budget", "budget"),
    ]
    repetitions = max(int(row.get("repetitions", 0)) for row in rows)
    return f"{parts[0]} on {parts[1]} with {parts[2]}, {words.count(repetitions)} repetitions of each."


def _some(rows: Sequence[Row], key: str, noun: str) -> str:
    number = len({str(row.get(key)) for row in rows})
    return f"{words.count(number)} {noun}{'' if number == 1 else 's'}"


def _best(rows: Sequence[Row]) -> str:
    """How often each technique had the smallest error of a subject and budget, with whatever auxiliary."""
    cells = dict[tuple[str, str], list[tuple[float, str]]]()
    for row in rows:
        error = row.get("rmse")
        if isinstance(error, int | float) and math.isfinite(error):
            key = (str(row.get("subject")), str(row.get("budget")))
            cells.setdefault(key, []).append((float(error), str(row.get("design"))))
    wins = Counter(min(entries)[1] for entries in cells.values())
    if len({row.get("design") for row in rows}) < 2 or not wins:
        return ""
    named = ", ".join(f"{design} in {words.count(number)}" for design, number in wins.most_common(3))
    return f"Smallest RMSE, over {words.count(len(cells))} pairs of subject and budget: {named}."


def _facts(result: Mapping[str, Any]) -> dict[str, str]:
    skipped = {"rows", "warnings"}
    return {str(key).replace("_", " "): _fact(value) for key, value in result.items() if _is_fact(key, value, skipped)}


def _is_fact(key: str, value: object, skipped: set[str]) -> bool:
    """Whether the value is small enough to be read as a fact, not data of its own."""
    if key in skipped or value in (None, "", [], {}):
        return False
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return not any(isinstance(entry, Mapping | list | tuple) for entry in inside)


def _fact(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {entry}" for name, entry in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(str(entry) for entry in value)
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
