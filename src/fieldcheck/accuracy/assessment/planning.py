"""How wide the interval will be, before labels are paid for.

Many worlds are drawn that what is known leaves possible: failure rates of all items, by a risk model that believes the
signals to a degree that is itself unknown, and in some worlds not at all. In each world, with a luck of its own, each
technique has a half-width for each budget. What is told is the middle of these, and a range; before any label it is
wide, since a model's confidence says little about how often it fails. How often it holds was measured
(``benchmarks/plan_study.py``).
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fieldcheck import sources
from fieldcheck.accuracy import designs as techniques
from fieldcheck.accuracy.assessment.sampling import build_design
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.designs.base import Design, auxiliaries_of, auxiliary_of, spec
from fieldcheck.accuracy.designs.forecast import Forecastable, Scenario
from fieldcheck.core import words
from fieldcheck.core.errors import BudgetError, DesignError, FieldcheckError
from fieldcheck.core.exhibit import Cell, Line, LineChart, Table
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.rng import stream
from fieldcheck.core.sample import Labelled
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.numerics import special
from fieldcheck.numerics.regression import risk
from fieldcheck.numerics.regression.binned import binned_risks
from fieldcheck.numerics.sampling.draws import permutation, uniforms
from fieldcheck.numerics.search import first

LADDER = (50, 100, 200, 400, 800, 1600)
"""Budgets that are always shown."""


LEAST = 20
"""Labels under which the approximate intervals are no forecast's business."""


WORLDS, CHOICES = 64, 1500
"""Worlds that are looked at, and how many they are chosen from once there are labels."""


PART = 2_000
"""Items that stand for the pool, spread evenly over all risks."""


USELESS = 0.2
"""Chance before any label that signals are worth nothing."""


ENDS, ENDS_BEFORE = (0.07, 0.5, 0.93), (0.06, 0.5, 0.97)
"""Share of the worlds below the low end, the middle and the high end; and the same before any label, when models that
fail far more often than their confidence suggests must be inside."""


SPAN = 4.0
"""The high end is at most so many times the low one, once there are labels: a wider range helps nobody to decide. With
3 the range held in .93 of the looks after the first wave, in fewer than .9 on 4 of 22 pools and conditions; with 4 in
.96, on 2 of 22 (``benchmarks/results/plan_study.md``)."""


NOT_OVER = 1.1
"""Of the high end of a random sample: with useless signals waves is hardly worse."""


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
    asked = [build_design(one) for one in designs or _forecastable()]
    have = derived.names(pool, _looked_at([EVERYTHING, *asked], list(derived.registry)))
    chosen, notes = _usable(asked, have)
    frame = derived.frame(pool, _looked_at([EVERYTHING, *chosen], have))
    outlook = Outlook.of(_seen(frame, EVERYTHING), labelled)
    budgets = sorted({*(one for one in LADDER if one < len(pool)), *([budget] if budget else [])})
    if not budgets:
        notes.append(
            f"a pool of {words.counted(len(pool), 'item')} has no budget of the usual ones: "
            "label all, or ask with --budget"
        )
    courses = tuple(
        _course(one, frame, outlook.seen_by(one, frame, labelled), budgets=budgets, half_width=half_width, level=level)
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
            hint=f"{shlex.join(_drawing(pool))}, label them, and plan with --labels to_label.csv",
        )


def _looked_at(chosen: Sequence[Design], have: Collection[str]) -> list[str]:
    """All variables that some designs look at, of those that there are."""
    helpful = derived.helpful(have)
    return list(dict.fromkeys(name for one in chosen for name in auxiliaries_of(one, helpful)))


def _seen(frame: Frame, design: Design) -> Frame:
    """What a design looks at."""
    return frame.only(auxiliaries_of(design, frame.helpful()))


def _drawing(pool: Pool) -> list[str]:
    """How a first random sample is drawn."""
    options = ("--design", "srs", "--budget", "50", "--out", "to_label.csv")
    return ["fieldcheck", "sample", pool.origin.file or "POOL", *options]


