"""Compare techniques on pools whose truth is known, as the papers do, and say which to take."""

from __future__ import annotations

from fieldcheck.bench.analysis import analyse, evidence
from fieldcheck.bench.plan import Cell, Study, split_specs
from fieldcheck.bench.recommend import Recommendation, recommend
from fieldcheck.bench.result import CellResult, Result
from fieldcheck.bench.rows import Row
from fieldcheck.bench.run import run
from fieldcheck.bench.shipped import compact_json, measured_rows

__all__ = [
    "Cell",
    "CellResult",
    "Recommendation",
    "Result",
    "Row",
    "Study",
    "analyse",
    "compact_json",
    "evidence",
    "measured_rows",
    "recommend",
    "run",
    "split_specs",
]
