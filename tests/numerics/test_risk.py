"""The risk model: its prior by hand, its fit against a general-purpose optimiser, and what must not change it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import expit, ndtri

from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.core.pool.trait import Trait
from fieldcheck.core.rng import stream
from fieldcheck.numerics import special
from fieldcheck.numerics.regression.features import SignalColumn
from fieldcheck.numerics.regression.population import Arrays
from fieldcheck.numerics.regression.priors import risk_model
from fieldcheck.numerics.regression.risk import HIDDEN, RiskModel
from fieldcheck.numerics.sampling.draws import permutation, uniforms
from fieldcheck.numerics.scores import normal_scores

SIZE = 400

TRAITS = derived.traits()


NOTHING: dict[str, object] = {}


def failure_model(suspicion, others, groups, size: int, traits=NOTHING) -> RiskModel:
    return frame_model(
        others if suspicion is None else {"confidence": suspicion, **others}, groups, size, traits=traits
    )


def loss_model(others, predictions, size: int, traits=NOTHING) -> RiskModel:
    return frame_model(others, predictions, size, "regression", traits)


def frame_model(signals, predictions, size: int, task: str = "classification", traits=NOTHING) -> RiskModel:
    return risk_model(Arrays(size, signals, predictions, task, traits))


def normal_score(values: np.ndarray) -> np.ndarray:
    return normal_scores(Arrays(len(values), {"x": values}), SignalColumn("x"), len(values)).of(values)


def suspicion(size: int = SIZE) -> np.ndarray:
    return uniforms(stream(1, "suspicion"), size) ** 4


def signals(size: int = SIZE) -> dict[str, np.ndarray]:
    return {name: uniforms(stream(1, name), size) for name in ("dsa", "lsa")}


def failures_of(model: RiskModel, seed: int) -> np.ndarray:
    """Losses of all items, drawn from the prior's own risks."""
    risk = model.expected(model.prior())
    return (uniforms(stream(seed, "failed"), len(risk)) < risk).astype(np.float64)


def errors_of(seed: int, size: int = SIZE) -> np.ndarray:
    """Squared errors of some unit."""
    return ndtri(uniforms(stream(seed, "error"), size) * 0.999 + 0.0005) ** 2 * 0.02


def features_of(model: RiskModel) -> np.ndarray:
    return model.matrix(model.population)


def minus_log_posterior(
    at: np.ndarray, model: RiskModel, mean: np.ndarray, items: np.ndarray, losses: np.ndarray, hidden: float = 0.0
):
    """Bernoulli with a logistic link and a share that fails anyway, or gamma of shape 1/2; normal priors."""
    eta = features_of(model)[items] @ at
    if model.family == "bernoulli":
        chance = hidden + (1 - hidden) * expit(eta)
        with np.errstate(divide="ignore", invalid="ignore"):
            likely = -np.where(losses == 1, np.log(chance), np.log1p(-chance))
        likely = np.where(hidden == 0, np.logaddexp(0, eta) - losses * eta, likely)
    else:
        likely = 0.5 * (eta + losses * np.exp(-eta))
    return likely.sum() + 0.5 * (((at - mean) / model.sd) ** 2).sum()


def slope(
    at: np.ndarray, model: RiskModel, mean: np.ndarray, items: np.ndarray, losses: np.ndarray, hidden: float = 0.0
):
    features = features_of(model)[items]
    eta = features @ at
    if model.family == "bernoulli":
        chance = hidden + (1 - hidden) * expit(eta)
        surplus = (losses - chance) / chance * expit(eta)
    else:
        surplus = 0.5 * (losses * np.exp(-eta) - 1)
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
    model = failure_model(suspicion(), signals(), None, SIZE, TRAITS)
    items = permutation(stream(seed, "items"), SIZE)[:labels]
    losses = failures_of(model, seed)[items]
    best = optimum(model, model.mean, items, losses)
    # BFGS stops where the slope is about 1e-9, and the posterior is at least as curved as a prior of sd 1.41.
    np.testing.assert_allclose(model.fit(items, losses).coefficients[0], best, atol=1e-6)


@pytest.mark.parametrize("labels", [1, 5, 20, 60, 300])
@pytest.mark.parametrize("seed", range(3))
def test_errors_are_fitted_to_the_mode_of_the_posterior(labels: int, seed: int) -> None:
    model = loss_model(signals(), uniforms(stream(1, "value"), SIZE), SIZE, TRAITS)
    items = permutation(stream(seed, "items"), SIZE)[:labels]
    losses = errors_of(seed)[items]
    level = np.array([np.log(losses.mean()), *model.mean[1:]])
    best = optimum(model, level, items, losses)
    np.testing.assert_allclose(model.fit(items, losses).coefficients[0], best, atol=1e-5)


