"""From a query to its answer."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np

from fieldcheck.core import boxes as box
from fieldcheck.core.errors import QueryError
from fieldcheck.core.space import Answer, Condition, Outcomes, Space
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.tomography.answers.profile import Profile
from fieldcheck.tomography.query import Query
from fieldcheck.tomography.setup.scenes import LEAST_LEFT
from fieldcheck.tomography.surrogates.base import FittedSurrogate

ENOUGH = 400
"""Unperturbed inputs from which on their share is taken as it is."""


FEW = 30
"""Below so many rows in a region its audit is not worth a number."""


def ask(
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
    """
    selected = query.tests(_values(fitted, query.space, quality))
    left = np.ones(len(selected)) if shares is None else shares(selected)
    tests, left = selected[left >= LEAST_LEFT], left[left >= LEAST_LEFT]
    base, clean = base_of(fitted, outcomes)
    if not len(tests):
        return _nothing(query, len(selected), base, level)
    weights = _weights(profile, query, tests)
    mean, error = fitted.region(tests, weights)
    low, high = band(mean, error, level)
    inside = outcomes.select(np.isin(outcomes.tests, tests))
    # Once for all that follows: in a space of millions this is most of the work.
    means, _ = fitted.predict(tests)
    audit, audit_error = difference(
        means, inside, tests, weights=weights, left=left, draws=draws or drawn_rows(outcomes)
    )
    seen = None if objects is None else objects(tests)
    return Answer(
        query=query.text,
        tests=len(tests),
        measured=len(np.unique(inside.tests)),
        rows=len(inside),
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
            for test in lowest(means[weights > 0], tests[weights > 0], worst)
        ),
        profile=profile.name if profile is not None else "",
        notes=(*fitted.notes, *(() if profile is None else profile.notes(query.space))),
        not_applicable=len(selected) - len(tests),
        left=1.0 if shares is None else float(weights @ left),
        recall=math.nan if seen is None else seen.recall,
        precision=math.nan if seen is None else seen.precision,
    )


def _nothing(query: Query, selected: int, base: float, level: float) -> Answer:
    """The answer where no test is left to speak of."""
    why = "in none of its tests enough inputs have an object left" if selected else "no test fits it"
    nan = math.nan
    return Answer(query.text, 0, 0, 0, nan, nan, nan, level, base, notes=(why,), not_applicable=selected)


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
    predicted: FloatArray, inside: Outcomes, tests: IntArray, *, weights: FloatArray, left: FloatArray, draws: int
) -> tuple[float, float]:
    """The surrogate's mean over a region, corrected by what the rows inside showed, and its standard error.

    predicted
        One per test of the region, as ``tests``, ``weights`` and ``left`` are, in ascending order.
    left
        Share of the inputs that a draw of the test can say something about.

    The difference estimator of survey sampling: each row stands for ``1 / (draws × chance)`` of its test.
    """
    if inside.chance is not None:
        inside = inside.select(inside.chance != 0)  # those that were not drawn
    if inside.chance is None or len(inside) < FEW or not np.all(inside.chance > 0):
        return math.nan, math.nan
    at = np.searchsorted(tests, inside.tests)
    parts = weights[at] / left[at] * (inside.held - predicted[at]) / (draws * inside.chance)
    # Rows outside the region are draws that added nothing: they count in the spread.
    variance = float((parts**2).sum() - parts.sum() ** 2 / draws)
    return float(weights @ predicted + parts.sum()), math.sqrt(max(variance, 0.0))


def _values(fitted: FittedSurrogate, space: Space, quality: FloatArray | None) -> Callable[[str], FloatArray]:
    def value(name: str) -> FloatArray:
        if name == "robustness":
            return fitted.predict(np.arange(space.size, dtype=np.int64))[0]
        if quality is None:
            raise QueryError("the quality of this run was not measured", rule="[quality] in the space file asks for it")
        return quality

    return value


def _weights(profile: Profile | None, query: Query, tests: IntArray) -> FloatArray:
    if profile is None:
        return np.full(len(tests), 1 / len(tests))
    weights = profile.over(query.space)[tests]
    if not weights.sum() > 0:
        raise QueryError(
            f"the profile gives '{query.text}' no weight", rule="at least one of its tests can happen in the field"
        )
    return np.asarray(weights / weights.sum())


def band(mean: float, error: float, level: float) -> tuple[float, float]:
    reach = NormalDist().inv_cdf((1 + level) / 2) * error
    return max(0.0, mean - reach), min(1.0, mean + reach)
