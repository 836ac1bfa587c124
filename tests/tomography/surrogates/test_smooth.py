"""The two surrogates with a posterior: accuracy, bands, and large spaces."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from fieldcheck.core.space import Outcomes
from fieldcheck.tomography.surrogates import Auto, Gp, Logistic, smooth
from fieldcheck.tomography.surrogates.auto import _shares
from fieldcheck.tomography.surrogates.base import Evidence
from fieldcheck.tomography.surrogates.regression import data
from fieldcheck.tomography.surrogates.regression.data import summed_up
from fieldcheck.tomography.surrogates.regression.mean import MeanOverInputs

from .subjects import Smooth, exact, space

SUBJECT = Smooth(5, 5, 5)
EVERY = np.arange(SUBJECT.space.size)


def test_classes_and_inputs_take_out_noise() -> None:
    """Over four runs the error falls by a third or so; chance alone would turn the order in far less than 1 of 100."""
    errors = {True: 0.0, False: 0.0}
    for seed in range(4):
        for classes in errors:
            evidence = SUBJECT.evidence(2000, seed=seed, classes=classes)
            if not classes:  # every row on an input of its own: nothing to tell inputs apart by
                outcomes = evidence.outcomes
                evidence = Evidence(SUBJECT.space, Outcomes(outcomes.tests, np.arange(2000), outcomes.held))
            means, _ = Logistic(features=60, length=6).fit(evidence, seed=seed).predict(EVERY)
            errors[classes] += float(np.mean((means - SUBJECT.truth) ** 2))
    assert errors[True] < errors[False]


@pytest.mark.parametrize("surrogate", [Logistic(features=40, length=6), Gp(features=60, length=4)])
def test_bands_of_regions_hold(surrogate: Logistic | Gp) -> None:
    """20 runs, three regions each; a true coverage of .95 fails this with a chance under 1e-6, one of .4 passes rarely.

    Regions of one run are correlated: as if there were only one per run.
    """
    regions = [EVERY, EVERY[SUBJECT.space.severities(EVERY)[:, 0] >= 3], EVERY[:20]]
    covered = 0.0
    for seed in range(20):
        fitted = surrogate.fit(SUBJECT.evidence(600, seed=seed), seed=seed)
        for tests in regions:
            mean, error = fitted.region(tests, np.full(len(tests), 1 / len(tests)))
            covered += abs(mean - SUBJECT.truth[tests].mean()) <= 1.96 * error
    assert covered / len(regions) >= binom.ppf(1e-6, 20, 0.95)


def test_a_cliff_on_one_axis_is_followed() -> None:
    where = space(5, 5, 2)
    severities = where.severities(np.arange(where.size))
    truth = np.where(severities[:, 0] >= 3, 0.2, 0.9)
    fitted = Logistic().fit(exact(where, truth, np.arange(where.size), inputs=40), seed=0)
    means, _ = fitted.predict(np.arange(where.size))
    assert np.abs(means - truth).max() < 0.12  # a smooth function of length 6 alone is off by .3 beside the cliff


def test_a_floor_is_kept() -> None:
    where = space(5, 5)
    truth = np.where(where.severities(np.arange(36)).sum(axis=1) > 4, 0.25, 0.95)
    fitted = Logistic().fit(exact(where, truth, np.arange(36), inputs=100, guess=0.25), seed=0)
    assert fitted.predict(np.arange(36))[0].min() >= 0.25


DEEP_SUBJECT = Smooth(3, 3, 3, 3, 3)


def guessing(rows: int, *, seed: int = 0) -> Evidence:
    """Five perturbations; four of five inputs of the first class are named right when they are not recognised."""
    evidence = DEEP_SUBJECT.evidence(rows, seed=seed)
    named = np.random.default_rng(seed).random(rows) < 0.8
    lucky = named & (DEEP_SUBJECT.classes[evidence.outcomes.inputs] == 0)
    held = np.where(lucky, 1.0, evidence.outcomes.held)
    return replace(evidence, outcomes=replace(evidence.outcomes, held=held), guess=0.5)


@pytest.mark.parametrize("evidence", [SUBJECT.evidence(1500), guessing(1500)], ids=["plain", "guessing"])
@pytest.mark.parametrize("surrogate", [Logistic(features=60, length=6), Gp(features=60, length=4)])
def test_large_spaces_are_predicted_everywhere(
    monkeypatch: pytest.MonkeyPatch, surrogate: Logistic | Gp, evidence: Evidence
) -> None:
    """The grid in single precision and the table of bands, against test by test."""
    every = np.arange(evidence.space.size)
    means, errors = surrogate.fit(evidence, seed=0).predict(every)
    monkeypatch.setattr(smooth, "EXACT", 100)
    fast_means, fast_errors = surrogate.fit(evidence, seed=0).predict(every)
    assert fast_means == pytest.approx(means, abs=2e-6)
    # The table is a fit: what it says must be near in nearly all tests.
    assert np.quantile(np.abs(np.log(fast_errors / errors)), 0.9) < 0.35


def test_guesses_are_told_from_recognition() -> None:
    """Where nothing is recognised, robustness is .4: four fifths of one half of the inputs are guessed."""
    first, second = (DEEP_SUBJECT.chances[:, DEEP_SUBJECT.classes == code].mean(axis=1) for code in (0, 1))
    truth = (first + 0.8 * (1 - first) + second) / 2
    fitted = Logistic(features=60, length=6).fit(guessing(4000), seed=0)
    means, _ = fitted.predict(np.arange(len(truth)))
    assert np.abs(means - truth).mean() < 0.03  # the truth itself has a spread of .07
    assert abs(np.mean(means - truth)) < 0.015  # twice the standard error of 4,000 outcomes


def test_gradients_are_those_of_the_mean() -> None:
    predictor = Logistic(features=20, length=6).fit(guessing(1500), seed=0).predictor
    assert isinstance(predictor, MeanOverInputs)
    tests = np.arange(0, DEEP_SUBJECT.space.size, 200)
    found = predictor.gradients(tests)
    step = 1e-5
    for at in range(found.shape[1]):
        moved = [predictor.coefficients + sign * step * (np.arange(found.shape[1]) == at) for sign in (1, -1)]
        up, down = (replace(predictor, coefficients=one).means(tests) for one in moved)
        assert found[:, at] == pytest.approx((up - down) / (2 * step), abs=1e-7)


def test_a_region_of_many_tests_is_thinned_evenly() -> None:
    weights = np.zeros(10_000)
    weights[2000:6000] = 1 / 4000
    at = smooth.thinned(weights, 100)
    assert len(at.places) == 100
    assert np.all((at.places >= 2000) & (at.places < 6000))
    assert np.diff(at.places).max() <= 41
    assert at.weights.sum() == pytest.approx(1)


def test_millions_of_tests() -> None:
    where = space(*[5] * 8)
    rng = np.random.default_rng(0)
    tests = rng.integers(0, where.size, 3000)
    held = (rng.random(3000) < 0.95 - 0.1 * where.orders(tests)).astype(float)
    fitted = Logistic(features=80, length=9).fit(Evidence(where, Outcomes(tests, np.arange(3000), held)), seed=0)
    every = np.arange(where.size)
    means, errors = fitted.predict(every)
    assert fitted.region(every, np.full(where.size, 1 / where.size))[0] == pytest.approx(means.mean(), abs=1e-5)
    assert means.mean() == pytest.approx(held.mean(), abs=5 * 0.5 / np.sqrt(3000))  # five standard errors at most
    assert errors.shape == means.shape


def test_intercepts_summed_up_have_thin_ends() -> None:
    values, weights = summed_up(np.arange(16.0)[::-1], 4)
    # A quarter turn is cut into four: (1 - cos 45°) / 2 of 16 is 2.3, and a half is 8.
    assert values.tolist() == [0.5, 4.5, 10.5, 14.5]
    assert weights.tolist() == [2 / 16, 6 / 16, 6 / 16, 2 / 16]
    few, shares = summed_up(np.array([3.0, 1.0]), 6)
    assert (few.tolist(), shares.tolist()) == ([1.0, 3.0], [0.5, 0.5])


def test_a_few_inputs_that_fail_have_their_part_in_the_bands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most inputs never fail, one in fifty at half of the tests: bands as if each had a slice of its own."""
    where = space(5, 5, 5)
    rng = np.random.default_rng(0)
    inputs, tests = rng.integers(0, 200, 4000), rng.integers(0, where.size, 4000)
    fails = (inputs % 50 == 0) & (where.severities(tests).sum(axis=1) > 7)
    evidence = Evidence(where, Outcomes(tests, inputs, 1.0 - fails))
    among = np.arange(0, where.size, 7)
    found = Logistic(features=60, length=6).fit(evidence, seed=0).predict(among)[1]
    monkeypatch.setattr(data, "summed_up", lambda values, _: (values, np.full(len(values), 1 / len(values))))
    wanted = Logistic(features=60, length=6).fit(evidence, seed=0).predict(among)[1]
    assert np.median(found / wanted) == pytest.approx(1, abs=0.2)  # with slices of equal size .1


