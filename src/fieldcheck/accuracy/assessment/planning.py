"""How wide the interval will be, before labels are paid for.

The risk model says what it expects of every item; that gives the variance of each technique at each budget, and so the
half-width of its interval. How far the truth may lie from that is covered by moving the expectation up and down by one
on the logit scale (less, once there are labels), and by a margin that was measured on published pools
(``benchmarks/slices_and_plan.py``): a forecast is a range, never one number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fieldcheck import sources
from fieldcheck.accuracy import designs as techniques
from fieldcheck.accuracy.assessment.sampling import auxiliary_names, build_design, frame_for
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.designs.base import Design, auxiliary_of, spec
from fieldcheck.accuracy.designs.forecast import Forecastable, Scenario
from fieldcheck.core import words
from fieldcheck.core.errors import BudgetError, DesignError, FieldcheckError
from fieldcheck.core.exhibit import Cell, Line, LineChart, Table
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.sample import Labelled
from fieldcheck.core.types import FloatArray
from fieldcheck.numerics import special
from fieldcheck.numerics.regression import risk

LADDER = (50, 100, 200, 400, 800, 1600)
"""Budgets that are always shown."""


LEAST = 20
"""Labels under which the approximate intervals are no forecast's business."""


REACH = 1.0
"""How far the truth may lie from the expectation before any label, on the logit scale: one standard deviation."""


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
        Failure rates that the forecasts assume: at best, as expected, at worst. Empty for regression.
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
            f"Half-width of the {self.level:.0%} interval, {unit}: expected (range)",
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
            f"Expected half-width of the {self.level:.0%} interval",
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
            "assumed_failure_rates": list(self.rates),
            "labels_known": self.labels,
            "designs": [course.to_dict() for course in self.courses],
            "sentences": self.sentences(),
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        lines = [*self.sentences(), "", self.table().title]
        lines += ["  ".join(str(cell) for cell in row) for row in (self.table().columns, *self.table().rows)]
        return "\n".join([*lines, *(f"  note: {text}" for text in self.notes)])


def plan(
    pool: Pool | str | Path,
    *,
    budget: int | None = None,
    half_width: float | None = None,
    designs: Sequence[Design | str] = (),
    level: float = 0.95,
    labelled: Labelled | None = None,
) -> Forecasts:
    """What each technique may give for a budget, or needs for a half-width, as ranges; or for the usual budgets.

    designs
        Left out: all that can be forecast.
    labelled
        Labels that are there already, from any technique: the forecast then starts from what they say, and its range
        is narrower. Budgets are labels in all, these included. Regression needs them: nothing is known about the
        scale of errors before the first label.
    """
    pool = sources.load(pool)
    _check(pool, budget, half_width, labelled)
    chosen, notes = _usable([build_design(one) for one in designs or _forecastable()], pool)
    outlook = Outlook.of(pool, labelled)
    budgets = sorted({*(one for one in LADDER if one < len(pool)), *([budget] if budget else [])})
    if not budgets:
        notes.append(
            f"a pool of {words.counted(len(pool), 'item')} has no budget of the usual ones: "
            "label all, or ask with --budget"
        )
    courses = tuple(
        _course(one, pool, outlook.seen_by(one, pool, labelled), budgets=budgets, half_width=half_width, level=level)
        for one in chosen
    )
    return Forecasts(
        pool=pool.name,
        population=len(pool),
        level=level,
        courses=courses,
        budget=budget,
        half_width=half_width,
        relative=pool.task == "regression",
        rates=outlook.rates,
        labels=outlook.labels,
        notes=(*outlook.notes(), *notes),
    )


def _check(pool: Pool, budget: int | None, half_width: float | None, labelled: Labelled | None) -> None:
    if budget is not None and half_width is not None:
        raise BudgetError(
            "a plan for a budget and a half-width at once",
            rule="one of them, or none",
            hint="--budget 300, or --half-width 0.01",
        )
    if budget is not None:
        pool.check_budget(budget)
    if half_width is not None and not 0 < half_width < 0.5:
        raise BudgetError(
            f"a half-width of {half_width:g}", rule="between 0 and 0.5: 0.01 is one point", hint="--half-width 0.01"
        )
    if pool.task == "regression" and labelled is None:
        raise FieldcheckError(
            "no plan for a regression without labels",
            rule="nothing can be said about the scale of errors before the first labels",
            hint="label 50 items (fieldcheck sample) and give the file: --labels FILE",
        )


def _usable(chosen: list[Design], pool: Pool) -> tuple[list[Forecastable], list[str]]:
    """The techniques that can be planned for and that this pool has the variables for, and a note on the others."""
    have = derived.names(pool)
    for one in chosen:
        if not isinstance(one, Forecastable):
            raise DesignError(f"no forecast for '{one.name}'", rule="there are: " + ", ".join(_forecastable()))
    able = [one for one in chosen if isinstance(one, Forecastable)]
    lacking = [one for one in able if not set(auxiliary_names(one, pool)) <= set(have)]
    notes = [f"{one.name} is left out: this pool has no {'+'.join(auxiliary_names(one, pool))}" for one in lacking]
    return [one for one in able if one not in lacking], notes


def _forecastable() -> list[str]:
    return sorted(name for name, kind in techniques.registry.items() if isinstance(kind(), Forecastable))


EVERYTHING = techniques.Waves()
"""Looks at all auxiliary variables that are known to help."""


