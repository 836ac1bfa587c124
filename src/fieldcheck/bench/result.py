"""What a comparison measured: every repetition of every cell, and the rows that sum them up."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fieldcheck.bench.plan import Cell
from fieldcheck.bench.rows import Row
from fieldcheck.bench.signals import FailureCurve
from fieldcheck.core.types import BoolArray, FloatArray, IntArray

TOUCH = 1e-12
"""An interval that ends at the truth contains it; bounds and truth are computed along different ways."""


@dataclass(frozen=True, eq=False)
class CellResult:
    """The repetitions of one cell.

    failing
        Items of the pool that fail.
    values, low, high
        One per repetition: estimate and interval on the metric scale.
    trusted
        One per repetition: False where the interval says that it cannot be trusted.
    failures, exposed, labels
        One per repetition: failing draws, distinct failing items, distinct items labelled.
    offsets, offset_edges
        Regression: labelled items per bin (repetition × bin), and the edges of the bins; else empty.
    cpu_seconds
        Processor time of all repetitions; the only part that differs between two runs.
    """

    cell: Cell
    task: str
    truth: float
    failing: int
    values: FloatArray
    low: FloatArray
    high: FloatArray
    trusted: BoolArray
    failures: IntArray
    exposed: IntArray
    labels: IntArray
    offsets: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    offset_edges: FloatArray = field(default_factory=lambda: np.zeros(0))
    cpu_seconds: float = 0.0

    @property
    def errors(self) -> FloatArray:
        """One per repetition: estimate minus truth."""
        return self.values - self.truth

    @property
    def covered(self) -> BoolArray:
        """One per repetition: whether the interval contains the truth."""
        return (self.low <= self.truth + TOUCH) & (self.high >= self.truth - TOUCH)

    def row(self, group: str = "") -> Row:
        """The cell in one row; a subject that is in no group stands alone."""
        squared = self.errors**2
        spread = _sd(self.values)
        return Row(
            subject=self.cell.subject,
            group=group or self.cell.subject,
            design=self.cell.design,
            auxiliary=self.cell.auxiliary,
            budget=self.cell.budget,
            task=self.task,
            repetitions=len(self.values),
            truth=self.truth,
            failing=self.failing,
            mean=float(self.values.mean()),
            bias=float(self.errors.mean()),
            bias_se=spread / math.sqrt(len(self.values)),
            rmse=math.sqrt(squared.mean()),
            rmedse=math.sqrt(float(np.median(squared))),
            failures_mean=float(self.failures.mean()),
            failures_sd=_sd(self.failures),
            exposed_mean=float(self.exposed.mean()),
            coverage=float(self.covered.mean()),
            trusted_share=float(self.trusted.mean()),
            width_mean=float((self.high - self.low).mean()),
            cpu_seconds=self.cpu_seconds,
        )

    def as_record(self) -> dict[str, Any]:
        """Plain values, from which ``from_record`` makes the same cell to the last bit."""
        arrays = {name: value.tolist() for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        plain = {name: value for name, value in vars(self).items() if not isinstance(value, np.ndarray)}
        return {**plain, **arrays, "cell": list(self.cell)}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> CellResult:
        """The inverse of ``as_record``."""
        kinds = {"values": float, "low": float, "high": float, "offset_edges": float, "trusted": bool}
        arrays = {name: np.asarray(record[name], dtype=kinds.get(name, np.int64)) for name in _ARRAYS}
        cell = Cell(*record["cell"])
        task, truth, failing = (record[name] for name in ("task", "truth", "failing"))
        return cls(cell, task, truth, failing, **arrays, cpu_seconds=record["cpu_seconds"])


@dataclass(frozen=True, eq=False)
class Result:
    """A finished comparison.

    leaks
        Subject and auxiliary variable, where the variable gives away the outcome: nobody's skill.
    notes
        What was left out, and why.
    groups
        By subject, what it is one of.
    curves
        How failing goes with each auxiliary variable on each subject.
    versions
        Of fieldcheck and of the packages that numbers depend on.
    """

    cells: tuple[CellResult, ...]
    seed: int
    level: float
    leaks: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    groups: Mapping[str, str] = field(default_factory=dict)
    curves: tuple[FailureCurve, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)

    def rows(self) -> list[Row]:
        """One per cell, in the order in which they were planned."""
        return [self._row(result) for result in self.cells]

    def fair_cells(self) -> tuple[CellResult, ...]:
        """The cells whose auxiliary variable does not give away the outcome."""
        return tuple(one for one in self.cells if (one.cell.subject, one.cell.auxiliary) not in self.leaks)

    def fair_rows(self) -> list[Row]:
        """Their rows: what techniques are ranked by."""
        return [self._row(result) for result in self.fair_cells()]

    def _row(self, result: CellResult) -> Row:
        return result.row(self.groups.get(result.cell.subject, ""))

    def to_dict(self) -> dict[str, Any]:
        """Plain values; what is not a finite number is None."""
        rows = [{key: plain(value) for key, value in row.items()} for row in self.rows()]
        return {
            "rows": rows,
            "leaks": [list(leak) for leak in self.leaks],
            "notes": list(self.notes),
            "seed": self.seed,
            "level": self.level,
            "versions": dict(self.versions),
        }

    def to_json(self) -> str:
        """What ``bench --json`` writes."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n"

    def repetitions_csv(self) -> str:
        """Every repetition of every cell, one line each; floats keep all their digits."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([*Cell._fields, "repetition", "truth", "value", *_PER_REPETITION[1:]])
        for result in self.cells:
            columns = [getattr(result, name).tolist() for name in _PER_REPETITION]
            for r, values in enumerate(zip(*columns, strict=True)):
                writer.writerow([*result.cell, r, result.truth, *values])
        return text.getvalue()


_PER_REPETITION = ("values", "low", "high", "trusted", "failures", "exposed", "labels")

_ARRAYS = (*_PER_REPETITION, "offsets", "offset_edges")


def _sd(values: FloatArray | IntArray) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else math.nan


def plain(value: object) -> object:
    """None for a number that JSON cannot write."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
