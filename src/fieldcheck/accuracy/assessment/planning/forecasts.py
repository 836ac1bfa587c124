"""What each technique may give for each budget: a half-width that is expected, and its range."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from fieldcheck.core import words
from fieldcheck.core.exhibit import Cell, Line, LineChart, Table


@dataclass(frozen=True)
class Forecast:
    """What one budget may give: the half-width that is expected, and the range that it may lie in."""

    labels: int
    half_width: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float]:
        """Plain values, for JSON."""
        return {"labels": self.labels, "half_width": self.half_width, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Course:
    """One technique: forecasts by budget, and the labels that the half-width asked for may need.

    needed
        As expected, at best and at worst; None where none was asked for.
    """

    design: str
    forecasts: tuple[Forecast, ...]
    needed: tuple[int, int, int] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        needed = None if self.needed is None else dict(zip(("labels", "low", "high"), self.needed, strict=True))
        return {"design": self.design, "forecasts": [one.to_dict() for one in self.forecasts], "needed": needed}


@dataclass(frozen=True)
class Forecasts:
    """What each technique may give for each budget.

    relative
        True where half-widths are in units of the error itself (regression).
    rates
        Failure rates that are believed possible: low end, middle, high end. Empty for regression.
    labels
        Labels that the forecasts know of.
    """

    pool: str
    population: int
    level: float
    courses: tuple[Course, ...]
    budget: int | None = None
    half_width: float | None = None
    relative: bool = False
    rates: tuple[float, ...] = ()
    labels: int = 0
    notes: tuple[str, ...] = ()

    def sentences(self) -> list[str]:
        """The answer to what was asked, one line per technique."""
        if self.half_width is not None:
            return [self._needs(course) for course in self.courses if course.needed is not None]
        found = [(c, f) for c in self.courses for f in c.forecasts if f.labels == self.budget]
        return [
            f"{course.design}: {words.counted(one.labels, 'label gives', 'labels give')} about "
            f"{self._shown(one.half_width)} ({self._shown(one.low)} to {self._shown(one.high)})."
            for course, one in found
        ]

    def _needs(self, course: Course) -> str:
        middle, low, high = course.needed or (0, 0, 0)
        return (
            f"{course.design}: {self._shown(self.half_width or 0.0)} takes about {words.counted(middle, 'label')} "
            f"({low:,} to {high:,})."
        )

    def _shown(self, half: float) -> str:
        digits = 0 if self.relative else max(1, 1 - math.floor(math.log10(max(100 * half, 0.01))))
        return f"±{100 * half:.{digits}f} " + ("% of the error" if self.relative else "points")

    def table(self) -> Table:
        """Half-widths by technique and budget, each with its range."""
        budgets = sorted({one.labels for course in self.courses for one in course.forecasts})
        rows: list[tuple[Cell, ...]] = []
        for labels in budgets:
            by = {course.design: one for course in self.courses for one in course.forecasts if one.labels == labels}
            rows.append((labels, *(self._range(by[course.design]) for course in self.courses)))
        unit = "% of the error" if self.relative else "percentage points"
        return Table(
            "plan/forecast",
            f"Half-width of the {100 * self.level:g} % interval, {unit}: expected (range)",
            ("labels", *(course.design for course in self.courses)),
            tuple(rows),
            note="; ".join(self.notes),
        )

    def _range(self, one: Forecast) -> str:
        shown = [f"{100 * value:.3g}" for value in (one.half_width, one.low, one.high)]
        return f"±{shown[0]} ({shown[1]} to {shown[2]})"

    def chart(self) -> LineChart:
        """Half-width over labels, with the range as a band."""
        lines = tuple(
            Line(
                course.design,
                tuple(float(one.labels) for one in course.forecasts),
                tuple(one.half_width for one in course.forecasts),
                tuple(one.low for one in course.forecasts),
                tuple(one.high for one in course.forecasts),
            )
            for course in self.courses
        )
        return LineChart(
            "plan/half-width",
            f"Expected half-width of the {100 * self.level:g} % interval",
            "labels",
            "half-width, share of the error" if self.relative else "half-width",
            lines,
            x_log=True,
            y_log=True,
            reference=self.half_width,
            reference_label="asked for" if self.half_width is not None else "",
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "pool": self.pool,
            "population": self.population,
            "level": self.level,
            "budget": self.budget,
            "half_width": self.half_width,
            "relative": self.relative,
            "believed_failure_rates": list(self.rates),
            "labels_known": self.labels,
            "designs": [course.to_dict() for course in self.courses],
            "sentences": self.sentences(),
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        lines = [*self.sentences(), "", self.table().title]
        lines += ["  ".join(str(cell) for cell in row) for row in (self.table().columns, *self.table().rows)]
        return "\n".join([*lines, *(f"  note: {text}" for text in self.notes)])
