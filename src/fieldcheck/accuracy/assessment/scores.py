"""Metrics of a pool as people see them: scores of classes, the confusion matrix, tables of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fieldcheck.core.exhibit import Cell, Exhibit, Matrix, Table
from fieldcheck.core.interval import Interval

DRAWN = 20
"""Classes up to which the confusion matrix is drawn; beyond, its largest cells are listed."""


@dataclass(frozen=True)
class ClassScore:
    """One metric of one class, or the mean over classes (``macro``).

    value, interval
        None where the labels do not suffice; a value of None with an interval is a bound.
    remark
        Why there is no number, or only a bound.
    """

    metric: str
    name: str
    value: float | None
    interval: Interval | None
    remark: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        shown = self.interval
        return {
            "metric": self.metric,
            "class": self.name,
            "value": self.value,
            "low": None if shown is None else shown.low,
            "high": None if shown is None else shown.high,
            "remark": self.remark,
        }


@dataclass(frozen=True)
class Confusion:
    """How often items that were predicted ``a`` truly are ``c``, in items of the pool.

    predicted, true
        Names of rows and columns.
    counts
        One row per predicted class.
    largest
        The largest confusions that were seen: predicted, true, labels that show it, estimate, low, high.
    """

    predicted: tuple[str, ...]
    true: tuple[str, ...]
    counts: tuple[tuple[float, ...], ...]
    largest: tuple[tuple[str, str, int, float, float, float], ...]
    level: float

    def exhibits(self) -> list[Exhibit]:
        """The matrix where it is small enough to be read, and the largest confusions with their intervals."""
        return [*([self._matrix()] if len(self.true) <= DRAWN else []), self._table()]

    def _matrix(self) -> Matrix:
        share = [[count / max(sum(row), 1e-9) for count in row] for row in self.counts]
        values = [
            [part if true == said else -part for part, true in zip(row, self.true, strict=True)]
            for row, said in zip(share, self.predicted, strict=True)
        ]
        return Matrix(
            "metrics/confusion",
            "Confusion matrix, estimated for the whole pool: rows are predictions, columns the truth",
            self.predicted,
            self.true,
            tuple(tuple(row) for row in values),
            texts=tuple(tuple(f"{count:,.0f}" for count in row) for row in self.counts),
            legend=((1.0, "right"), (0.0, "none"), (-1.0, "wrong")),
            note="Items of the pool, estimated; cells without a failure that was seen are filled from the others.",
        )

    def _table(self) -> Table:
        rows: tuple[tuple[Cell, ...], ...] = self.largest
        return Table(
            "metrics/confusions",
            f"Largest confusions that were seen, items of the pool with {100 * self.level:g} % intervals",
            ("predicted", "truly", "seen", "items", "low", "high"),
            rows,
            note="The largest of many estimates is more likely too large than too small.",
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        names = ("predicted", "true", "seen", "items", "low", "high")
        return {
            "predicted": list(self.predicted),
            "true": list(self.true),
            "counts": [list(row) for row in self.counts],
            "largest": [dict(zip(names, row, strict=True)) for row in self.largest],
        }


@dataclass(frozen=True)
class Metrics:
    """The metrics that were asked for."""

    scores: tuple[ClassScore, ...]
    confusion: Confusion | None
    level: float
    notes: tuple[str, ...]

    def exhibits(self) -> list[Exhibit]:
        """Tables, and the matrix."""
        rows = tuple(_score_row(score) for score in self.scores)
        columns = ("metric", "class", "value", "low", "high", "remark")
        title = f"Metrics of the whole pool, {100 * self.level:g} % intervals"
        table = Table("metrics/scores", title, columns, rows, note="; ".join(self.notes))
        return [*([table] if rows else []), *(self.confusion.exhibits() if self.confusion else [])]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "level": self.level,
            "scores": [score.to_dict() for score in self.scores],
            "confusion": None if self.confusion is None else self.confusion.to_dict(),
            "notes": list(self.notes),
        }


def _score_row(score: ClassScore) -> tuple[Cell, ...]:
    low, high = (None, None) if score.interval is None else (score.interval.low, score.interval.high)
    return (score.metric, score.name, score.value, low, high, score.remark)
