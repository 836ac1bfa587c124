"""The risk model: its prior by hand, its fit against a general-purpose optimiser, and what must not change it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit, ndtri

from fieldcheck.core.rng import stream
from fieldcheck.numerics.regression.risk import Belief, RiskModel, failure_model, frame_model, loss_model, normal_score
from fieldcheck.numerics.sampling.draws import permutation, uniforms

SIZE = 400


def suspicion(size: int = SIZE) -> np.ndarray:
    return uniforms(stream(1, "suspicion"), size) ** 4


def signals(size: int = SIZE) -> dict[str, np.ndarray]:
    return {name: uniforms(stream(1, name), size) for name in ("dsa", "lsa")}


def failures_of(model: RiskModel, seed: int) -> np.ndarray:
    """Losses of all items, drawn from the prior's own risks."""
    risk = model.expected(model.linear(model.prior()))
    return (uniforms(stream(seed, "failed"), len(risk)) < risk).astype(np.float64)


def errors_of(seed: int, size: int = SIZE) -> np.ndarray:
    """Squared errors of some unit."""
    return ndtri(uniforms(stream(seed, "error"), size) * 0.999 + 0.0005) ** 2 * 0.02


def minus_log_posterior(at: np.ndarray, model: RiskModel, mean: np.ndarray, items: np.ndarray, losses: np.ndarray):
    """Bernoulli with a logistic link, or gamma of shape 1/2 with a logarithmic one; independent normal priors."""
    eta = model.features[items] @ at
    likely = np.logaddexp(0, eta) - losses * eta if model.family == "bernoulli" else 0.5 * (eta + losses * np.exp(-eta))
    return likely.sum() + 0.5 * (((at - mean) / model.sd) ** 2).sum()


def slope(at: np.ndarray, model: RiskModel, mean: np.ndarray, items: np.ndarray, losses: np.ndarray):
    features = model.features[items]
    eta = features @ at
    surplus = losses - expit(eta) if model.family == "bernoulli" else 0.5 * (losses * np.exp(-eta) - 1)
    return -features.T @ surplus + (at - mean) / model.sd**2


def optimum(model: RiskModel, mean: np.ndarray, items: np.ndarray, losses: np.ndarray) -> np.ndarray:
    from scipy.optimize import minimize

    found = minimize(
        minus_log_posterior,
        mean,
        args=(model, mean, items, losses),
        jac=slope,
        method="BFGS",
        options={"gtol": 1e-9, "maxiter": 2000},
    )
    return np.asarray(found.x)


@pytest.mark.parametrize("labels", [1, 5, 20, 60, 300])
@pytest.mark.parametrize("seed", range(3))
def test_failures_are_fitted_to_the_mode_of_the_posterior(labels: int, seed: int) -> None:
    model = failure_model(suspicion(), signals(), None, SIZE)
    items = permutation(stream(seed, "items"), SIZE)[:labels]
    losses = failures_of(model, seed)[items]
    best = optimum(model, model.mean, items, losses)
    # BFGS stops where the slope is about 1e-9, and the posterior is at least as curved as a prior of sd 1.41.
    np.testing.assert_allclose(model.fit(items, losses).coefficients, best, atol=1e-6)


@pytest.mark.parametrize("labels", [1, 5, 20, 60, 300])
@pytest.mark.parametrize("seed", range(3))
def test_errors_are_fitted_to_the_mode_of_the_posterior(labels: int, seed: int) -> None:
    model = loss_model(signals(), uniforms(stream(1, "value"), SIZE), SIZE)
    items = permutation(stream(seed, "items"), SIZE)[:labels]
    losses = errors_of(seed)[items]
    level = np.array([np.log(losses.mean()), *model.mean[1:]])
    best = optimum(model, level, items, losses)
    np.testing.assert_allclose(model.fit(items, losses).coefficients, best, atol=1e-5)


@given(
    seed=st.integers(0, 10**6),
    labels=st.integers(1, 200),
    rate=st.sampled_from([0.0, 0.02, 0.5, 0.98, 1.0]),
    shape=st.sampled_from([0.1, 1.0, 8.0, 60.0]),
)
@settings(max_examples=60)
def test_any_labels_lead_to_the_mode(seed: int, labels: int, rate: float, shape: float) -> None:
    """At the mode the posterior is flat; labels that contradict the prior, and confidences at their ends, included."""
    model = failure_model(uniforms(stream(seed, "u"), SIZE) ** shape, signals(), None, SIZE)
    items = permutation(stream(seed, "items"), SIZE)[:labels]
    losses = (uniforms(stream(seed, "y"), labels) < rate).astype(np.float64)
    at = model.fit(items, losses).coefficients
    steepest = np.abs(slope(at, model, model.mean, items, losses)).max()
    # Coefficients have nine digits; the slope changes by at most Σ x²/4 + 1/sd² per unit of a coefficient.
    curvature = (model.features[items] ** 2).sum() / 4 * 5 + (1 / model.sd**2).max()
    assert steepest <= 1e-9 * curvature + 1e-7


