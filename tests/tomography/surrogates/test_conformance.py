"""What holds for every surrogate of the registry."""

from __future__ import annotations

import numpy as np
import pytest

from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.space import Outcomes
from fieldcheck.tomography.surrogates import registry
from fieldcheck.tomography.surrogates.base import Evidence, FittedSurrogate, Surrogate

from .subjects import Smooth

NAMES = ("auto", "logistic", "gp", "boosting", "closure", "independence", "mlp", "forest")
QUICK = {"mlp": "mlp:units=16,epochs=15", "boosting": "boosting:rounds=60"}
"""Parameters that save time where the default ones show nothing more."""

SUBJECT = Smooth(3, 2, 3)
EVERY = np.arange(SUBJECT.space.size)


def build(name: str) -> Surrogate:
    return registry.build(QUICK.get(name, name))


@pytest.fixture(scope="module", params=NAMES)
def fitted(request: pytest.FixtureRequest) -> FittedSurrogate:
    return build(request.param).fit(SUBJECT.evidence(3000), seed=3)


def test_the_registry_has_them_all() -> None:
    assert set(registry) == set(NAMES)
    for name in NAMES:
        made = registry.build(name)
        assert isinstance(made, Surrogate)
        assert made.name == name
        assert made.title
        assert made.paper


def test_means_and_bands_are_rates(fitted: FittedSurrogate) -> None:
    means, errors = fitted.predict(EVERY)
    assert means.shape == errors.shape == EVERY.shape
    assert np.all((means >= 0) & (means <= 1))
    assert np.all((errors > 0) & (errors <= 1))
    assert fitted.notes


def test_predictions_do_not_depend_on_what_else_is_asked_for(fitted: FittedSurrogate) -> None:
    means, errors = fitted.predict(EVERY)
    some = EVERY[[5, 1, 30]]
    assert fitted.predict(some)[0] == pytest.approx(means[some], abs=1e-6)
    assert fitted.predict(some)[1] == pytest.approx(errors[some], abs=1e-6)


def test_a_region_is_the_weighted_mean_of_its_tests(fitted: FittedSurrogate) -> None:
    means, errors = fitted.predict(EVERY)
    weights = np.random.default_rng(1).dirichlet(np.ones(len(EVERY)))
    mean, error = fitted.region(EVERY, weights)
    assert mean == pytest.approx(float(weights @ means), abs=2e-3)
    assert 0 < error <= errors.max() + 1e-9  # a mean is never less certain than its least certain part
    one, own = fitted.region(EVERY[[7]], np.ones(1))
    assert (one, own) == (pytest.approx(means[7], abs=1e-6), pytest.approx(errors[7], rel=1e-3))


def test_it_learnt_something(fitted: FittedSurrogate) -> None:
    """A constant is off by the spread of the truth, .24; published forest is the worst here with about .1."""
    means, _ = fitted.predict(EVERY)
    assert np.sqrt(np.mean((means - SUBJECT.truth) ** 2)) < 0.6 * SUBJECT.truth.std()


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same(name: str) -> None:
    evidence = SUBJECT.evidence(400)
    first, second = (build(name).fit(evidence, seed=5).predict(EVERY) for _ in range(2))
    assert np.array_equal(first[0], second[0])
    assert np.array_equal(first[1], second[1])


@pytest.mark.parametrize("name", NAMES)
def test_few_and_one_sided_outcomes_are_no_reason_to_fail(name: str) -> None:
    for rows, held in ((1, 1.0), (40, 1.0), (40, 0.0)):
        tests = np.arange(rows) % SUBJECT.space.size
        evidence = Evidence(SUBJECT.space, Outcomes(tests, np.arange(rows), np.full(rows, held)))
        means, errors = build(name).fit(evidence, seed=0).predict(EVERY)
        assert np.all(np.isfinite(means))
        assert np.all(np.isfinite(errors))


@pytest.mark.parametrize("name", NAMES)
def test_two_outcomes_are_no_certainty(name: str) -> None:
    evidence = Evidence(SUBJECT.space, Outcomes(np.array([0, 5]), np.arange(2), np.zeros(2)))
    _, errors = build(name).fit(evidence, seed=0).predict(EVERY)
    assert errors.min() > 0.05


@pytest.mark.parametrize("name", NAMES)
def test_one_perturbation_is_enough(name: str) -> None:
    """With so many levels that ``auto`` tries all of its candidates."""
    subject = Smooth(24)
    means, errors = build(name).fit(subject.evidence(2000), seed=0).predict(np.arange(25))
    assert means.mean() == pytest.approx(subject.truth.mean(), abs=0.05)  # five standard errors of 2,000 outcomes
    assert np.all(errors > 0)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_measured_is_refused(name: str) -> None:
    none = np.zeros(0, dtype=np.int64)
    with pytest.raises(FieldcheckError):
        registry.build(name).fit(Evidence(SUBJECT.space, Outcomes(none, none, np.zeros(0))), seed=0)


@pytest.mark.parametrize(
    "spec", ["logistic:features=0", "gp:length=-1", "boosting:leaves=1", "mlp:units=0", "forest:trees=0"]
)
def test_wrong_parameters_are_refused(spec: str) -> None:
    with pytest.raises(FieldcheckError):
        registry.build(spec)
