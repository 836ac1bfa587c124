"""What a query gets: the robustness of a region, how sure that is, and what it rests on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Condition:
    """One test and what is known about it.

    severities
        By perturbation, only those at work.
    inputs
        How many inputs it was run on; 0 where it is only predicted.
    """

    severities: Mapping[str, int]
    robustness: float
    low: float
    high: float
    inputs: int = 0

    def __str__(self) -> str:
        return ", ".join(f"{name} {level}" for name, level in self.severities.items()) or "unperturbed"


@dataclass(frozen=True)
class Answer:
    """The aggregate robustness of the tests that a query selects.

    tests, measured
        Tests in the region, and those of them that were run on at least one input; the others are predicted.
    rows
        Inferences that fell into the region.
    robustness, low, high, level
        Mean over the region, plain or weighted by the profile, and its interval.
    base
        Robustness without any perturbation; the drop is the difference.
    audit, audit_error
        The same from the rows in the region alone, corrected for how they were drawn: right on average whatever the
        surrogate believes, but noisier. nan where the plan was not random or too few rows fell into the region.
    worst
        The weakest tests of the region, weakest first.
    """

    query: str
    tests: int
    measured: int
    rows: int
    robustness: float
    low: float
    high: float
    level: float
    base: float
    audit: float = math.nan
    audit_error: float = math.nan
    worst: tuple[Condition, ...] = ()
    profile: str = ""
    notes: tuple[str, ...] = ()

    @property
    def inferred(self) -> int:
        """Tests that were never run."""
        return self.tests - self.measured

    @property
    def drop(self) -> float:
        """How much robustness the region costs."""
        return self.base - self.robustness

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; nan is null."""
        found = asdict(self) | {"inferred": self.inferred, "drop": self.drop}
        return {
            name: None if isinstance(value, float) and math.isnan(value) else value for name, value in found.items()
        }