def _usable(chosen: list[Design], have: Sequence[str]) -> tuple[list[Forecastable], list[str]]:
    """The techniques that can be planned for and that this pool has the variables for, and a note on the others."""
    wanted = derived.helpful(have)
    for one in chosen:
        if not isinstance(one, Forecastable):
            raise DesignError(f"no forecast for '{one.name}'", rule="there are: " + ", ".join(_forecastable()))
    able = [one for one in chosen if isinstance(one, Forecastable)]
    lacking = [one for one in able if not set(auxiliaries_of(one, wanted)) <= set(have)]
    notes = [f"{one.name} is left out: this pool has no {'+'.join(auxiliaries_of(one, wanted))}" for one in lacking]
    return [one for one in able if one not in lacking], notes


def _forecastable() -> list[str]:
    return sorted(name for name, kind in techniques.registry.items() if isinstance(kind(), Forecastable))


EVERYTHING, RANDOM = techniques.Waves(), techniques.Srs()
"""What looks at all auxiliary variables that are known to help, and what looks at none."""


@dataclass(frozen=True, eq=False)
class Outlook:
    """What may be true of the items.

    items
        Those that stand for the pool.
    worlds
        One array each, from few failures to many: expected losses of these items.
    useless
        Chance that the signals are worth nothing.
    labels
        How many it rests on.
    dispersion
        Of losses without a limit: their variance in units of the squared expectation.
    """

    frame: Frame
    model: risk.RiskModel
    items: IntArray
    worlds: tuple[FloatArray, ...]
    useless: float
    labels: int = 0
    dispersion: float = 2.0
    memo: dict[Hashable, tuple[float, float, float]] = field(default_factory=dict, init=False)

    @classmethod
    def of(cls, frame: Frame, labelled: Labelled | None) -> Outlook:
        items = np.zeros(0, dtype=np.int64) if labelled is None else labelled.sample.items
        losses = np.zeros(0) if labelled is None else labelled.losses
        model, part, items = _standing(frame, items, losses)
        rows = np.arange(len(part))
        useless = model.useless(items, losses, model.evidence(items, losses), before=USELESS)
        blind = round(WORLDS * useless)
        worlds = [
            one.expected(belief, rows)
            for one, count in ((model, WORLDS - blind), (model.blind(), blind))
            if count
            for belief in one.possible(items, losses, count, _normal(one, count if labelled is None else CHOICES))
        ]
        at = model.expected(model.fit(items, losses), items)
        dispersion = float(((losses - at) ** 2).sum() / max(float((at**2).sum()), 1e-300)) if len(items) else 2.0
        worlds.sort(key=lambda one: float(one.mean()))
        return cls(frame, model, part, tuple(worlds), useless, len(items), dispersion)

    def seen_by(self, design: Forecastable, frame: Frame, labelled: Labelled | None) -> Outlook:
        """The same failure rates, over the items as waves with variables of its own tells them apart."""
        if not design.own_risk or auxiliary_of(design) == EVERYTHING.auxiliary:
            return self
        own = Outlook.of(_seen(frame, design), labelled)
        if self.model.family == "gamma":
            return own
        rates = (float(one.mean()) for one in self.worlds)
        return replace(own, worlds=tuple(map(_levelled, own.worlds, rates)))

    @property
    def rates(self) -> tuple[float, ...]:
        """Failure rates at the low end, in the middle and at the high end; none where the scale does not matter."""
        if self.model.family == "gamma":
            return ()
        return tuple(np.quantile([one.mean() for one in self.worlds], self._ends).tolist())

    @property
    def _ends(self) -> tuple[float, float, float]:
        return ENDS if self.labels else ENDS_BEFORE

    @cached_property
    def scenarios(self) -> tuple[Scenario, ...]:
        """Each world, with a luck of its own."""
        luck = (permutation(stream(0, "plan", "luck"), len(self.worlds)) + 0.5) / len(self.worlds)
        return tuple(
            Scenario(world, self.model.spread(world, dispersion=self.dispersion), self.frame.task, self.frame.size, own)
            for world, own in zip(self.worlds, luck.tolist(), strict=True)
        )

    def halves(self, design: Forecastable, frame: Frame, labels: int, *, level: float) -> tuple[float, float, float]:
        """Half-widths of a design, worked out once: low end, middle, high end.

        frame
            The items that stand for the pool, as the design sees them.
        """
        key = design, labels, level
        if key not in self.memo:
            self.memo[key] = self._halves(design, frame, labels, level=level)
        return self.memo[key]

    def _halves(self, design: Forecastable, frame: Frame, labels: int, *, level: float) -> tuple[float, float, float]:
        found = [design.half_width(frame, one, labels=labels, level=level) for one in self.scenarios]
        low, middle, high = (float(one) for one in np.quantile(found, self._ends) * design.margins)
        if design.own_risk and self.model.family == "bernoulli":
            high = max(min(high, NOT_OVER * self.halves(RANDOM, frame, labels, level=level)[2]), middle)
        if self.labels and high > SPAN * low:
            trim = high / (SPAN * low)
            low, high = low * trim**0.75, high / trim**0.25
        return low, min(max(middle, low), high), high

    def notes(self) -> tuple[str, ...]:
        """What the forecast rests on, and what would make it wrong."""
        basis = "before any label" if not self.labels else f"from {words.counted(self.labels, 'label')}"
        said = [f"a forecast of the interval for this pool, {basis}"]
        if self.rates:
            low, middle, high = (f"{100 * rate:.2g} %" for rate in self.rates)
            said.append(f"it believes that {middle} of the items fail, and that {low} to {high} are possible")
        if not self.labels:
            said.append(
                "how far the model's confidence can be trusted is not known before labels: the range includes that it "
                "is worth nothing; plan again after the first 50 labels"
            )
            return tuple(said)
        if self.model.family == "bernoulli" and len(self.model.mean) > 1:
            said.append(f"by these labels, the chance that the signals are worth nothing is {self.useless:.0%}")
        return (*said, "budgets count all labels, those that are there included")