def test_inputs_that_always_pass_or_never_do_stay_apart() -> None:
    """A tenth of the inputs fail in every test, the others pass in every test, each seen five times or so."""
    where = space(5, 5, 5)
    rng = np.random.default_rng(0)
    inputs, tests = rng.integers(0, 200, 1000), rng.integers(0, where.size, 1000)
    evidence = Evidence(where, Outcomes(tests, inputs, (inputs % 10 > 0).astype(float)))
    means, _ = Logistic(features=60, length=6).fit(evidence, seed=0).predict(np.arange(where.size))
    assert np.abs(means - 0.9).max() < 0.02  # with the uncertainty of each input added: .04


def test_auto_keeps_the_first_unless_another_is_clearly_ahead() -> None:
    first = np.zeros(100)
    noisy = np.tile([1.0, -0.9], 50)  # ahead by 5 in sum, with a standard error of 9.5
    clear = np.full(100, 0.2)
    assert _shares(np.array([first, noisy])).tolist() == [1.0, 0.0]
    assert _shares(np.array([first, clear])).tolist() == [0.0, 1.0]


def test_auto_follows_a_corner() -> None:
    """Robust but where all three are severe: neither a long length scale nor pairs show that."""
    where = space(5, 5, 5)
    tests = np.arange(where.size)
    truth = np.where((where.severities(tests) > 2).all(axis=1), 0.02, 0.98)
    rng = np.random.default_rng(0)
    rows = np.repeat(tests, 40)
    held = (rng.random(len(rows)) < truth[rows]).astype(float)
    fitted = Auto().fit(Evidence(where, Outcomes(rows, np.tile(np.arange(40), where.size), held)), seed=0)
    assert np.sqrt(np.mean((fitted.predict(tests)[0] - truth) ** 2)) < 0.05  # the truth itself has a spread of .32
