"""How many labels a plan needs, of every question: for the accuracy of one model, or to tell two apart.

Two models differ only where they disagree, and before any label it is known where. Many worlds are drawn that the
prior leaves possible: who is right how often on the disagreements, by the confidence of both. In each world, with a
luck of its own, the campaign is followed from wave to wave until its interval leaves the margin behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import numpy as np

from fieldcheck import sources
from fieldcheck.accuracy.assessment.planning import outlook
from fieldcheck.accuracy.assessment.planning import plan as planning
from fieldcheck.accuracy.assessment.planning.forecasts import Forecast, Forecasts
from fieldcheck.accuracy.comparison.comparison import FIRST
from fieldcheck.accuracy.comparison.disagreements import RULE, ContestedItems, Pair
from fieldcheck.accuracy.comparison.estimate import Rule, critical
from fieldcheck.accuracy.designs.base import Design
from fieldcheck.core import words
from fieldcheck.core.errors import BudgetError, FieldcheckError
from fieldcheck.core.exhibit import Table
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.rng import stream
from fieldcheck.core.sample import Labelled
from fieldcheck.core.types import FloatArray
from fieldcheck.numerics import special
from fieldcheck.numerics.sampling import schedule
from fieldcheck.numerics.sampling.draws import permutation, uniforms
from fieldcheck.numerics.sampling.wave import Prospect

Source = Pool | str | Path


CLOSE = 0.5
"""Of the prior standard deviation of who is right: models that are worth comparing are closer than any two are. The
two published pairs, decided with 78 and 98 labels in the median, were forecast at 40 to 45 with 1."""


@dataclass(frozen=True)
class ComparisonForecast:
    """What a comparison of two models may take.

    needed
        Labels until it is decided: as expected, at best and at worst.
    differences
        Accuracy of the first model minus that of the second, in the worlds that are believed possible: low end,
        middle, high end.
    forecasts
        Half-width of the difference, by budget.
    margin
        By how much the first model may be worse; None: which is better.
    """

    first: str
    second: str
    population: int
    disagreements: int
    level: float
    needed: tuple[int, int, int]
    differences: tuple[float, ...]
    forecasts: tuple[Forecast, ...]
    margin: float | None = None

    def sentences(self) -> list[str]:
        """The answer."""
        pool = words.counted(self.population, "item")
        if not self.disagreements:
            return [f"{self.first} and {self.second} say the same about all {pool}: there is nothing to label."]
        middle, low, high = self.needed
        asked = f"Which of {self.first} and {self.second} is better"
        if self.margin is not None:
            points = "a point" if self.margin == 0.01 else f"{100 * self.margin:.3g} points"
            asked = f"Whether {self.first} is worse than {self.second} by more than {points}"
        return [
            f"{asked} takes about {words.counted(middle, 'label')} ({low:,} to {high:,}).",
            f"They disagree on {self.disagreements:,} of {pool}: with all of these labelled the answer is exact.",
        ]

    def notes(self) -> tuple[str, ...]:
        """What the forecast rests on."""
        low, middle, high = (f"{100 * one:+.2g}" for one in self.differences)
        return (
            f"before any label it believes in a difference of {middle} points, and that {low} to {high} are possible",
            "looked at after every wave, as without a budget; the closer the two are, the more it takes",
        )

    def table(self) -> Table:
        """Half-widths by budget, each with its range."""
        shown = [[f"{100 * one:.3g}" for one in (f.half_width, f.low, f.high)] for f in self.forecasts]
        return Table(
            "plan/comparison",
            f"Half-width of the {100 * self.level:g} % interval of the difference, percentage points: expected (range)",
            ("labels", "difference"),
            tuple((f.labels, f"±{a} ({b} to {c})") for f, (a, b, c) in zip(self.forecasts, shown, strict=True)),
            note="; ".join(self.notes()),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "first": self.first,
            "second": self.second,
            "population": self.population,
            "disagreements": self.disagreements,
            "level": self.level,
            "margin": self.margin,
            "needed": dict(zip(("labels", "low", "high"), self.needed, strict=True)),
            "believed_differences": list(self.differences),
            "forecasts": [one.to_dict() for one in self.forecasts],
            "sentences": self.sentences(),
            "notes": list(self.notes()),
        }

    def __str__(self) -> str:
        rows = ["  ".join(map(str, row)) for row in (self.table().columns, *self.table().rows)]
        return "\n".join(
            [*self.sentences(), "", self.table().title, *rows, *(f"  note: {one}" for one in self.notes())]
        )


@overload
def plan(
    pool: Source,
    *,
    budget: int | None = None,
    half_width: float | None = None,
    designs: Sequence[Design | str] = (),
    level: float = 0.95,
    labelled: Labelled | None = None,
) -> Forecasts: ...


@overload
def plan(
    pool: Source, *, against: Source, not_worse: float | None = None, budget: int | None = None, level: float = 0.95
) -> ComparisonForecast: ...


def plan(
    pool: Source,
    *,
    against: Source | None = None,
    not_worse: float | None = None,
    budget: int | None = None,
    half_width: float | None = None,
    designs: Sequence[Design | str] = (),
    level: float = 0.95,
    labelled: Labelled | None = None,
) -> Forecasts | ComparisonForecast:
    """What each technique may give for a budget, or needs for a half-width, as ranges; or for the usual budgets.

    designs
        Left out: all that can be forecast.
    labelled
        Labels that are there already, from any technique: the forecast then starts from what they say, and its range
        is narrower. Budgets are labels in all, these included. Regression needs them: nothing is known about the
        scale of errors before the first label.
    against, not_worse
        The pool of another model on the same items: how many labels it takes to tell which is better, or whether the
        first one is worse by more than ``not_worse``.
    """
    if against is None:
        if not_worse is not None:
            raise FieldcheckError(
                "a margin without another model", rule="worse than which?", hint="--against OLD.csv --not-worse 0.01"
            )
        return planning.plan(
            pool, budget=budget, half_width=half_width, designs=designs, level=level, labelled=labelled
        )
    if half_width is not None or designs or labelled is not None:
        raise FieldcheckError(
            "a half-width, techniques or labels together with another model",
            rule="a comparison draws items on which the models disagree, and is planned before its first label",
            hint="--against OLD.csv --not-worse 0.01, or --budget 200",
        )
    return plan_comparison([pool, against], margin=not_worse, budget=budget, level=level)


def plan_comparison(
    models: Sequence[Source], *, margin: float | None = None, budget: int | None = None, level: float = 0.95
) -> ComparisonForecast:
    """How many labels a comparison of two models takes."""
    contested = ContestedItems.of([sources.load(pool) for pool in models])
    if contested.task == "regression":
        raise FieldcheckError(
            "no plan for a comparison of regressions",
            rule="nothing can be said about the scale of errors before the first labels",
            hint="fieldcheck start A.csv --against B.csv, and fieldcheck status says how many more labels it takes",
        )
    if margin is not None and not 0 < margin < 1:
        raise BudgetError(f"a margin of {margin:g}", rule="between 0 and 1: 0.01 is one point", hint="--not-worse 0.01")
    if budget is not None:
        contested.pools[0].check_budget(budget)
    (pair,) = contested.pairs
    members, names = len(pair.members), contested.names
    size, budgets = contested.population, sorted({*planning.LADDER, *([budget] if budget else [])})
    worlds = tuple(_worlds(pair, members / size)) if members else ()
    found = [_followed(one, members, size, margin=margin or 0.0, level=level) for one in worlds] or [0]
    needed = np.quantile(found, outlook.ENDS)
    gains = [one.difference for one in worlds] or [0.0]
    forecasts = []
    for labels in (one for one in budgets if one < members):
        z = critical(labels, (), members, level=level, rule=Rule(level))
        halves = np.quantile([z * one.error(labels, members, size) for one in worlds], outlook.ENDS)
        forecasts.append(Forecast(labels, float(halves[1]), float(halves[0]), float(halves[2])))
    return ComparisonForecast(
        first=names[0],
        second=names[1],
        population=size,
        disagreements=members,
        level=level,
        needed=(round(needed[1]), round(needed[0]), round(needed[2])),
        differences=tuple(np.quantile(gains, outlook.ENDS).tolist()),
        forecasts=tuple(forecasts),
        margin=margin,
    )


@dataclass(frozen=True, eq=False)
class _World:
    """Who may be right where, on the disagreements that stand for all; and the luck of a campaign, a normal number."""

    mean: FloatArray
    spread: FloatArray
    difference: float
    luck: float

    def error(self, labels: int, members: int, population: int) -> float:
        """Standard error of the difference after so many labels, drawn as the campaign would."""
        none = np.zeros(len(self.mean), dtype=bool)
        prospect = Prospect(self.mean, self.spread, self.mean)
        chance = RULE.inclusion(prospect, none, labels * len(self.mean) / members)
        return float(np.sqrt(members * (self.spread * (1 / chance - 1)).mean())) / population


def _worlds(pair: Pair, share: float) -> list[_World]:
    """Drawn from what is believed before any label; ``share`` is that of the pool on which the two disagree."""
    nothing = np.zeros(0, dtype=np.int64)
    mean = pair.duel.fit(nothing, np.zeros(0))
    sd = pair.duel.prior_sd
    rng, count = stream(0, "plan", "against"), outlook.WORLDS
    drawn = mean + CLOSE * sd * special.ndtri(uniforms(rng, count * len(mean))).reshape(count, -1)
    part = np.linspace(0, pair.duel.size - 1, min(pair.duel.size, outlook.PART)).astype(np.int64)
    luck = special.ndtri((permutation(stream(0, "plan", "luck"), count) + 0.5) / count)
    moments = [pair.duel.moments(belief, part) for belief in drawn]
    return [
        _World(gain, spread, share * float(gain.mean()), float(own))
        for (gain, spread), own in zip(moments, luck, strict=True)
    ]


def _followed(world: _World, members: int, population: int, *, margin: float, level: float) -> int:
    """Labels until the interval leaves the margin behind; all disagreements, if it never does."""
    ends = tuple(np.cumsum(schedule.open_schedule(FIRST, members)).tolist())
    for at, labels in enumerate(ends[:-1], start=1):
        z = critical(labels, ends[:at], members, level=level, rule=Rule(level, certify=True))
        error = world.error(labels, members, population)
        if abs(world.difference + world.luck * error + margin) > z * error:
            return int(labels)
    return members