@given(
    seed=st.integers(0, 10**6),
    labels=st.integers(1, 200),
    rate=st.sampled_from([0.0, 0.02, 0.5, 0.98, 1.0]),
    shape=st.sampled_from([0.1, 1.0, 8.0, 60.0]),
)
@example(seed=0, labels=27, rate=0.0, shape=0.1)
@settings(max_examples=60)
def test_any_labels_lead_to_the_mode(seed: int, labels: int, rate: float, shape: float) -> None:
    """At the mode the posterior is flat; labels that contradict the prior, and confidences at their ends, included."""
    model = failure_model(uniforms(stream(seed, "u"), SIZE) ** shape, signals(), None, SIZE, TRAITS)
    items = permutation(stream(seed, "items"), SIZE)[:labels]
    losses = (uniforms(stream(seed, "y"), labels) < rate).astype(np.float64)
    found = model.fit(items, losses).coefficients
    steepest = max(
        np.abs(slope(at, model, model.mean, items, losses, hidden)).max()
        for at, hidden in zip(found, HIDDEN.tolist(), strict=True)
    )
    # Coefficients have nine digits; the slope changes by at most Σ x²/4 + 1/sd² per unit of a coefficient.
    curvature = (features_of(model)[items] ** 2).sum() / 4 * 5 + (1 / model.sd**2).max()
    # With hidden failures Fisher's steps come nearer by a factor only: 120 of them leave less than this.
    assert steepest <= 1e-9 * curvature + 1e-5


@pytest.mark.parametrize("labels", [1, 3, 10, 40])
def test_a_failure_that_was_held_for_impossible(labels: int) -> None:
    """An item with a confidence of exactly 1 fails, the others do not: full Newton steps go in circles here."""
    model = failure_model(np.array([0.0] + [0.02] * (SIZE - 1)), {}, None, SIZE)
    items = np.arange(labels, dtype=np.int64)
    losses = (items == 0).astype(np.float64)
    best = optimum(model, model.mean, items, losses)
    np.testing.assert_allclose(model.fit(items, losses).coefficients[0], best, atol=1e-6)


@given(
    seed=st.integers(0, 10**6),
    labels=st.integers(2, 200),
    perfect=st.sampled_from([0.0, 0.5, 0.9]),
    tail=st.sampled_from([1.0, 3.0]),
)
@settings(max_examples=60)
def test_any_errors_lead_to_the_mode(seed: int, labels: int, perfect: float, tail: float) -> None:
    """Also where many predictions are exactly right, or a few are off by orders of magnitude."""
    model = loss_model(signals(), uniforms(stream(1, "value"), SIZE), SIZE, TRAITS)
    items = permutation(stream(seed, "items"), SIZE)[:labels]
    losses = np.exp(tail * ndtri(uniforms(stream(seed, "y"), labels) * 0.999 + 0.0005))
    losses[uniforms(stream(seed, "perfect"), labels) < perfect] = 0.0
    losses[0] = 1.0
    mean = np.array([np.log(losses.mean()), *model.mean[1:]])
    at = model.fit(items, losses).coefficients[0]
    assert np.abs(slope(at, model, mean, items, losses)).max() <= 1e-6 * labels


def test_prior_by_hand() -> None:
    """Log odds 0 and ±log 9 have a standard deviation of log 9 · √(2/3): scaled, they are 0 and ±√(3/2)."""
    model = failure_model(np.array([0.1, 0.5, 0.9]), {}, None, 3)
    scaled = np.array([-1, 0, 1]) * np.sqrt(1.5)
    np.testing.assert_allclose(features_of(model)[:, 1], scaled, rtol=1e-12)
    likely = expit(-0.8 + 2.6 * scaled)
    np.testing.assert_allclose(features_of(model)[:, 2], scaled**2 - (likely @ scaled**2) / likely.sum(), rtol=1e-12)
    # Before any label the risk is that of the doubt, but for the small share of the two other models.
    odds = -0.8 + 2.6 * scaled - 0.1 * features_of(model)[:, 2]
    wanted = 0.99 * expit(odds) + 0.005 * (0.01 + 0.99 * expit(odds)) + 0.005 * (0.05 + 0.95 * expit(odds))
    np.testing.assert_allclose(model.expected(model.prior()), wanted, rtol=1e-8)


