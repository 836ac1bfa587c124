"""For contributors: what every design and estimator must pass, and assertions that say how often they err."""

from __future__ import annotations

from fieldcheck.testing.cases import Case, cases, scattered
from fieldcheck.testing.conformance import check_design, check_estimator
from fieldcheck.testing.statistics import assert_covers, assert_frequencies, assert_unbiased

__all__ = [
    "Case",
    "assert_covers",
    "assert_frequencies",
    "assert_unbiased",
    "cases",
    "check_design",
    "check_estimator",
    "scattered",
]