@dataclass(frozen=True, eq=False)
class Outlook:
    """What is expected of every item, at best, as expected, and at worst.

    expected
        Three arrays, one value per item each.
    basis
        What that rests on, in words.
    dispersion
        Of losses without a limit: their variance in units of the squared expectation.
    """

    model: risk.RiskModel
    expected: tuple[FloatArray, FloatArray, FloatArray]
    basis: str
    labels: int = 0
    dispersion: float = 2.0

    @classmethod
    def of(cls, pool: Pool, labelled: Labelled | None, design: Design = EVERYTHING) -> Outlook:
        frame = frame_for(pool, design, None)
        model = risk.model_of(frame)
        if labelled is None:
            sure = "the model's own confidence" if "confidence" in frame.auxiliary else "a guess without confidence"
            return cls(model, _scenarios(model, model.expected(model.prior()), REACH), f"{sure}, before any label")
        items, losses = labelled.sample.items, labelled.losses
        expected = model.expected(model.fit(items, losses))
        at, basis = expected[items], words.counted(labelled.labels, "label")
        if model.family == "gamma":
            dispersion = float(((losses - at) ** 2).sum() / max(float((at**2).sum()), 1e-300))
            return cls(model, _scenarios(model, expected, 0.0), basis, labelled.labels, dispersion)
        # The labels add their information on the intercept to that of one standard deviation before them.
        reach = REACH / math.sqrt(1 + float((at * (1 - at)).sum()))
        return cls(model, _scenarios(model, expected, reach), basis, labelled.labels)

    def seen_by(self, design: Forecastable, pool: Pool, labelled: Labelled | None) -> Outlook:
        """The same failure rates, over the items as waves with variables of its own tells them apart."""
        if not design.own_risk or auxiliary_of(design) == EVERYTHING.auxiliary:
            return self
        own = Outlook.of(pool, labelled, design)
        low, middle, high = map(_levelled, own.expected, self.rates) if self.rates else own.expected
        return replace(own, expected=(low, middle, high))

    @property
    def rates(self) -> tuple[float, ...]:
        """Mean of each; nothing where the scale of losses does not matter."""
        return () if self.model.family == "gamma" else tuple(float(one.mean()) for one in self.expected)

    def spread(self, expected: FloatArray) -> FloatArray:
        """Variance of each loss."""
        return self.model.spread(expected, dispersion=self.dispersion)

    def notes(self) -> tuple[str, ...]:
        """What the forecast rests on, and what would make it wrong."""
        said = [
            f"a forecast of the interval for this pool, from {self.basis}",
            "on the published pools, on which its margins were set, the range held in over 90 % of trials",
        ]
        if self.rates:
            low, middle, high = (f"{100 * rate:.3g} %" for rate in self.rates)
            said.append(f"it assumes a failure rate of about {middle}; outside {low} to {high} it will be off")
        if self.labels:
            said.append("budgets count all labels, those that are there included")
        else:
            said.append("plan again with --labels after the first 50 labels")
        return tuple(said)


def _scenarios(model: risk.RiskModel, expected: FloatArray, reach: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    return model.shifted(expected, -reach), expected, model.shifted(expected, reach)


def _levelled(expected: FloatArray, rate: float) -> FloatArray:
    """The odds multiplied by what gives this mean, by bisection."""
    linear = special.logit(np.clip(expected, 1e-12, 1 - 1e-12))
    low, high = -40.0, 40.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if special.expit(linear + middle).mean() > rate else (middle, high)
    return np.asarray(special.expit(linear + low))


HalfWidth = Callable[[int, FloatArray], float]
"""From a budget and what is expected of every item to the half-width."""


def _course(
    design: Forecastable,
    pool: Pool,
    outlook: Outlook,
    *,
    budgets: Sequence[int],
    half_width: float | None,
    level: float,
) -> Course:
    frame = frame_for(pool, design, None)

    def half(labels: int, expected: FloatArray) -> float:
        scenario = Scenario(expected, outlook.spread(expected), pool.task)
        return design.half_width(frame, scenario, labels=labels, level=level)

    best, middle, worst = (
        _scaled(half, expected, margin) for expected, margin in zip(outlook.expected, design.margins, strict=True)
    )
    forecasts = tuple(_forecast(one, [best(one), middle(one), worst(one)]) for one in budgets)
    if half_width is None:
        return Course(_name(design), forecasts)
    needed = [_fewest(one, half_width, len(pool)) for one in (best, middle, worst)]
    return Course(_name(design), forecasts, (needed[1], min(needed), max(needed)))


def _name(design: Design) -> str:
    own, usual = auxiliary_of(design), auxiliary_of(build_design(design.name))
    return spec(design) if own == usual else f"{spec(design)} with {own}"


def _forecast(labels: int, halves: list[float]) -> Forecast:
    # A failure rate over one half makes intervals narrower again: the scenarios need not be in order.
    return Forecast(labels, halves[1], min(halves), max(halves))


def _scaled(half: HalfWidth, expected: FloatArray, margin: float) -> Callable[[int], float]:
    return lambda labels: margin * half(labels, expected)


def _fewest(half: Callable[[int], float], target: float, population: int) -> int:
    """The smallest budget that reaches the half-width, by bisection: wider intervals come from fewer labels."""
    low, high = min(LEAST, population), population
    while low < high:
        at = (low + high) // 2
        low, high = (low, at) if half(at) <= target else (at + 1, high)
    return low
