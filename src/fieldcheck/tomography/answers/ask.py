"""From a query to its answer."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np

from fieldcheck.core import boxes as box
from fieldcheck.core.errors import QueryError
from fieldcheck.core.space import Answer, Condition, Outcomes, Space
from fieldcheck.core.types import BoolArray, FloatArray, IntArray
from fieldcheck.tomography.answers.profile import Profile
from fieldcheck.tomography.query import Query
from fieldcheck.tomography.query.selection import Selection
from fieldcheck.tomography.setup.scenes import LEAST_LEFT
from fieldcheck.tomography.surrogates.base import FittedSurrogate

ENOUGH = 400
"""Unperturbed inputs from which on their share is taken as it is."""


FEW = 30
"""Below so many rows in a region its audit is not worth a number."""


def ask(  # noqa: PLR0913 -- all optional
    fitted: FittedSurrogate,
    outcomes: Outcomes,
    query: Query,
    *,
    profile: Profile | None = None,
    quality: FloatArray | None = None,
    level: float = 0.95,
    worst: int = 5,
    shares: Callable[[IntArray], FloatArray] | None = None,
    objects: Callable[[IntArray], box.Objects | None] | None = None,
    draws: int | None = None,
    asked: Outcomes | None = None,
) -> Answer:
    """The robustness of the region that a query selects.

    quality
        One per test of the space, where the query asks for it.
    worst
        How many of the weakest tests to name.
    shares
        The share of the inputs with an object left in each test, where that is not all: tests with less than a fifth
        are left out.
    objects
        Single objects in some tests, where there are any.
    draws
        Rows that were drawn, also those that said nothing; by default as many as outcomes.
    asked
        What the model was asked, where outcomes also hold what follows from it.
    """
    values = _values(fitted, quality)
    selected = query.select(values)
    left = np.ones(len(selected.tests)) if shares is None else shares(selected.tests)
    region, left = selected.only(left >= LEAST_LEFT), left[left >= LEAST_LEFT]
    tests = region.tests
    base, clean = base_of(fitted, outcomes)
    if not len(tests):
        return _nothing(query, selected, base, level)
    weigh = _weighing(profile, query, region)
    weights = region.stands * weigh(tests)
    mean, error = fitted.region(tests, weights)
    # Once for all that follows: in a space of millions this is most of the work.
    means, _ = fitted.predict(tests)
    drawn = region.error(means, weights)
    low, high = band(mean, math.hypot(error, drawn), level)
    inside = outcomes.select(_inside(outcomes, query, region, values, shares))
    ran = np.unique(inside.tests)
    foretold = fitted.predict(ran)[0] if region.sampled else means[np.searchsorted(tests, ran)]
    at = np.searchsorted(ran, inside.tests)
    audit, audit_error = difference(
        float(weights @ means),
        inside,
        predicted=foretold[at],
        weights=weigh(ran)[at],
        left=(np.ones(len(ran)) if shares is None else shares(ran))[at],
        draws=draws or drawn_rows(outcomes),
    )
    seen = None if objects is None else objects(ran)
    weak, weak_ran = weights > 0, weigh(ran) > 0
    among, lows = np.append(tests[weak], ran[weak_ran]), np.append(means[weak], foretold[weak_ran])
    return Answer(
        query=query.text,
        tests=region.total,
        measured=len(ran),
        rows=len(inside) if asked is None else int(np.isin(asked.tests, ran).sum()),
        robustness=mean,
        low=low,
        high=high,
        level=level,
        base=base,
        base_inputs=clean,
        audit=audit,
        audit_error=audit_error,
        worst=tuple(
            condition(fitted, outcomes, query.space, test=int(test), level=level)
            for test in _distinct_lowest(lows, among, worst)
        ),
        profile=profile.name if profile is not None else "",
        notes=(*fitted.notes, *(() if profile is None else profile.notes(query.space))),
        not_applicable=selected.total - region.total,
        left=1.0 if shares is None else float(weights @ left),
        recall=math.nan if seen is None else seen.recall,
        precision=math.nan if seen is None else seen.precision,
        drawn=len(tests) if region.sampled else 0,
        drawn_error=drawn,
    )


def _nothing(query: Query, selected: Selection, base: float, level: float) -> Answer:
    """The answer where no test is left to speak of."""
    why = "in none of its tests enough inputs have an object left" if selected.total else "no test fits it"
    if selected.sampled and not selected.total:
        why = (
            f"none of {int(selected.draws.sum()):,} tests that were drawn fits it: name levels of more axes, or orders"
        )
    nan = math.nan
    return Answer(query.text, 0, 0, 0, nan, nan, nan, level, base, notes=(why,), not_applicable=selected.total)


def _inside(
    outcomes: Outcomes,
    query: Query,
    region: Selection,
    values: Callable[[str, IntArray], FloatArray],
    shares: Callable[[IntArray], FloatArray] | None,
) -> BoolArray:
    """Which rows are in the region."""
    if not region.sampled:
        return np.isin(outcomes.tests, region.tests)
    ran, at = np.unique(outcomes.tests, return_inverse=True)
    fits = query.holds(ran, values) & (True if shares is None else shares(ran) >= LEAST_LEFT)
    return np.asarray(fits[at])


def base_of(fitted: FittedSurrogate, outcomes: Outcomes) -> tuple[float, int]:
    """Robustness without perturbation, and on how many inputs it was measured; predicted where these are few."""
    clean = outcomes.held[outcomes.tests == 0]
    if len(clean) >= ENOUGH:
        return float(clean.mean()), len(clean)
    return float(fitted.predict(np.zeros(1, dtype=np.int64))[0][0]), len(clean)


def weakest(
    fitted: FittedSurrogate, outcomes: Outcomes, space: Space, *, tests: IntArray, level: float, count: int
) -> tuple[Condition, ...]:
    """The tests of a region with the lowest robustness, lowest first."""
    chosen = lowest(fitted.predict(tests)[0], tests, count)
    return tuple(condition(fitted, outcomes, space, test=int(test), level=level) for test in chosen)


def lowest(means: FloatArray, tests: IntArray, count: int) -> IntArray:
    """The tests with the lowest means, lowest first."""
    if not count:
        return tests[:0]
    first = np.argpartition(means, min(count, len(means)) - 1)[:count]
    return tests[first[np.lexsort((tests[first], means[first]))]]


def _distinct_lowest(means: FloatArray, tests: IntArray, count: int) -> IntArray:
    """The same, where a test may be there several times."""
    _, once = np.unique(tests, return_index=True)
    return lowest(means[once], tests[once], count)


def condition(fitted: FittedSurrogate, outcomes: Outcomes, space: Space, *, test: int, level: float) -> Condition:
    """What is known about one test."""
    means, errors = fitted.predict(np.array([test], dtype=np.int64))
    low, high = band(float(means[0]), float(errors[0]), level)
    return Condition(
        severities=space.named(test),
        robustness=float(means[0]),
        low=low,
        high=high,
        inputs=int(np.count_nonzero(outcomes.tests == test)),
    )


def drawn_rows(outcomes: Outcomes) -> int:
    """Rows that the plan drew."""
    return len(outcomes) if outcomes.chance is None else int(np.count_nonzero(outcomes.chance != 0))


def difference(
    mean: float, inside: Outcomes, *, predicted: FloatArray, weights: FloatArray, left: FloatArray, draws: int
) -> tuple[float, float]:
    """The surrogate's mean over a region, corrected by what the rows inside showed, and its standard error.

    predicted, weights
        Of the test of each row: its robustness, and what it counts in the mean.
    left
        Share of the inputs that a draw of the test can say something about, one per row.

    The difference estimator of survey sampling: each row stands for ``1 / (draws × chance)`` of its test.
    """
    if inside.chance is None:
        return math.nan, math.nan
    drawn = inside.chance != 0
    chance = inside.chance[drawn]
    if len(chance) < FEW or not np.all(chance > 0):
        return math.nan, math.nan
    parts = (weights / left * (inside.held - predicted))[drawn] / (draws * chance)
    # Rows outside the region are draws that added nothing: they count in the spread.
    variance = float((parts**2).sum() - parts.sum() ** 2 / draws)
    return float(mean + parts.sum()), math.sqrt(max(variance, 0.0))


def _values(fitted: FittedSurrogate, quality: FloatArray | None) -> Callable[[str, IntArray], FloatArray]:
    def value(name: str, tests: IntArray) -> FloatArray:
        if name == "robustness":
            return fitted.predict(tests)[0]
        if quality is None:
            raise QueryError("the quality of this run was not measured", rule="[quality] in the space file asks for it")
        return quality[tests]

    return value


def _weighing(profile: Profile | None, query: Query, region: Selection) -> Callable[[IntArray], FloatArray]:
    """From tests to what each counts in the mean over the region: together they count 1."""
    if profile is None:
        total = float(region.stands.sum())
        return lambda tests: np.full(len(tests), 1 / total)
    total = float(region.stands @ profile.of_tests(query.space, region.tests))
    if not total > 0:
        raise QueryError(
            f"the profile gives '{query.text}' no weight", rule="at least one of its tests can happen in the field"
        )
    return lambda tests: profile.of_tests(query.space, tests) / total


def band(mean: float, error: float, level: float) -> tuple[float, float]:
    reach = NormalDist().inv_cdf((1 + level) / 2) * error
    return max(0.0, mean - reach), min(1.0, mean + reach)
