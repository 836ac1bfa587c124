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

from fieldcheck.accuracy import estimators
from fieldcheck.accuracy.designs import Waves
from fieldcheck.accuracy.estimators.base import MeanLoss
from fieldcheck.accuracy.estimators.model_assisted import Fit
from fieldcheck.core.errors import SampleError
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.rng import stream
from fieldcheck.core.sample import Labelled, Sample
from fieldcheck.numerics.regression.risk import RiskModel, frame_model
from fieldcheck.numerics.sampling.draws import uniforms
from fieldcheck.numerics.sampling.inclusion import wave_inclusion
from fieldcheck.testing import assert_covers

OBJECTIVES = ("estimate", "balanced", "expose")
TASKS = ("classification", "regression")


@cache
def pool(task: str = "classification", size: int = 500) -> tuple[Frame, np.ndarray]:
    doubt = uniforms(stream(1, "doubt"), size) ** 5
    failed = uniforms(stream(1, "failed"), size) < 0.02 + 0.6 * doubt
    error = (0.05 + doubt) * (0.2 + 3 * uniforms(stream(1, "error"), size)) ** 2
    name = "confidence" if task == "classification" else "lsa"
    frame = Frame(size, task, {name: doubt}, predictions=np.arange(size) % 3)  # type: ignore[arg-type]
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
    model: RiskModel, before: np.ndarray, losses: np.ndarray, *, drawn: np.ndarray, count: int, objective: str
) -> tuple[np.ndarray, np.ndarray]:
    """Of a wave, for every item: its chance, and the loss that was expected after the labels before it."""
    expected = model.expected(model.linear(model.fit(before, losses[before])))
    spread = model.spread(expected)
    kind: Any = objective
    floor = 0.25 if model.family == "bernoulli" else 0.1
    return wave_inclusion(expected, spread, drawn, count, objective=kind, floor=floor, certain=0.75), expected


def naive_waves(
    labelled: Labelled, objective: str, losses: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """By wave: its labelled items, its chances for every item, and what was expected before it; all fitted anew."""
    sample = labelled.sample
    frame = sample.frame
    assert frame is not None
    model = frame_model(frame.auxiliary, frame.predictions, frame.size, frame.task)
    drawn = np.zeros(frame.size, dtype=bool)
    for number, count in enumerate(sample.draws.sizes):
        wave = sample.items[sample.draws.wave == number]
        chances, expected = naive_chances(
            model, np.flatnonzero(drawn), losses, drawn=drawn, count=count, objective=objective
        )
        yield wave, chances * (len(wave) / count), expected
        drawn[wave] = True


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("labels", [60, 55, 22])
def test_chances_and_estimates_once_more(task: str, objective: str, labels: int) -> None:
    """Whole, with a last wave of which only a part is labelled, and with the second one broken off.

    π = 1 - Π(1 - π_t) item by item, θ = (1/N)[Σ m + Σ (y - m)/π], and the audit form wave by wave.
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
    np.testing.assert_allclose(fit.chance, 1 - missed, rtol=1e-9)
    model = fit.model
    m = model.expected(model.linear(model.fit(labelled.sample.items, labelled.losses)))
    at = labelled.sample.items
    value = (m.sum() + ((labelled.losses - m[at]) / (1 - missed[at])).sum()) / len(losses)
    assert fit.value == pytest.approx(value, rel=1e-9)
    assert fit.audit == pytest.approx(audit, rel=1e-9)


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
        naive_chances(fit.model, before, losses, drawn=out, count=count, objective="estimate")[0]
        for before, out, count in ((usable[:0], drawn & False, 20), (usable, drawn, 5))
    ]
    np.testing.assert_allclose(fit.chance, 1 - (1 - chances[0] * 18 / 20) * (1 - chances[1]), rtol=1e-9)


def test_variances_by_hand() -> None:
    """Va = N⁻² Σ (1-π)/π² (y-m_cf)² with folds of every fifth label, Vb = N⁻² Σ m(1-m)(1/π-1), V the larger."""
    labelled = campaign()
    fit = Fit.of(labelled)
    items, losses, size = labelled.sample.items, labelled.losses, len(fit.chance)
    held_out = np.empty(len(items))
    for fold in range(5):
        there = np.arange(len(items)) % 5 == fold
        belief = fit.model.fit(items[~there], losses[~there])
        held_out[there] = fit.model.expected(fit.model.linear(belief))[items[there]]
    at = fit.chance[items]
    assert fit.seen == pytest.approx(sum((1 - at) / at**2 * (losses - held_out) ** 2) / size**2, rel=1e-9)
    m = fit.expected
    assert fit.foreseen == pytest.approx((m * (1 - m) * (1 / fit.chance - 1)).sum() / size**2, rel=1e-9)
    assert fit.variance == max(fit.seen, fit.foreseen)
    safe = m < 0.02
    looked = safe[items]
    rate = (losses[looked].sum() + 0.5) / (looked.sum() + 1)
    hidden = rate * (1 - rate) * (1 / fit.chance[safe] - 1).sum() / size**2
    assert fit.guarded_variance() == pytest.approx(max(fit.variance, fit.seen + hidden), rel=1e-9)


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
def test_intervals_hold_their_estimate_and_the_guarded_one_is_no_narrower(
    task: str, objective: str, budget: int, seed: int
) -> None:
    found = estimators.estimate(campaign(task, objective, budget=budget, seed=seed))
    assert found.guarded is not None
    # A rate outside [0, 1] is shown as it is; bounds of a rate stay inside.
    shown = max(found.value, 0.0) if task == "regression" else min(max(found.value, 0.0), 1.0)
    assert found.interval.low <= shown <= found.interval.high
    assert found.guarded.low <= found.interval.low + 1e-12
    assert found.interval.high <= found.guarded.high + 1e-12
    assert found.variance >= 0


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
    return Frame(size, auxiliary={"confidence": doubt}), failed.astype(np.float64)


@cache
def estimates(blind: float) -> tuple[list[MeanLoss], float]:
    frame, losses = accurate_pool(blind=blind)
    drawn = (Waves().draw(frame, losses, budget=100, seed=seed) for seed in range(400))
    return [estimators.estimate(with_losses(sample, losses)) for sample in drawn], float(losses.mean())


def covered(found: list[MeanLoss], truth: float, kind: str) -> int:
    return sum(truth in getattr(one, kind) for one in found)


def test_the_pools_are_what_they_say() -> None:
    assert accurate_pool(blind=0)[1].mean() == pytest.approx(0.1, abs=0.015)
    assert accurate_pool(blind=0.02)[1].mean() == pytest.approx(0.12, abs=0.015)


@pytest.mark.parametrize("kind", ["interval", "guarded"])
def test_coverage(kind: str) -> None:
    """Of 400 intervals at 95 %: an alarm of 1e-6 for .95; a true coverage of .89 would be noticed half the time."""
    found, truth = estimates(0)
    assert_covers(covered(found, truth, kind), len(found), least=0.95)


def test_a_blind_spot_is_what_the_guarded_interval_is_for() -> None:
    """2 % of the pool fail at the highest confidence: measured, .95 of the standard and .98 of the guarded intervals.

    A true coverage of the guarded one of .88 would be noticed half the time.
    """
    found, truth = estimates(0.02)
    assert_covers(covered(found, truth, "guarded"), len(found), least=0.94)
    assert covered(found, truth, "guarded") >= covered(found, truth, "interval")
