"""The model-assisted estimate: its weights once more, naively; what it refuses; and how often its intervals hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from fieldcheck.accuracy import estimators
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.designs import Waves
from fieldcheck.accuracy.estimators.base import MeanLoss
from fieldcheck.accuracy.estimators.model_assisted import Fit
from fieldcheck.core.errors import SampleError
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.rng import stream
from fieldcheck.core.sample import Labelled, Sample
from fieldcheck.numerics.intervals.exact import hypergeometric
from fieldcheck.numerics.regression.priors import model_of
from fieldcheck.numerics.regression.risk import RiskModel
from fieldcheck.numerics.sampling.draws import uniforms
from fieldcheck.numerics.sampling.inclusion import wave_inclusion
from fieldcheck.testing import assert_covers

from ..said import of_all

OBJECTIVES = ("estimate", "balanced", "expose", "protected")
TASKS = ("classification", "regression")


@cache
def pool(task: str = "classification", size: int = 500) -> tuple[Frame, np.ndarray]:
    doubt = uniforms(stream(1, "doubt"), size) ** 5
    failed = uniforms(stream(1, "failed"), size) < 0.02 + 0.6 * doubt
    error = (0.05 + doubt) * (0.2 + 3 * uniforms(stream(1, "error"), size)) ** 2
    name = "confidence" if task == "classification" else "lsa"
    frame = Frame(size, task, {name: doubt}, predictions=np.arange(size) % 3, traits=derived.traits())  # type: ignore[arg-type]
    return frame, failed.astype(np.float64) if task == "classification" else error


def campaign(task: str = "classification", objective: str = "estimate", *, budget: int = 60, seed: int = 0) -> Labelled:
    frame, losses = pool(task)
    sample = Waves(objective=objective, first=20).draw(frame, losses, budget=budget, seed=seed)  # type: ignore[arg-type]
    return with_losses(sample, losses)


def with_losses(sample: Sample, losses: np.ndarray) -> Labelled:
    assert sample.frame is not None
    drawn = losses[sample.items]
    return Labelled(sample, drawn, drawn > 0, sample.frame.task)


def naive_chances(
    model: RiskModel,
    before: np.ndarray,
    losses: np.ndarray,
    *,
    drawn: np.ndarray,
    count: int,
    objective: str,
    floor: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Of a wave, for every item: its chance, and the loss that was expected after the labels before it."""
    expected = model.expected(model.fit(before, losses[before]))
    spread = model.spread(expected)
    kind: Any = objective
    return wave_inclusion(expected, spread, drawn, count, objective=kind, floor=floor, certain=0.75), expected