def test_confidence_counts_by_its_spread_not_by_its_level() -> None:
    """A network that doubts four times as much, in odds, has the same slopes; hardly any spread, hardly any risk."""
    doubt = suspicion() * 0.2 + 0.001
    odds = doubt / (1 - doubt)
    first, second = (features_of(failure_model(o / (1 + o), {}, None, SIZE))[:, 1] for o in (odds, 4 * odds))
    np.testing.assert_allclose(np.diff(second), np.diff(first), atol=1e-9)
    close = features_of(failure_model(expit(0.01 * signals()["dsa"]), {}, None, SIZE))[:, 1]
    assert np.ptp(close) < 0.05


def test_prior_of_all_signals() -> None:
    model = frame_model({"confidence": suspicion(), **signals()}, np.arange(SIZE) % 3, SIZE, "classification", TRAITS)
    assert model.mean.tolist() == [-0.8, 2.0, -0.1, 0.75, 0.45]
    assert model.sd.tolist() == [1.3, 0.9, 0.2, 0.6, 0.6]
    assert (model.family, model.group_count) == ("bernoulli", 3)


def test_prior_without_confidence() -> None:
    for known in ({}, {"confidence": np.full(SIZE, 0.2)}):
        model = frame_model(known, None, SIZE, "classification")
        assert features_of(model).tolist() == [[1.0]] * SIZE
        np.testing.assert_allclose(model.mean, [np.log(1 / 9)], rtol=1e-12)
        assert model.sd.tolist() == [1.5]
    assert frame_model(signals(), None, SIZE, "classification", TRAITS).mean[1:].tolist() == [0.75, 0.45]


def test_a_variable_declares_its_slopes() -> None:
    """Whatever its name is: the slope of failures, that of errors, and what the doubt gives up for it."""
    mine = {"mine": uniforms(stream(1, "mine"), SIZE)}
    told = {"mine": Trait(slope=(0.9, 0.4), error_slope=0.6, echo=True)}
    known = frame_model({"confidence": suspicion(), **mine}, None, SIZE, "classification", told)
    np.testing.assert_allclose(known.mean, [-0.8, 2.3, -0.1, 0.9], rtol=1e-15)
    assert known.sd[-1] == 0.4
    assert loss_model(mine, None, SIZE, told).mean.tolist() == [0.0, 0.6]
    unknown = frame_model({"confidence": suspicion(), **mine}, None, SIZE, "classification")
    assert unknown.mean.tolist() == [-0.8, 2.6, -0.1, 0.0]


def test_weights_of_the_three_models_by_quadrature() -> None:
    """With an intercept alone the evidence is an integral over one number; Laplace is off by some percent."""
    model = failure_model(None, {}, None, SIZE)
    items, losses = np.arange(40), (np.arange(40) < 4).astype(np.float64)
    at = np.linspace(-15, 10, 20_001)
    prior = np.exp(-0.5 * ((at - model.mean[0]) / 1.5) ** 2)
    chances = [hidden + (1 - hidden) * expit(at) for hidden in HIDDEN]
    exact = np.array([(chance**4 * (1 - chance) ** 36 * prior).sum() for chance in chances]) * [0.99, 0.005, 0.005]
    np.testing.assert_allclose(model.fit(items, losses).weights, exact / exact.sum(), rtol=0.1)


def test_labels_tell_whether_signals_are_worth_anything() -> None:
    """By Bayes from the two evidences; before any label it is what it was."""
    model, items = failure_model(suspicion(), signals(), None, SIZE, TRAITS), np.arange(0, SIZE, 2)
    by_risk = failures_of(model, 0)[items]
    mixed = by_risk[np.argsort(uniforms(stream(0, "mixed"), len(items)), kind="stable")]
    assert model.useless(items[:0], by_risk[:0], 0.0, before=0.3) == 0.3
    sound, useless = (model.useless(items, one, model.evidence(items, one), before=0.5) for one in (by_risk, mixed))
    assert sound < 1e-3
    assert useless > 0.9
    odds = np.exp(model.blind().evidence(items, mixed) - model.evidence(items, mixed)) / 4
    assert model.useless(items, mixed, model.evidence(items, mixed), before=0.2) == pytest.approx(odds / (1 + odds))


def test_folds_are_fitted_as_if_alone() -> None:
    model = failure_model(suspicion(), signals(), np.arange(SIZE) % 4, SIZE, TRAITS)
    items = permutation(stream(2, "items"), SIZE)[:60]
    losses = failures_of(model, 2)[items]
    used = np.arange(60) % 3 != np.arange(3)[:, None]
    for row, belief in zip(used, model.fits(items, losses, used), strict=True):
        np.testing.assert_allclose(belief.as_row(), model.fit(items[row], losses[row]).as_row(), atol=1e-7)


