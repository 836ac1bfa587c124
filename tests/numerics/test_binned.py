"""The risk model by bins against the one that looks at every item."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.pool.trait import Trait
from fieldcheck.numerics import special
from fieldcheck.numerics.regression import binned, priors
from fieldcheck.numerics.search import first

RNG = np.random.default_rng(3)
SIZE = 9_000
DOUBT = RNG.beta(0.4, 2.0, SIZE)
FRAMES = {
    "classes": Frame(
        SIZE,
        auxiliary={"confidence": DOUBT, "dsa": DOUBT + RNG.random(SIZE), "ties": np.round(DOUBT, 1)},
        predictions=RNG.integers(0, 5, SIZE).astype(np.int8),
        traits={"dsa": Trait(slope=(0.4, 0.5), echo=True)},
    ),
    "no confidence": Frame(SIZE, auxiliary={"lsa": RNG.gamma(2.0, 1.0, SIZE)}),
    "all alike": Frame(SIZE, auxiliary={"confidence": np.full(SIZE, 0.2)}),
    "values": Frame(SIZE, "regression", {"lsa": RNG.gamma(2.0, 1.0, SIZE)}, predictions=RNG.normal(size=SIZE)),
}
LABELLED = np.arange(0, SIZE, 300)


def _losses(frame: Frame) -> Any:
    return RNG.gamma(2.0, 1.0, len(LABELLED)) if frame.task == "regression" else (DOUBT[LABELLED] > 0.2).astype(float)


@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.parametrize("labels", [False, True])
def test_small_pools_have_a_bin_for_each_value_and_lose_nothing(name: str, labels: bool) -> None:
    """Same weights, same beliefs, and the same items stand for the pool."""
    frame, items = FRAMES[name], LABELLED if labels else LABELLED[:0]
    losses = _losses(frame)[: len(items)]
    direct, risks = priors.model_of(frame), binned.binned_risks(frame)
    every = risks.model(np.arange(SIZE))
    assert every.matrix(every.population) == pytest.approx(direct.matrix(direct.population), abs=1e-9)
    assert every.weights == pytest.approx(direct.weights, abs=2e-9)
    assert every.blind().mean == pytest.approx(direct.blind().mean, abs=1e-6)
    belief = direct.fit(items, losses)
    part = risks.spread(belief if labels else None, 1_000)
    believed = direct.expected(belief)
    wanted = np.sort(believed)[((np.arange(1_000) + 0.5) * SIZE / 1_000).astype(np.int64)]
    assert believed[part] == pytest.approx(wanted, rel=1e-7)


def test_in_bins_a_doubt_is_off_by_half_a_bin_and_its_mean_by_as_much(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = FRAMES["classes"].only(["confidence"])
    monkeypatch.setattr(binned, "BINS", 4_096)
    direct, risks = priors.model_of(frame), binned.binned_risks(frame)
    every = risks.model(np.arange(SIZE))
    rows, exact = every.matrix(every.population), direct.matrix(direct.population)
    clipped = DOUBT.clip(1e-6, 0.999)
    half = (binned.DOUBTS[1] - binned.DOUBTS[0]) / 4_096 / 2 / np.std(np.log(clipped / (1 - clipped)))
    off = np.abs(rows[:, 1] - exact[:, 1])
    assert half / 2 < off.max() <= 1.05 * half  # and what short floats round
    announced = float((1 / (1 + np.exp(-exact @ direct.mean))).mean())
    # A chance moves by at most the slope of the linear predictor times a quarter, itself relative to the chance less.
    slope = abs(direct.mean[1]) + 2 * abs(direct.mean[2]) * np.abs(exact[:, 1] - rows[:, 1].mean()).max()
    assert risks.announced == pytest.approx(announced, abs=slope * half / 4)


def exact_scores(values: np.ndarray) -> np.ndarray:
    return np.asarray(special.ndtri((stats.rankdata(values) - 0.5) / len(values)))


def test_in_bins_a_rank_is_off_by_half_the_items_of_a_bin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binned, "BINS", 1_024)
    for values in (DOUBT + RNG.random(SIZE), np.round(DOUBT, 1), RNG.gamma(2.0, 1.0, SIZE)):
        codes = binned._codes(values)
        score, counts = binned._scores(codes)[codes], np.bincount(codes)
        off = np.abs(special.ndtr(score) - special.ndtr(exact_scores(values))) * SIZE
        assert np.all(off <= counts[codes] / 2 + 1e-6)


def test_values_that_the_bits_of_a_float_tell_apart_keep_their_order() -> None:
    values = np.sort(np.concatenate([[0.0, -0.0], 10.0 ** RNG.uniform(-30, 30, 70_000)]))
    codes = binned._codes(values)
    assert np.all(np.diff(codes.astype(np.int64)) >= 0)
    assert codes.max() > 30_000


@pytest.mark.parametrize("slack", [0, 50])
def test_the_first_whole_number_is_found_in_few_looks(slack: int) -> None:
    rng = np.random.default_rng(0)
    for _ in range(400):
        high = int(10 ** rng.uniform(0, 7))
        answer = int(rng.integers(1, high + 1))
        seen = SimpleNamespace(looks=0)

        def value(at: int, answer: int = answer, seen: Any = seen) -> float:
            seen.looks += 1
            return (at - answer) ** 3 / 1e6 + (0.0 if at >= answer else -1e-9)

        found = first(value, 1, high, guess=int(rng.integers(0, high + 5)), step=1 + high // 20, slack=slack)
        assert answer <= found <= answer + (answer // slack + 1 if slack else 0)
        assert seen.looks <= 2 * high.bit_length() + 8