@pytest.mark.parametrize("labels", [1, 3, 10, 40])
def test_a_failure_that_was_held_for_impossible(labels: int) -> None:
    """An item with a confidence of exactly 1 fails, the others do not: full Newton steps go in circles here."""
    model = failure_model(np.array([0.0] + [0.02] * (SIZE - 1)), {}, None, SIZE)
    items = np.arange(labels, dtype=np.int64)
    losses = (items == 0).astype(np.float64)
    best = optimum(model, model.mean, items, losses)
    np.testing.assert_allclose(model.fit(items, losses).coefficients, best, atol=1e-6)


@given(
    seed=st.integers(0, 10**6),
    labels=st.integers(2, 200),
    perfect=st.sampled_from([0.0, 0.5, 0.9]),
    tail=st.sampled_from([1.0, 3.0]),
)
@settings(max_examples=60)
def test_any_errors_lead_to_the_mode(seed: int, labels: int, perfect: float, tail: float) -> None:
    """Also where many predictions are exactly right, or a few are off by orders of magnitude."""
    model = loss_model(signals(), uniforms(stream(1, "value"), SIZE), SIZE)
    items = permutation(stream(seed, "items"), SIZE)[:labels]
    losses = np.exp(tail * ndtri(uniforms(stream(seed, "y"), labels) * 0.999 + 0.0005))
    losses[uniforms(stream(seed, "perfect"), labels) < perfect] = 0.0
    losses[0] = 1.0
    mean = np.array([np.log(losses.mean()), *model.mean[1:]])
    at = model.fit(items, losses).coefficients
    assert np.abs(slope(at, model, mean, items, losses)).max() <= 1e-6 * labels


@pytest.mark.parametrize(
    ("confidence", "trust", "doubt"),
    [
        # mean doubt .2033, so that half of the log odds is believed: .3 + .5 log(1/99), .3 + .5 log(1/9), .3 + .5 log 1
        ([0.99, 0.9, 0.5], 0.5, [-1.99756, -0.798612, 0.3]),
        # mean doubt .03: .5 + 10 × .02 = .7 of log(1/49), log(4/96)
        ([0.98, 0.96], 0.7, [-2.424274, -1.924638]),
        # mean doubt .001: at most .9 of log(1/999)
        ([0.999, 0.999], 0.9, [-5.916079, -5.916079]),
        # certain and clueless: log odds of 1e-6 and of .999
        ([1.0, 0.0], 0.5, [-6.607755, 3.753377]),
    ],
)
def test_prior_by_hand(confidence: list[float], trust: float, doubt: list[float]) -> None:
    given_doubt = 1 - np.array(confidence)
    model = failure_model(given_doubt, {}, None, len(confidence))
    np.testing.assert_allclose(model.features[:, 1], doubt, atol=1e-5)
    np.testing.assert_allclose(model.features[:, 1], 0.3 + trust * logit(np.clip(given_doubt, 1e-6, 0.999)), rtol=1e-12)
    np.testing.assert_allclose(model.features[:, 2], (model.features[:, 1] - np.mean(doubt)) ** 2 / 10, atol=1e-5)
    # Before any label the risk is that of the doubt alone.
    np.testing.assert_allclose(model.linear(model.prior()), doubt, atol=1e-5)


def test_prior_of_all_signals() -> None:
    model = frame_model({"confidence": suspicion(), **signals()}, np.arange(SIZE) % 3, SIZE, "classification")
    assert model.mean.tolist() == [0, 1, 0, 0.3, 0]
    assert model.sd.tolist() == [1.41, 0.57, 0.42, 0.57, 0.57]
    assert (model.family, model.group_count) == ("bernoulli", 3)


def test_prior_without_confidence() -> None:
    model = frame_model({}, None, SIZE, "classification")
    assert model.features.tolist() == [[1.0]] * SIZE
    np.testing.assert_allclose(model.mean, [np.log(1 / 9)], rtol=1e-12)
    assert model.sd.tolist() == [1.5]
    assert frame_model(signals(), None, SIZE, "classification").mean[1:].tolist() == [0.3, 0]


def test_normal_scores() -> None:
    """Ranks 1 and 4 of 4, and two that share 2.5: quantiles of (rank - 1/2)/4."""
    found = normal_score(np.array([7.0, 3.0, 7.0, 90.0]))
    np.testing.assert_allclose(found, ndtri([0.5, 0.125, 0.5, 0.875]), rtol=1e-12, atol=1e-15)
    assert normal_score(np.full(9, 3.0)).tolist() == [0.0] * 9
    assert normal_score(np.array([5.0])).tolist() == [0.0]


