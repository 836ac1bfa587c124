"""What every plan, surrogate, stopping rule, perturbation and quality score must do, whoever wrote it."""

from __future__ import annotations

from functools import partial
from typing import Any, get_args

import numpy as np

from fieldcheck.core.rng import ItemStreams, stream
from fieldcheck.core.space import Axis, Outcomes, Space
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.testing.require import check_described, check_refused, made_of, require
from fieldcheck.tomography.perturbations.base import Perturbation
from fieldcheck.tomography.plans import base as plans
from fieldcheck.tomography.quality.base import QualityScore
from fieldcheck.tomography.runs import stopping
from fieldcheck.tomography.surrogates import base as surrogates

SENTENCES = (
    "What's the best way? I don't know, it is wonderful!",
    "The large car stopped quickly in the city.",
    "Hi",
    "",
)


def space(*levels: int) -> Space:
    """A small space with so many levels on each axis."""
    return Space(tuple(Axis(f"p{at}", level) for at, level in enumerate(levels)))


def check_plan(plan: plans.Plan | type[plans.Plan]) -> None:
    """Raise AssertionError unless the plan is a function of its arguments, within budget, and runs nothing twice."""
    made: plans.Plan = made_of(plan)
    check_described(made, plans.Plan, "title", "paper")
    require(made.adds in get_args(plans.Adds), f"{made.name}: adds '{made.adds}'")
    for levels, inputs in (((2, 3, 1), 20), ((4,), 7), ((1, 1, 1, 1), 3)):
        where = space(*levels)
        for budget in (where.size * inputs, where.size * inputs + 5, max(where.size, inputs)):
            rows = made.rows(where, inputs, budget=budget, seed=4)
            _check_rows(made, rows, where, inputs=inputs, budget=budget)
            again = made.rows(where, inputs, budget=budget, seed=4)
            same = np.array_equal(rows.tests, again.tests) and np.array_equal(rows.inputs, again.inputs)
            require(same, f"{made.name}: the same seed gives other rows")
    check_refused(lambda: made.rows(space(2, 2), 5, budget=0, seed=0), f"{made.name}: takes no inferences at all")


def _check_rows(plan: plans.Plan, rows: plans.Rows, where: Space, *, inputs: int, budget: int) -> None:
    require(1 <= len(rows) <= budget, f"{plan.name}: {len(rows)} rows for {budget} inferences")
    require(((rows.tests >= 0) & (rows.tests < where.size)).all(), f"{plan.name}: a test outside the space")
    require(((rows.inputs >= 0) & (rows.inputs < inputs)).all(), f"{plan.name}: an input that is not there")
    require(len(np.unique(rows.tests * inputs + rows.inputs)) == len(rows), f"{plan.name}: a row is there twice")


def check_surrogate(surrogate: surrogates.Surrogate | type[surrogates.Surrogate]) -> None:
    """Raise AssertionError unless fits give rates with bands for every test, also from few and one-sided outcomes.

    The same seed, the same fit; a test's band does not depend on what else is asked for; a region is the weighted mean
    of its tests; two outcomes are no certainty; nothing measured is refused.
    """
    made: surrogates.Surrogate = made_of(surrogate)
    check_described(made, surrogates.Surrogate, "title", "paper")
    evidence, truth = _falling(space(3, 2, 3), 3000)
    every = np.arange(evidence.space.size)
    fitted = made.fit(evidence, seed=3)
    means, errors = _check_bands(made, fitted, every)
    require(np.array_equal(made.fit(evidence, seed=3).predict(every)[0], means), f"{made.name}: not a function of seed")
    some = every[[5, 1, 30]]
    require(np.allclose(fitted.predict(some)[0], means[some], atol=1e-6), f"{made.name}: depends on what else is asked")
    _check_region(made, fitted, means, errors)
    wrong = float(np.sqrt(np.mean((means - truth) ** 2)))
    require(wrong < 0.6 * truth.std(), f"{made.name}: learnt nothing, it is {wrong:.3f} off on average")
    _check_few(made, evidence.space)