def test_failures_where_all_looks_safe_make_hidden_ones_likely() -> None:
    model = failure_model(suspicion(), {}, None, SIZE)
    order = np.argsort(suspicion(), kind="stable")
    safest = np.concatenate([order[:60], order[150:250:2]])
    none, some = np.zeros(110), (np.arange(110) % 20 == 0).astype(np.float64) * (np.arange(110) < 60)
    assert model.fit(safest, none).weights[0] > 0.98
    assert model.fit(safest, some).weights[0] < 0.5


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
    model = loss_model(signals(), uniforms(stream(1, "value"), SIZE), SIZE, TRAITS)
    items = permutation(stream(5, "items"), SIZE)[:50]
    losses = errors_of(5)[items]
    small, large = model.fit(items, losses), model.fit(items, losses * 1000)
    np.testing.assert_allclose(large.coefficients[0, 1:], small.coefficients[0, 1:], atol=2e-9)
    assert large.coefficients[0, 0] - small.coefficients[0, 0] == pytest.approx(np.log(1000), abs=2e-9)


@pytest.mark.parametrize("family", ["bernoulli", "gamma"])
@pytest.mark.parametrize("seed", range(5))
def test_labels_may_come_in_any_order(family: str, seed: int) -> None:
    groups = np.arange(SIZE) % 4
    model = failure_model(suspicion(), signals(), groups, SIZE, TRAITS)
    losses = failures_of(model, seed)
    if family == "gamma":
        model, losses = loss_model(signals(), None, SIZE, TRAITS), errors_of(seed)
    items = permutation(stream(seed, "items"), SIZE)[:100]
    other = items[permutation(stream(seed, "again"), 100)]
    first, second = model.fit(items, losses[items]), model.fit(other, losses[other])
    np.testing.assert_allclose(first.as_row(), second.as_row(), atol=2e-9)


def test_classes_have_effects_from_the_first_label_on_if_they_are_few() -> None:
    few, many = (failure_model(suspicion(), {}, np.arange(SIZE) % count, SIZE) for count in (20, 21))
    first = np.zeros(1, dtype=np.int64)
    effects = few.fit(first, np.ones(1)).coefficients[0, 3:]
    assert effects[0] > 0
    assert not effects[1:].any()
    assert many.fit(first, np.ones(1)).coefficients.shape == (3, 3)


def test_a_class_that_fails_more_is_believed_riskier() -> None:
    groups = np.arange(SIZE) % 2
    model = failure_model(np.full(SIZE, 0.1), {}, groups, SIZE)
    items = np.arange(100, dtype=np.int64)
    belief = model.fit(items, (groups[items] == 1).astype(np.float64))
    calm, risky = model.expected(belief)[:2]
    assert calm < 0.2
    assert risky > 0.8


def test_a_belief_survives_as_a_row() -> None:
    model = failure_model(suspicion(), signals(), np.arange(SIZE) % 4, SIZE, TRAITS)
    for found in (model.prior(), model.fit(np.arange(30), np.arange(30) % 2.0)):
        again = model.belief(found.as_row())
        np.testing.assert_array_equal(again.coefficients, found.coefficients)
        np.testing.assert_array_equal(again.weights, found.weights)


def test_failures_raise_and_successes_lower_the_risk() -> None:
    model = failure_model(suspicion(), signals(), None, SIZE, TRAITS)
    items = permutation(stream(0, "items"), SIZE)[:30]
    prior = model.expected(model.prior(), items).mean()
    assert model.expected(model.fit(items, np.ones(30)), items).mean() > prior
    assert model.expected(model.fit(items, np.zeros(30)), items).mean() < prior


def test_more_doubt_is_more_risk_before_any_label() -> None:
    doubt = np.sort(suspicion())
    model = failure_model(doubt, {}, None, SIZE)
    assert (np.diff(model.expected(model.prior())) >= 0).all()


def test_no_error_at_all_is_believed_small() -> None:
    """A perfect regression has no scale: what is expected vanishes, and nothing overflows."""
    model = loss_model(signals(), None, SIZE, TRAITS)
    items = np.arange(30, dtype=np.int64)
    assert model.expected(model.fit(items, np.zeros(30))).max() < 1e-12


@pytest.mark.parametrize("digits", [0, 2, 17])
def test_normal_scores_are_those_of_mid_ranks(digits: int) -> None:
    from scipy import stats

    values = np.round(np.random.default_rng(5).random(999), digits)
    mid = stats.rankdata(values)
    assert np.array_equal(normal_score(values), special.ndtri((mid - 0.5) / len(values)))
