"""What holds for every surrogate of the registry."""

from __future__ import annotations

import numpy as np
import pytest

from fieldcheck.core.errors import FieldcheckError
from fieldcheck.testing import check_surrogate
from fieldcheck.tomography.surrogates import registry
from fieldcheck.tomography.surrogates.base import Surrogate

from .subjects import Smooth

NAMES = list(registry)
QUICK = {"mlp": "mlp:units=16,epochs=15", "boosting": "boosting:rounds=60"}
"""Parameters that save time where the default ones show nothing more."""


def build(name: str) -> Surrogate:
    return registry.build(QUICK.get(name, name))


@pytest.mark.parametrize("name", NAMES)
def test_every_surrogate(name: str) -> None:
    check_surrogate(build(name))


@pytest.mark.parametrize("name", NAMES)
def test_one_perturbation_is_enough(name: str) -> None:
    """With so many levels that ``auto`` tries all of its candidates."""
    subject = Smooth(24)
    means, errors = build(name).fit(subject.evidence(2000), seed=0).predict(np.arange(25))
    assert means.mean() == pytest.approx(subject.truth.mean(), abs=0.05)  # five standard errors of 2,000 outcomes
    assert np.all(errors > 0)


@pytest.mark.parametrize(
    "spec", ["logistic:features=0", "gp:length=-1", "boosting:leaves=1", "mlp:units=0", "forest:trees=0"]
)
def test_wrong_parameters_are_refused(spec: str) -> None:
    with pytest.raises(FieldcheckError):
        registry.build(spec)