def _falling(where: Space, rows: int) -> tuple[surrogates.Evidence, FloatArray]:
    """Outcomes whose chance falls with every severity, and faster for the second of two classes; and the truth."""
    inputs, rng = 200, stream(0, "testing", "outcomes")
    classes = np.arange(inputs) % 2
    load = (
        where.severities(np.arange(where.size)) / (np.array(where.shape) - 1) @ np.linspace(1.5, 3.0, len(where.axes))
    )
    logits = 2.5 - load[:, None] * (1 + 0.5 * classes) - np.linspace(-1.0, 1.0, inputs)
    chances = 1 / (1 + np.exp(-logits))
    tests, chosen = rng.integers(0, where.size, rows), rng.integers(0, inputs, rows)
    held = (rng.random(rows) < chances[tests, chosen]).astype(np.float64)
    return surrogates.Evidence(where, Outcomes(tests, chosen, held), classes), chances.mean(axis=1)


def _check_bands(
    made: surrogates.Surrogate, fitted: surrogates.FittedSurrogate, tests: IntArray
) -> tuple[FloatArray, FloatArray]:
    means, errors = fitted.predict(tests)
    require(means.shape == errors.shape == tests.shape, f"{made.name}: one mean and one band per test, please")
    require(((means >= 0) & (means <= 1)).all(), f"{made.name}: a robustness outside 0 and 1")
    require(((errors > 0) & (errors <= 1)).all(), f"{made.name}: a band that is nothing, or over 1")
    return means, errors


def _check_region(
    made: surrogates.Surrogate, fitted: surrogates.FittedSurrogate, means: FloatArray, errors: FloatArray
) -> None:
    weights = stream(1, "testing", "weights").dirichlet(np.ones(len(means)))
    mean, error = fitted.region(np.arange(len(means)), weights)
    require(abs(mean - float(weights @ means)) <= 2e-3, f"{made.name}: a region is not the mean of its tests")
    require(0 < error <= errors.max() + 1e-9, f"{made.name}: a region is less certain than its worst test")


def _check_few(made: surrogates.Surrogate, where: Space) -> None:
    every = np.arange(where.size)
    for rows, held in ((1, 1.0), (2, 0.0), (40, 1.0), (40, 0.0)):
        outcomes = Outcomes(np.arange(rows) * 5 % where.size, np.arange(rows), np.full(rows, held))
        means, errors = made.fit(surrogates.Evidence(where, outcomes), seed=0).predict(every)
        require(np.isfinite(means).all() and np.isfinite(errors).all(), f"{made.name}: {rows} outcomes give nan")
        require(rows > 2 or errors.min() > 0.05, f"{made.name}: is certain after {rows} outcomes")
    none = np.zeros(0, dtype=np.int64)
    nothing = surrogates.Evidence(where, Outcomes(none, none, np.zeros(0)))
    check_refused(lambda: made.fit(nothing, seed=0), f"{made.name}: fits nothing at all")


def check_stopping_rule(rule: stopping.Stopping | type[stopping.Stopping]) -> None:
    """Raise AssertionError unless the rule is a function of the outcomes, and does not stop before any came."""
    made: stopping.Stopping = made_of(rule)
    check_described(made, stopping.Stopping, "title", "paper", "batch")
    held = (stream(2, "testing", "held").random(3000) < 0.8).astype(np.float64)
    for seen in range(made.batch, len(held), made.batch):
        first, second = (made.enough(held[:seen], len(held)) for _ in range(2))
        require(first == second, f"{made.name}: the same outcomes, another answer")
    require(not made.enough(held[:1], len(held)), f"{made.name}: one outcome is enough for it")
    reached = made.reached(held, len(held))
    require(np.isnan(reached) == (made.width is None), f"{made.name}: reaches {reached}, waits for {made.width}")


def check_perturbation(perturbation: Perturbation | type[Perturbation]) -> None:
    """Raise AssertionError unless severity 0 is the identity, form stays, and an item does not depend on its batch."""
    made: Perturbation = made_of(perturbation)
    check_described(made, Perturbation, "title", "kind", "levels")
    for batch in _batches(made.kind):
        _check_applied(made, batch)
    batch = _batches(made.kind)[0]
    for level in (-1, made.levels + 1):
        severity = np.full(len(batch), level)
        streams = ItemStreams.of(0, made.name, np.arange(len(batch)), np.abs(severity))
        check_refused(partial(made.apply, batch, severity, streams), f"{made.name}: takes the severity {level}")