@given(values=st.lists(st.integers(-20, 20), min_size=1, max_size=50))
def test_normal_scores_keep_the_order_and_forget_the_unit(values: list[int]) -> None:
    given_values = np.array(values, dtype=np.float64)
    found = normal_score(given_values)
    np.testing.assert_array_equal(found, normal_score(np.exp(given_values / 10)))
    np.testing.assert_allclose(found, -normal_score(-given_values), atol=1e-12)
    order = np.argsort(given_values, kind="stable")
    assert (np.sign(np.diff(found[order])) == np.sign(np.diff(given_values[order]))).all()


def test_losses_in_another_unit_shift_the_intercept_only() -> None:
    model = loss_model(signals(), uniforms(stream(1, "value"), SIZE), SIZE)
    items = permutation(stream(5, "items"), SIZE)[:50]
    losses = errors_of(5)[items]
    small, large = model.fit(items, losses), model.fit(items, losses * 1000)
    np.testing.assert_allclose(large.coefficients[1:], small.coefficients[1:], atol=2e-9)
    assert large.coefficients[0] - small.coefficients[0] == pytest.approx(np.log(1000), abs=2e-9)


@pytest.mark.parametrize("family", ["bernoulli", "gamma"])
@pytest.mark.parametrize("seed", range(5))
def test_labels_may_come_in_any_order(family: str, seed: int) -> None:
    groups = np.arange(SIZE) % 4
    model = failure_model(suspicion(), signals(), groups, SIZE)
    losses = failures_of(model, seed)
    if family == "gamma":
        model, losses = loss_model(signals(), None, SIZE), errors_of(seed)
    items = permutation(stream(seed, "items"), SIZE)[:100]
    other = items[permutation(stream(seed, "again"), 100)]
    np.testing.assert_array_equal(model.fit(items, losses[items]).as_row(), model.fit(other, losses[other]).as_row())


def test_classes_have_effects_from_twenty_labels_each() -> None:
    groups = np.arange(SIZE) % 4
    model = failure_model(suspicion(), {}, groups, SIZE)
    losses = failures_of(model, 3)
    few, enough = (np.arange(count, dtype=np.int64) for count in (79, 80))
    assert len(model.fit(few, losses[few]).effects) == 0
    belief = model.fit(enough, losses[enough])
    p = expit(model.features[enough] @ belief.coefficients)
    for group in range(4):
        here = groups[enough] == group
        wanted = (losses[enough] - p)[here].sum() / ((p * (1 - p))[here].sum() + 1 / 0.16)
        assert belief.effects[group] == pytest.approx(wanted, abs=1e-8)
    change = model.linear(belief) - model.features @ belief.coefficients
    np.testing.assert_allclose(change, belief.effects[groups], atol=1e-8)


def test_a_class_that_fails_more_is_believed_riskier() -> None:
    groups = np.arange(SIZE) % 2
    model = failure_model(np.full(SIZE, 0.1), {}, groups, SIZE)
    items = np.arange(100, dtype=np.int64)
    belief = model.fit(items, (groups[items] == 1).astype(np.float64))
    assert belief.effects[0] < -0.5 < 0.5 < belief.effects[1]


def test_a_belief_survives_as_a_row() -> None:
    model = failure_model(suspicion(), signals(), np.arange(SIZE) % 4, SIZE)
    for effects in (np.zeros(0), np.arange(4.0)):
        row = Belief(np.arange(5.0), effects).as_row()
        assert model.belief(row).coefficients.tolist() == [0, 1, 2, 3, 4]
        assert model.belief(row).effects.tolist() == effects.tolist()


def test_failures_raise_and_successes_lower_the_risk() -> None:
    model = failure_model(suspicion(), signals(), None, SIZE)
    items = permutation(stream(0, "items"), SIZE)[:30]
    prior = model.linear(model.prior())[items].mean()
    assert model.linear(model.fit(items, np.ones(30)))[items].mean() > prior
    assert model.linear(model.fit(items, np.zeros(30)))[items].mean() < prior


def test_more_doubt_is_more_risk_before_any_label() -> None:
    doubt = np.sort(suspicion())
    model = failure_model(doubt, {}, None, SIZE)
    assert (np.diff(model.expected(model.linear(model.prior()))) >= 0).all()


def test_no_error_at_all_is_believed_small() -> None:
    """A perfect regression has no scale: what is expected vanishes, and nothing overflows."""
    model = loss_model(signals(), None, SIZE)
    items = np.arange(30, dtype=np.int64)
    assert model.expected(model.linear(model.fit(items, np.zeros(30)))).max() < 1e-12
