"""Signals judged by labels: what is wrong with them is said soon, and hardly ever when nothing is."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.special import expit, logit, logsumexp

from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.core.rng import stream
from fieldcheck.numerics.regression.population import Arrays
from fieldcheck.numerics.regression.signals import Judgement, judged, leak_evidence
from fieldcheck.numerics.sampling.draws import permutation, uniforms
from fieldcheck.testing import assert_covers

SIZE = 1500
LOOKS = (40, 60, 90, 140)


def pool(seed: int, kind: str) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Failures by the doubt (13 %), beside signals that are what they should be or not."""
    doubt = np.clip(uniforms(stream(seed, "doubt"), SIZE) ** 4, 1e-4, 0.9)
    failed = (uniforms(stream(seed, "failed"), SIZE) < expit(0.2 + 1.2 * logit(doubt))).astype(np.float64)
    noise = uniforms(stream(seed, "noise"), SIZE)
    signals = {"confidence": doubt, "dsa": doubt + noise}
    if kind == "useless":
        order = permutation(stream(seed, "order"), SIZE)
        signals = {name: values[order] for name, values in signals.items()}
    if kind == "reversed":
        signals = {name: np.sort(values)[::-1][np.argsort(np.argsort(values))] for name, values in signals.items()}
    if kind == "leaking":
        signals["lsa"] = failed + noise
    if kind == "leaking by class":
        signals["lsa"] = ((np.arange(SIZE) + failed * (1 + (noise * 9).astype(int))) % 10).astype(np.float64)
    return signals, failed


@cache
def campaigns(kind: str, count: int = 40) -> list[tuple[list[Judgement], int]]:
    """What is said at each look, and the failures among the labels; drawn at random, more of the doubtful."""
    found = []
    for seed in range(count):
        signals, failed = pool(seed, kind)
        key = uniforms(stream(seed, "key"), SIZE) ** (1 / (0.05 + signals["confidence"]))
        items = np.argsort(-key, kind="stable")[: LOOKS[-1]]
        classes = np.arange(SIZE) % 10
        known = Arrays(SIZE, signals, classes, traits=derived.traits())
        looks = [judged(known, items[:end], failed[items[:end]]) for end in LOOKS]
        found.append((looks, int(failed[items].sum())))
    return found


def test_nothing_is_said_where_nothing_is_wrong() -> None:
    """At most 5 % of whole campaigns (alarm 1e-6)."""
    wrong = sum(
        any(one.useless or one.reversed or one.leaking or one.constant for one in looks)
        for looks, _ in campaigns("sound")
    )
    assert_covers(40 - wrong, 40, least=0.95)


@pytest.mark.parametrize("kind", ["useless", "reversed"])
def test_signals_that_mislead_are_named(kind: str) -> None:
    """In at least four of five campaigns with eight failures (alarm 1e-6)."""
    told = [getattr(looks[-1], kind) for looks, failures in campaigns(kind) if failures >= 8]
    assert len(told) >= 10
    assert_covers(sum(told), len(told), least=0.8)


@pytest.mark.parametrize("kind", ["leaking", "leaking by class"])
def test_signals_that_give_away_the_outcome_are_named(kind: str) -> None:
    told = [looks[-1].leaking == ("lsa",) for looks, failures in campaigns(kind) if failures >= 5]
    assert len(told) >= 10
    assert_covers(sum(told), len(told), least=0.8)


@pytest.mark.parametrize(("factor", "said"), [(1.0, None), (8.0, "over-confident"), (0.1, "under-confident")])
def test_calibration(factor: float, said: str | None) -> None:
    """Odds of failing that are the stated ones times a factor."""
    doubt = np.clip(uniforms(stream(0, "doubt"), SIZE) ** 2, 1e-3, 0.9)
    failed = (uniforms(stream(0, "y"), SIZE) < expit(np.log(factor) + logit(doubt))).astype(np.float64)
    items = np.arange(200)
    assert judged(Arrays(SIZE, {"confidence": doubt}), items, failed[items]).calibration == said


def test_constant_and_too_few() -> None:
    signals, failed = pool(0, "sound")
    signals["flat"] = np.ones(SIZE)
    few = np.flatnonzero(failed)[:4]
    assert judged(Arrays(SIZE, signals, traits=derived.traits()), few, failed[few]) == Judgement(constant=("flat",))


def test_the_threshold_of_a_leak_by_hand() -> None:
    """Right, right, wrong with a threshold in four places: 2, 1 and 0 errors from the left, then 1."""
    found = leak_evidence(np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.0, 1.0]), None)
    errors = np.array([2, 1, 0, 1])
    assert found == pytest.approx(logsumexp(errors * np.log(0.01) + (3 - errors) * np.log(0.99)) - np.log(4))
