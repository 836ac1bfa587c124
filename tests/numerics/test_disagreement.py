"""Who is right where two models disagree: the posterior mode, the moments, and the estimate of the mean gain."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import logit, softmax

from fieldcheck.numerics.disagreement import ClassDuel, ValueDuel, mean_gain
from fieldcheck.numerics.draws import without_replacement

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
        return float(-np.log(softmax(scores, axis=1)[np.arange(60), column]).sum() + (((at - mean) / sd) ** 2).sum() / 2)

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


def test_variances_agree_with_the_error_of_many_draws() -> None:
    """Simple random draws of 40 out of 60, 400 times: the mean of either variance beside the mean squared error.

    Variances that treat draws as independent are at most 60/20 times and, with the fitted model, at least about once the
    true one; a mean squared error of 400 is within 36 % of its expectation but for 1e-6 (chi-square).
    """
    chance = np.full(60, 40 / 60)
    found = []
    for seed in range(400):
        items = without_replacement(np.random.default_rng(seed), 40, 60)
        found.append(mean_gain(DUEL, items, GAINS[items], chance=chance, population=60))
    error = np.mean([(one.value - GAINS.mean()) ** 2 for one in found])
    for name in ("seen", "foreseen"):
        assert 0.64 < np.mean([getattr(one, name) for one in found]) / error < 3