def naive_waves(
    labelled: Labelled, objective: str, losses: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """By wave: its labelled items, its chances for every item, and what was expected before it; all fitted anew."""
    sample = labelled.sample
    frame = sample.frame
    assert frame is not None
    model = model_of(frame)
    drawn = np.zeros(frame.size, dtype=bool)
    for number, count in enumerate(sample.draws.sizes):
        wave = sample.items[sample.draws.wave == number]
        chances, expected = naive_chances(
            model,
            np.flatnonzero(drawn),
            losses,
            drawn=drawn,
            count=count,
            objective=objective,
            floor=sample.draws.floors[number],
        )
        yield wave, chances * (len(wave) / count), expected
        drawn[wave] = True


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("labels", [60, 55, 22])
def test_chances_and_estimates_once_more(task: str, objective: str, labels: int) -> None:
    """Whole, with a last wave of which only a part is labelled, and with the second one broken off.

    π = 1 - Π(1 - π_t) item by item, θ the mean of m shifted until Σ (y - m)/π = 0, and the audit form wave by wave.
    """
    losses = pool(task)[1]
    labelled = with_losses(campaign(task, objective).sample.prefix(labels), losses)
    fit = Fit.of(labelled)
    missed, audit, before = np.ones(len(losses)), 0.0, set()
    for number, (wave, chances, expected) in enumerate(naive_waves(labelled, objective, losses)):
        if not len(wave):
            break
        for item in range(len(losses)):
            missed[item] *= 1 - chances[item]
        m = expected if task == "classification" or number else 0 * expected  # errors have no scale before a label
        total = sum(losses[item] if item in before else m[item] for item in range(len(losses)))
        total += sum((losses[item] - m[item]) / chances[item] for item in wave.tolist())
        audit += len(wave) / labels * total / len(losses)
        before |= set(wave.tolist())
    np.testing.assert_allclose(of_all(fit.items).chance, 1 - missed, rtol=1e-9)
    model = fit.model
    m = model.expected(model.fit(labelled.sample.items, labelled.losses))
    at = labelled.sample.items

    def surplus(shift: float) -> float:
        return float(((labelled.losses - model.shifted(m, shift)[at]) / (1 - missed[at])).sum())

    shift = brentq(surplus, -40, 40, xtol=1e-13)
    known = labelled.losses.sum() / len(losses)  # what failed under the labels failed
    assert fit.found.value == pytest.approx(max(model.shifted(m, shift).mean(), known), rel=1e-9)
    assert fit.audit == pytest.approx(audit, rel=1e-9)
    assert fit.value == (fit.found.value if task == "classification" else max(fit.audit, known))


def test_lost_labels_scale_their_wave() -> None:
    """Two of the first twenty will never come: that wave counts as one of eighteen, and is not drawn from again."""
    frame, losses = pool()
    first = Waves(first=20).draw(frame, None, budget=25, seed=3)
    known = losses.copy()
    known[first.items[[2, 11]]] = np.inf
    sample = Waves(first=20).draw(frame, known, budget=25, seed=3)
    fit = Fit.of(with_losses(sample.without(np.isinf(known[sample.items])), losses))
    drawn = np.isin(np.arange(frame.size), first.items)
    usable = np.delete(first.items, [2, 11])
    chances = [
        naive_chances(fit.model, before, losses, drawn=out, count=count, objective="estimate", floor=floor)[0]
        for before, out, count, floor in zip(
            (usable[:0], usable), (drawn & False, drawn), (20, 5), sample.draws.floors, strict=True
        )
    ]
    np.testing.assert_allclose(of_all(fit.items).chance, 1 - (1 - chances[0] * 18 / 20) * (1 - chances[1]), rtol=1e-9)


def test_variances_by_hand() -> None:
    """Va = N⁻² Σ (1-π)/π² (y-m_cf)² with folds of every fifth label, Vb = N⁻² Σ m(1-m)(1/π-1), V the larger.

    m_cf as it is fitted, m shifted.
    """
    labelled = campaign()
    fit = Fit.of(labelled)
    said = of_all(fit.items)
    items, losses, size = labelled.sample.items, labelled.losses, len(said.chance)
    held_out = np.empty(len(items))
    for fold in range(5):
        there = np.arange(len(items)) % 5 == fold
        belief = fit.model.fit(items[~there], losses[~there])
        held_out[there] = fit.model.expected(belief)[items[there]]
    at = said.chance[items]
    assert fit.seen == pytest.approx(sum((1 - at) / at**2 * (losses - held_out) ** 2) / size**2, rel=1e-9)
    shift = brentq(lambda by: float(((losses - fit.model.shifted(said.expected, by)[items]) / at).sum()), -40, 40)
    m = fit.model.shifted(said.expected, shift)
    assert fit.foreseen == pytest.approx((m * (1 - m) * (1 / said.chance - 1)).sum() / size**2, rel=1e-9)
    assert fit.variance == max(fit.seen, fit.foreseen)
    rates = sorted(-np.log(1 - said.chance))
    for items in (1, 2, 100, size):
        assert fit.evidence.least[items - 1] == pytest.approx(sum(rates[:items]) / items, rel=1e-9)
    typical = (said.expected * said.chance).sum() / said.expected.sum()
    assert fit.evidence.typical == pytest.approx(-np.log(1 - typical), rel=1e-9)
    left = said.expected * (1 - said.chance)
    weight = (left / -np.log(1 - said.chance)).sum() / left.sum()
    assert fit.evidence.unseen == pytest.approx(1 / weight, rel=1e-9)


@pytest.mark.parametrize("task", TASKS)
def test_a_sample_without_its_pool_is_refused(task: str) -> None:
    labelled = campaign(task)
    bare = replace(labelled, sample=replace(labelled.sample, frame=None))
    with pytest.raises(SampleError) as caught:
        estimators.estimate(bare)
    assert "pool" in caught.value.hint


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_record_with_its_pool_gives_the_same_estimate(task: str, objective: str) -> None:
    """To the last bit, from a frame that was made anew."""
    labelled = campaign(task, objective)
    frame = pool.__wrapped__(task)[0]
    again = Sample.from_record(json.loads(json.dumps(labelled.sample.as_record())))
    assert estimators.estimate(replace(labelled, sample=replace(again, frame=frame))) == estimators.estimate(labelled)


@given(
    task=st.sampled_from(TASKS),
    objective=st.sampled_from(OBJECTIVES),
    budget=st.integers(2, 80),
    seed=st.integers(0, 10**6),
)
@settings(max_examples=40, deadline=None)
def test_intervals_hold_their_estimate_and_the_protected_one_is_no_narrower(
    task: str, objective: str, budget: int, seed: int
) -> None:
    found = estimators.estimate(campaign(task, objective, budget=budget, seed=seed))
    assert found.beside is not None
    first, second = (found.interval, found.beside) if objective == "protected" else (found.beside, found.interval)
    assert (first.method, second.method) == ("protected", "if the risk model is right")
    assert 0 <= first.low <= second.low <= found.value <= second.high <= first.high
    assert first.high <= 1 or task == "regression"
    assert found.variance >= 0


def falls(labelled: Labelled) -> tuple[float, float, float, float]:
    """By how much estimate, protected upper bound, the other one and lower bounds fall at most when a right label
    becomes a failure: the least and the most expected ones, and one between them."""
    before, found = estimators.estimate(labelled), [(0.0, 0.0, 0.0, 0.0)]
    right = np.flatnonzero(labelled.losses == 0)
    right = right[np.argsort(Fit.of(labelled).at[right], kind="stable")]
    for at in right[[0, 1, len(right) // 2, -1]]:
        losses = labelled.losses.copy()
        losses[at] = 1.0
        after = estimators.estimate(replace(labelled, losses=losses, failed=losses > 0))
        assert before.protected is not None
        assert after.protected is not None
        estimate, wide = before.value - after.value, before.protected.high - after.protected.high
        for one, other in ((before.interval, after.interval), (before.beside, after.beside)):
            assert one is not None
            assert other is not None
            found.append((estimate, wide, one.high - other.high, one.low - other.low))
    estimate, wide, high, low = np.max(found, axis=0).tolist()
    return estimate, wide, high, low


@given(objective=st.sampled_from(["estimate", "protected"]), budget=st.integers(50, 90), seed=st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_one_more_failure_never_looks_better(objective: str, budget: int, seed: int) -> None:
    """A right label that becomes a failure lowers neither estimate nor protected upper bound of the failure rate.

    The narrower upper bound may fall: a failure where it was expected speaks for the signals. The lower one does not
    fall by more than .2 point, however heavy the failure is.
    """
    estimate, wide, high, low = falls(campaign(objective=objective, budget=budget, seed=seed))
    assert estimate <= 0
    assert wide <= 1e-9
    assert high <= 0.03
    assert low <= 0.002


@given(objective=st.sampled_from(OBJECTIVES), budget=st.integers(15, 90), seed=st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_one_more_failure_looks_hardly_better_with_any_objective(objective: str, budget: int, seed: int) -> None:
    """Objectives that hunt for failures, or twenty labels: a refit may lower estimate and upper bounds by points."""
    estimate, wide, high, low = falls(campaign(objective=objective, budget=budget, seed=seed))
    assert estimate <= 0.05
    assert wide <= 0.04
    assert high <= 0.1
    assert low <= 0.01


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("budget", [10, 20, 50, 200])
def test_no_failure_found_is_no_wider_than_a_random_sample(objective: str, budget: int) -> None:
    """The interval that the objective is made for; the estimate is 0, and inside."""
    frame, _ = pool(size=2000)
    none = np.zeros(frame.size)
    found = estimators.estimate(with_losses(Waves(objective=objective).draw(frame, none, budget=budget, seed=0), none))  # type: ignore[arg-type]
    assert found.value == 0.0
    assert found.value in found.interval
    assert found.interval.width <= hypergeometric(0, budget, frame.size, level=0.95)[1]


@pytest.mark.parametrize("budget", range(10, 41))
def test_no_right_answer_found_is_the_mirror_image(budget: int) -> None:
    """A rate of exactly 1, however many labels: a rounding under it would make the interval nearly the whole range."""
    frame, _ = pool(size=5000)
    every = np.ones(frame.size)
    found = estimators.estimate(
        with_losses(Waves(objective="protected").draw(frame, every, budget=budget, seed=0), every)
    )
    assert found.value == 1.0
    assert found.interval.high == 1.0
    assert found.interval.width <= hypergeometric(0, budget, frame.size, level=0.95)[1]


@pytest.mark.parametrize(
    ("objective", "budget", "shown"), [("expose", 40, False), ("expose", 400, True), ("estimate", 40, True)]
)
def test_a_protected_interval_that_says_little_is_not_trusted(objective: str, budget: int, shown: bool) -> None:
    """Where `expose` left fewer than ten labels' worth for what looks safe; its page and `check` go by it."""
    found = estimators.estimate(campaign(objective=objective, budget=budget, seed=0))
    assert found.interval.trusted
    assert found.beside is not None
    assert found.beside.trusted is shown
    assert ("objective=protected" in found.beside.note) is not shown


def test_errors_in_another_unit_give_everything_in_that_unit() -> None:
    """The same items are drawn, too; coefficients are rounded to nine digits, hence the tolerance."""
    frame, losses = pool("regression")
    small, large = (
        with_losses(Waves(first=20).draw(frame, scaled, budget=60, seed=0), scaled)
        for scaled in (losses, losses * 1024)
    )
    np.testing.assert_array_equal(small.sample.items, large.sample.items)
    one, other = estimators.estimate(small), estimators.estimate(large)
    for name in ("value", "audit"):
        assert getattr(other, name) == pytest.approx(1024 * getattr(one, name), rel=1e-6)
    assert other.variance == pytest.approx(1024**2 * one.variance, rel=1e-6)
    assert other.interval.high == pytest.approx(1024 * one.interval.high, rel=1e-6)


# How often the intervals hold.


def accurate_pool(*, blind: float) -> tuple[Frame, np.ndarray]:
    """3,000 items of which 10 % fail, about as the confidence says; then the most confident ones fail as well.

    blind
        Share of the pool that is made to fail where nobody would look.
    """
    size = 3000
    doubt = uniforms(stream(7, "doubt"), size) ** 6
    failed = uniforms(stream(7, "failed"), size) < 0.01 + 0.63 * doubt
    failed[np.argsort(doubt, kind="stable")[: round(blind * size)]] = True
    return Frame(size, auxiliary={"confidence": doubt}, traits=derived.traits()), failed.astype(np.float64)


@cache
def estimates(blind: float) -> tuple[list[MeanLoss], float]:
    frame, losses = accurate_pool(blind=blind)
    drawn = (Waves(objective="estimate").draw(frame, losses, budget=100, seed=seed) for seed in range(400))
    return [estimators.estimate(with_losses(sample, losses)) for sample in drawn], float(losses.mean())


def covered(found: list[MeanLoss], truth: float, kind: str) -> int:
    return sum(truth in getattr(one, kind) for one in found)


def test_the_pools_are_what_they_say() -> None:
    assert accurate_pool(blind=0)[1].mean() == pytest.approx(0.1, abs=0.015)
    assert accurate_pool(blind=0.02)[1].mean() == pytest.approx(0.12, abs=0.015)


@pytest.mark.parametrize("kind", ["interval", "beside"])
def test_coverage(kind: str) -> None:
    """Of 400 intervals at 95 %: an alarm of 1e-6 for .95; a true coverage of .89 would be noticed half the time."""
    found, truth = estimates(0)
    assert_covers(covered(found, truth, kind), len(found), least=0.95)


def test_a_blind_spot_is_what_the_protected_interval_is_for() -> None:
    """2 % of the pool fail at the highest confidence: the protected interval holds.

    A true coverage of .88 would be noticed half the time.
    """
    found, truth = estimates(0.02)
    assert_covers(covered(found, truth, "beside"), len(found), least=0.94)
    assert covered(found, truth, "beside") >= covered(found, truth, "interval")


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_an_estimate_after_others_is_the_same_as_a_first_one(task: str) -> None:
    """What a frame remembers of earlier waves is of these labels, and no others."""
    kept, losses = pool(task)
    sample = Waves().draw(kept, losses, budget=120, seed=3)
    other = np.roll(losses, 1)
    for truth, draws in [(losses, 120), (other, 120), (losses, 60), (losses, 119), (other, 118)]:
        part = sample.prefix(draws)
        found = [Fit.of(with_losses(replace(part, frame=frame), truth)) for frame in (kept, pool(task)[0])]
        assert found[0].value == found[1].value
        assert found[0].audit == found[1].audit
        assert len({of_all(one.items).chance.tobytes() for one in found}) == 1