def _standing(frame: Frame, items: IntArray, losses: FloatArray) -> tuple[risk.RiskModel, IntArray, IntArray]:
    """The risk model of the items that stand for the pool and of those with labels; which stand for it, spread evenly
    over all risks; and the rows of those with labels, which come after them."""
    risks = binned_risks(frame)
    belief = risks.model(items).fit(np.arange(len(items)), losses) if len(items) else None
    part = risks.spread(belief, min(PART, frame.size))
    return risks.model(np.concatenate([part, items])), part, np.arange(len(items)) + len(part)


def _normal(model: risk.RiskModel, count: int) -> FloatArray:
    width = len(model.mean) + model.group_count
    return np.asarray(special.ndtri(uniforms(stream(0, "plan"), count * width))).reshape(count, width)


def _levelled(expected: FloatArray, rate: float) -> FloatArray:
    """The odds multiplied by what gives this mean, by bisection."""
    linear = special.logit(np.clip(expected, 1e-12, 1 - 1e-12))
    low, high = -40.0, 40.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if special.expit(linear + middle).mean() > rate else (middle, high)
    return np.asarray(special.expit(linear + low))


Halves = Callable[[int], tuple[float, float, float]]
"""From a budget to half-widths: low end, middle, high end."""


def _course(
    design: Forecastable,
    frame: Frame,
    outlook: Outlook,
    *,
    budgets: Sequence[int],
    half_width: float | None,
    level: float,
) -> Course:
    part = _seen(frame, design).part(outlook.items)

    def halves(labels: int) -> tuple[float, float, float]:
        return outlook.halves(design, part, labels, level=level)

    forecasts = tuple(_forecast(one, halves(one)) for one in budgets)
    if half_width is None:
        return Course(_name(design), forecasts)
    low, middle, high = (_fewest(halves, end, half_width, frame.size) for end in range(3))
    return Course(_name(design), forecasts, (middle, low, high))


def _name(design: Design) -> str:
    own, usual = auxiliary_of(design), auxiliary_of(build_design(design.name))
    return spec(design) if own == usual else f"{spec(design)} with {own}"


def _forecast(labels: int, halves: tuple[float, float, float]) -> Forecast:
    low, middle, high = halves
    return Forecast(labels, middle, low, high)


def _fewest(halves: Halves, end: int, target: float, population: int) -> int:
    """The smallest budget that reaches the half-width, to half a percent: wider intervals come from fewer labels."""

    def narrower(labels: int) -> float:
        return math.log(target / max(halves(labels)[end], 1e-12))

    # The usual budgets are looked at anyway; from one to the next, half-widths fall by about a root of two.
    near = next((one for one in LADDER if one < population and narrower(one) >= 0), LADDER[-1])
    least = min(LEAST, population)
    return first(narrower, least, population, guess=near, step=max(near // 2, 1), slack=200)
