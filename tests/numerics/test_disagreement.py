"""Who is right where two models disagree: the posterior mode, the moments, and the estimate of the mean gain."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import logit, softmax

from fieldcheck.numerics.regression.disagreement import ClassDuel, ValueDuel, mean_gain

RNG = np.random.default_rng(4)
FIRST, SECOND = RNG.uniform(0.3, 1, 60), RNG.uniform(0.3, 1, 60)
DUEL = ClassDuel.of(FIRST, SECOND, 60)
GAINS = RNG.choice([-1.0, 0.0, 1.0], 60, p=[0.3, 0.2, 0.5])


def test_before_any_label_the_prior_speaks() -> None:
    """Scores .3 + .5 logit(own confidence), by hand."""
    belief = DUEL.fit(np.zeros(0, dtype=np.int64), np.zeros(0))
    mean, variance = DUEL.moments(belief)
    scores = np.column_stack([0.3 + 0.5 * logit(FIRST), 0.3 + 0.5 * logit(SECOND), np.zeros(60)])
    chance = softmax(scores, axis=1)
    assert mean == pytest.approx(chance[:, 0] - chance[:, 1], abs=1e-8)
    assert variance == pytest.approx(chance[:, 0] + chance[:, 1] - (chance[:, 0] - chance[:, 1]) ** 2, abs=1e-8)


def test_the_fit_is_the_posterior_mode() -> None:
    """The same coefficients as a general optimiser finds for the negative log posterior."""
    mean, sd = np.array([0.3, 0.5, 0.0] * 2), np.array([1.0, 0.4, 0.3] * 2)
    own = np.column_stack([np.ones(60), logit(FIRST), logit(SECOND)])
    rival = np.column_stack([np.ones(60), logit(SECOND), logit(FIRST)])
    column = np.where(GAINS > 0, 0, np.where(GAINS < 0, 1, 2))

    def cost(at: np.ndarray) -> float:
        scores = np.column_stack([own @ at[:3], rival @ at[3:], np.zeros(60)])
        return float(
            -np.log(softmax(scores, axis=1)[np.arange(60), column]).sum() + (((at - mean) / sd) ** 2).sum() / 2
        )

    best = minimize(cost, mean, tol=1e-12)
    # The optimiser stops where its numerical gradient is about 1e-5; curvatures are above 1.
    assert DUEL.fit(np.arange(60), GAINS) == pytest.approx(best.x, abs=1e-4)


@given(st.integers(0, 60), st.randoms(use_true_random=False))
def test_swapping_the_models_turns_the_sign(labels: int, dice: object) -> None:
    order = np.array(dice.sample(range(60), labels), dtype=np.int64)  # type: ignore[attr-defined]
    swapped = ClassDuel.of(SECOND, FIRST, 60)
    mean, variance = DUEL.moments(DUEL.fit(order, GAINS[order]))
    other_mean, other_variance = swapped.moments(swapped.fit(order, -GAINS[order]))
    assert other_mean == pytest.approx(-mean, abs=1e-7)
    assert other_variance == pytest.approx(variance, abs=1e-7)


def test_without_confidence_all_disagreements_are_alike() -> None:
    duel = ClassDuel.of(None, SECOND, 60)
    mean, variance = duel.moments(duel.fit(np.arange(60), GAINS))
    assert np.ptp(mean) == np.ptp(variance) == 0
    # Of 60 labels with a prior of sd 1 the mean moves most of the way to the mean gain.
    assert abs(mean[0] - GAINS.mean()) < 0.05


@pytest.mark.parametrize("truth", [1.0, 0.0, -1.0])
def test_numbers_pull_towards_the_better_model(truth: float) -> None:
    """Truth at the first prediction, in the middle, and at the second: pull 1, 0 and -1."""
    gap = RNG.normal(0, 2, 200)
    duel = ValueDuel(gap)
    belief = duel.fit(np.arange(200), truth * gap**2)
    assert belief[0] == pytest.approx(truth, abs=1e-6)
    assert duel.moments(belief)[0] == pytest.approx(truth * gap**2, abs=1e-4)


def test_numbers_have_no_unit() -> None:
    gap, pull = RNG.normal(0, 2, 50), RNG.normal(0.3, 1, 50)
    chance = np.full(50, 0.4)
    small, large = (
        mean_gain(ValueDuel(gap * unit), np.arange(20), (gap**2 * pull)[:20] * unit**2, chance=chance, population=90)
        for unit in (1.0, 1000.0)
    )
    assert large.value == pytest.approx(small.value * 1e6, rel=1e-9)
    assert large.variance == pytest.approx(small.variance * 1e12, rel=1e-9)


def test_all_labels_leave_nothing_to_estimate() -> None:
    found = mean_gain(DUEL, np.arange(60), GAINS, chance=np.ones(60), population=200)
    assert found.value == pytest.approx(GAINS.sum() / 200, abs=1e-12)
    assert found.variance == 0.0


@dataclass(frozen=True)
class Fixed:
    """A duel that learns nothing: then the estimate is exactly unbiased."""

    mean: np.ndarray
    variance: np.ndarray

    @property
    def size(self) -> int:
        return len(self.mean)

    def fit(self, items: np.ndarray, gains: np.ndarray) -> np.ndarray:
        return np.zeros(0)

    def moments(self, belief: np.ndarray, items: np.ndarray | slice = slice(None)) -> tuple[np.ndarray, np.ndarray]:
        return self.mean[items], self.variance[items]


def test_estimate_and_variance_by_enumeration() -> None:
    """Every sample of six disagreements that independent draws can give, with its chance."""
    duel = Fixed(np.array([0.5, 0.2, 0.0, -0.3, 0.4, -0.1]), np.array([0.6, 0.8, 0.7, 0.5, 0.4, 0.9]))
    gains, chance = np.array([1.0, -1.0, 0.0, -1.0, 1.0, 1.0]), np.array([0.9, 0.5, 0.3, 0.6, 0.2, 0.8])
    weights, values, seen = [], [], []
    for drawn in itertools.product([False, True], repeat=6):
        items = np.flatnonzero(drawn)
        found = mean_gain(duel, items, gains[items], chance=chance, population=10)
        weights.append(np.prod(np.where(drawn, chance, 1 - chance)))
        values.append(found.value)
        seen.append(found.seen)
        assert found.foreseen == pytest.approx(np.sum(duel.variance * (1 / chance - 1)) / 100, abs=1e-12)
    mean = np.average(values, weights=weights)
    assert mean == pytest.approx(gains.sum() / 10, abs=1e-12)
    assert np.average(seen, weights=weights) == pytest.approx(
        np.average((values - mean) ** 2, weights=weights), abs=1e-12
    )