def _batches(kind: str) -> list[Any]:
    if kind == "text":
        return [list(SENTENCES)]
    if kind == "row":
        return [np.linspace(0, 1, 24).reshape(6, 4)]
    item, y, x, channel = np.ogrid[:6, :16, :20, :3]
    bytes_ = ((x * (3 + item) + y * 5 + 40 * channel + 17 * item) % 256).astype(np.uint8)
    return [bytes_, bytes_[..., 0], bytes_.astype(np.float32) / np.float32(255)]


def _check_applied(made: Perturbation, batch: Any) -> None:
    severity = np.arange(len(batch)) % (made.levels + 1)
    whole = _applied(made, batch, severity, np.arange(len(batch)))
    require(len(whole) == len(batch) and type(whole) is type(batch), f"{made.name}: not as many items as there were")
    for at, level in enumerate(severity.tolist()):
        require(_form(whole[at]) == _form(batch[at]), f"{made.name}: another shape or type")
        require(level or _same(whole[at], batch[at]), f"{made.name}: severity 0 is not the identity")
        alone = _applied(made, batch[at : at + 1], severity[at : at + 1], np.array([at]))
        require(_same(alone[0], whole[at]), f"{made.name}: an item depends on its batch")


def _applied(made: Perturbation, batch: Any, severity: IntArray, items: IntArray) -> Any:
    before = list(batch) if isinstance(batch, list) else batch.copy()
    found = made.apply(batch, severity, ItemStreams.of(5, made.name, items, severity))
    require(all(map(_same, before, batch)), f"{made.name} writes into what it is given")
    return found


def _form(item: Any) -> Any:
    return type(item) if isinstance(item, str) else (item.shape, item.dtype)


def _same(one: Any, other: Any) -> bool:
    return bool(np.array_equal(one, other))


def check_quality_score(score: QualityScore | type[QualityScore]) -> None:
    """Raise AssertionError unless clean inputs score best, worse ones worse, all within the stated bounds."""
    made: QualityScore = made_of(score)
    check_described(made, QualityScore, "title", "paper", "kinds")
    clean, little, much = _views(made)
    same, near, far = (made.score(clean, other) for other in (clean, little, much))
    ranked = (same, near, far) if made.better == "low" else (-same, -near, -far)
    require(
        ranked[0] <= ranked[1] + 1e-9 <= ranked[2] + 2e-9, f"{made.name}: {same:g}, {near:g}, {far:g} for worse inputs"
    )
    require(all(one <= made.high + 1e-9 for one in (same, near, far)), f"{made.name}: a score over {made.high:g}")
    scores = np.array([near, far])
    kept = np.clip(scores, made.low, made.high)
    require(np.allclose(made.back(made.smoothed(scores)), kept), f"{made.name}: back does not undo smoothed")


def _views(made: QualityScore) -> tuple[Any, Any, Any]:
    """Inputs, or what a score looks at, clean, a little and much perturbed."""
    if made.needs == "inputs" and "text" in made.kinds:
        words = [f"one two three four five six seven eight nine {word}" for word in ("ten", "eleven", "twelve")]
        return words, [one.replace("six", "sox") for one in words], [one[::-1] for one in words]
    rng = stream(3, "testing", "features")
    if made.needs == "inputs":
        images = rng.integers(0, 256, (4, 16, 16)).astype(np.uint8)
        return images, images // 2 + 40, rng.integers(0, 256, images.shape).astype(np.uint8)
    features = rng.standard_normal((40, 4))
    views = (features, features + 0.3 * rng.standard_normal((40, 4)), features * 3 + 4)
    if made.needs == "features":
        return views
    views = (features, features + 0.1 * rng.standard_normal((40, 4)), rng.standard_normal((40, 4)))
    return tuple([rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in np.split(one, 8)] for one in views)  # type: ignore[return-value]
