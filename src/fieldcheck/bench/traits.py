"""What a technique is like, by its words on the command line: table 1 of the ICSE'24 paper, for every design."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from fieldcheck.accuracy.assessment import sampling
from fieldcheck.bench.rows import Row, accuracy_level
from fieldcheck.core.errors import FieldcheckError

UNKNOWN = "unknown"
"""Of a technique that is not installed here."""


@cache
def partitioning(spec: str) -> str:
    """``yes`` if the technique cuts the pool into strata."""
    return _trait(spec, "partitions", ("no", "yes"))


@cache
def replacement(spec: str) -> str:
    """``with`` if the technique may draw an item twice."""
    return _trait(spec, "replace", ("without", "with"))


def _trait(spec: str, attribute: str, words: tuple[str, str]) -> str:
    try:
        return words[bool(getattr(sampling.build_design(spec), attribute, False))]
    except FieldcheckError:
        return UNKNOWN


TRAITS: dict[str, Callable[[Row], str]] = {
    "partitioning": lambda row: partitioning(row["design"]),
    "replacement": lambda row: replacement(row["design"]),
    "accuracy": accuracy_level,
    "group": lambda row: row["group"],
}
"""By which rows are broken down: two belong to the technique, two to the subject."""
