"""Regressions with prior variances by group: against closed forms, numerical derivatives and integration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import multivariate_normal

from fieldcheck.numerics.regression import grouped_linear, grouped_logistic
from fieldcheck.numerics.regression.evidence import WIDE, inverse, updated_variances
from fieldcheck.numerics.regression.grouped_logistic import RegressionRows

RNG = np.random.default_rng(7)


def test_the_inverse_and_its_determinant() -> None:
    root = RNG.normal(size=(5, 5))
    matrix = root @ root.T + np.eye(5)
    found, log_determinant = inverse(matrix)
    assert found @ matrix == pytest.approx(np.eye(5), abs=1e-10)
    assert log_determinant == pytest.approx(np.linalg.slogdet(matrix)[1])
    with pytest.raises(np.linalg.LinAlgError):
        inverse(-matrix)


def test_a_group_that_the_data_determine_has_the_mean_square_of_its_coefficients() -> None:
    groups, mean = np.array([-1, 0, 0]), np.array([9.0, 1.0, 3.0])
    assert updated_variances(groups, mean, np.zeros(3), np.ones(1)) == pytest.approx([(1 + 9) / 2])


def test_linear_evidence_is_the_density_of_the_values() -> None:
    features, noise = RNG.normal(size=(6, 2)), np.full(6, 0.5)
    values = RNG.normal(size=6)
    found = grouped_linear.fit(features, values, noise, np.array([0, -1]), turns=1)
    prior = np.diag([found.variances[0], WIDE])
    density = multivariate_normal(np.zeros(6), features @ prior @ features.T + np.diag(noise))
    assert found.evidence == pytest.approx(density.logpdf(values))


def test_linear_variances_climb_to_the_most_evidence() -> None:
    features = RNG.normal(size=(60, 8))
    values = features @ RNG.normal(size=8) + 0.3 * RNG.normal(size=60)
    groups, noise = np.zeros(8, dtype=np.int64), np.full(60, 0.09)
    best = grouped_linear.fit(features, values, noise, groups, turns=60).variances[0]

    def evidence(variance: float) -> float:
        return float(
            multivariate_normal(np.zeros(60), variance * features @ features.T + np.diag(noise)).logpdf(values)
        )

    assert evidence(best) > max(evidence(best * 1.3), evidence(best / 1.3))


def logistic_rows(*, guess: float = 0.0, guesses: int = 0, units: bool = False) -> RegressionRows:
    """A constant and three more columns; of guesses, none or the last one."""
    features = np.column_stack([np.ones(40), RNG.normal(size=(40, 3))])
    trials = RNG.integers(1, 5, size=40).astype(float)
    held = RNG.binomial(trials.astype(int), guess + (1 - guess) * expit(features @ [0.3, 1.0, -1.0, 0.2])).astype(float)
    members = RNG.integers(0, 6, size=40) if units else None
    return RegressionRows(features, held, trials, np.array([-1, 0, 0, 0]), members, 7 if units else 0, guesses, guess)


@pytest.mark.parametrize(("guess", "guesses"), [(0.0, 0), (0.1, 0), (0.1, 1)])
@pytest.mark.parametrize("units", [False, True])
def test_the_mode_is_where_the_posterior_is_highest(guess: float, guesses: int, units: bool) -> None:
    rows = logistic_rows(guess=guess, guesses=guesses, units=units)
    found = grouped_logistic.fit(rows, turns=200, tolerance=1e-7)
    deviations = np.r_[[WIDE], np.full(3, found.variances[0]), np.full(rows.unit_count, found.variances[-1])]
    own = 4 - guesses

    def loss(both: np.ndarray) -> float:
        logits = rows.features[:, :own] @ both[:own] + (both[4:][rows.units] if rows.units is not None else 0)
        odds = rows.features[:, own:] @ both[own:4]
        lucky = expit(np.log(guess / (1 - guess)) + odds) if guess else 0.0
        chance = lucky + (1 - lucky) * expit(logits)
        fit = rows.held * np.log(chance) + (rows.trials - rows.held) * np.log1p(-chance)
        return float(0.5 * (both**2 / deviations).sum() - fit.sum())

    start = np.r_[found.mean, found.intercepts]
    best = minimize(loss, start, method="BFGS", options={"gtol": 1e-7})
    assert start == pytest.approx(best.x, abs=2e-3)


def test_units_are_the_same_as_columns_of_their_own() -> None:
    rows = logistic_rows(units=True)
    assert rows.units is not None
    own = np.eye(7)[rows.units]
    together = RegressionRows(
        np.column_stack([rows.features, own]), rows.held, rows.trials, np.r_[rows.groups, np.full(7, 1)]
    )
    apart, joined = grouped_logistic.fit(rows), grouped_logistic.fit(together)
    assert apart.mean == pytest.approx(joined.mean[:4], abs=1e-8)
    assert apart.intercepts == pytest.approx(joined.mean[4:], abs=1e-8)
    assert apart.covariance == pytest.approx(joined.covariance[:4, :4], abs=1e-8)
    assert apart.evidence == pytest.approx(joined.evidence, abs=1e-6)


def test_laplace_evidence_is_near_the_integral() -> None:
    held, trials = np.array([60.0]), np.array([100.0])
    found = grouped_logistic.fit(RegressionRows(np.ones((1, 1)), held, trials, np.array([0])), turns=60)
    variance = found.variances[0]

    def joint(logit: float) -> float:
        chance = expit(logit)
        prior = np.exp(-0.5 * logit**2 / variance) / np.sqrt(2 * np.pi * variance)
        return float(chance**60 * (1 - chance) ** 40 * prior)

    integral, _ = quad(joint, -1.5, 2.5, points=[found.mean[0]])
    # The error of Laplace's approximation falls with the trials; with 100 it is some thousandths.
    assert found.evidence == pytest.approx(np.log(integral), abs=0.02)
