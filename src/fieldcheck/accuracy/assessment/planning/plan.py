"""How wide the interval will be, before labels are paid for."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from fieldcheck import sources
from fieldcheck.accuracy import designs as techniques
from fieldcheck.accuracy.assessment.planning.forecasts import Course, Forecast, Forecasts
from fieldcheck.accuracy.assessment.planning.outlook import EVERYTHING, Outlook, seen
from fieldcheck.accuracy.assessment.sampling import build_design
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.designs.base import Design, auxiliaries_of, auxiliary_of, spec
from fieldcheck.accuracy.designs.forecast import Forecastable
from fieldcheck.core import words
from fieldcheck.core.errors import BudgetError, DesignError, FieldcheckError
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.sample import Labelled
from fieldcheck.numerics.search import first

LADDER = (50, 100, 200, 400, 800, 1600)
"""Budgets that are always shown."""


LEAST = 20
"""Labels under which the approximate intervals are no forecast's business."""


MOST = 1 << 22
"""Items of a larger pool that are looked at: every second, every third, ... in its order, and those with labels."""


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
    frame, labelled = _thinned(derived.frame(pool, _looked_at([EVERYTHING, *chosen], have)), labelled)
    outlook = Outlook.of(seen(frame, EVERYTHING), labelled, len(pool))
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
    if half_width is not None:
        _check_half_width(half_width, pool)
    if pool.task == "regression" and labelled is None:
        raise FieldcheckError(
            "no plan for a regression without labels",
            rule="nothing can be said about the scale of errors before the first labels",
            hint=f"{shlex.join(_drawing(pool))}, label them, and plan with --labels to_label.csv",
        )


def _check_half_width(half_width: float, pool: Pool) -> None:
    """Of an accuracy in shares, of an error relative to it."""
    relative = pool.task == "regression"
    if not 0 < half_width < (math.inf if relative else 0.5):
        rule, example = (
            ("more than 0: 0.2 is 20 % of it", 0.2) if relative else ("between 0 and 0.5: 0.01 is one point", 0.01)
        )
        raise BudgetError(f"a half-width of {half_width:g}", rule=rule, hint=f"--half-width {example}")


def _thinned(frame: Frame, labelled: Labelled | None) -> tuple[Frame, Labelled | None]:
    """Items that stand for those of a large pool, and the labels by their place among them."""
    step = -(-frame.size // MOST)
    if step == 1:
        return frame, labelled
    some = np.arange(0, frame.size, step)
    if labelled is None:
        return frame.part(some), None
    some = np.union1d(some, labelled.sample.items)
    sample = replace(labelled.sample, items=np.searchsorted(some, labelled.sample.items))
    return frame.part(some), replace(labelled, sample=sample)


def _looked_at(chosen: Sequence[Design], have: Collection[str]) -> list[str]:
    """All variables that some designs look at, of those that there are."""
    helpful = derived.helpful(have)
    return list(dict.fromkeys(name for one in chosen for name in auxiliaries_of(one, helpful)))


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
    part = seen(frame, design).part(outlook.items)

    def halves(labels: int) -> tuple[float, float, float]:
        return outlook.halves(design, part, labels, level=level)

    forecasts = tuple(_forecast(one, halves(one)) for one in budgets)
    if half_width is None:
        return Course(_name(design), forecasts)
    low, middle, high = (_fewest(halves, end, half_width, outlook.population) for end in range(3))
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
