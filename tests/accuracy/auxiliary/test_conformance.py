"""What every auxiliary variable must do, whoever wrote it."""

from __future__ import annotations

import numpy as np
import pytest

from fieldcheck.accuracy import auxiliary
from fieldcheck.accuracy.auxiliary.base import Trace
from fieldcheck.core.errors import DesignError, InputsError, ModelError
from fieldcheck.testing import check_auxiliary
from fieldcheck.testing.traces import trace

NAMES = sorted(auxiliary.registry)
VARIANTS = (
    *NAMES,
    "dsa:from_item=yes",
    "lsa:scope=global",
    "mdsa:scope=global,flat=0.1",
    "knn:k=1",
    "knn_disagreement:k=3",
    "sae:hidden=2,epochs=2",
    "vae:latent=1,hidden=3,epochs=2",
)
SPLIT = {"lsa": 1e-11, "mdsa": 1e-11, "sae": 1e-11, "vae": 1e-11}
"""By how much values may depend on the batch, relative to the largest; the others are the same bit for bit."""


@pytest.fixture(scope="module")
def reference():
    return trace(np.random.default_rng(0), 150, labels=True)


@pytest.fixture(scope="module")
def pool():
    return trace(np.random.default_rng(1), 60, shift=0.5)


@pytest.fixture(scope="module")
def fitted(reference):
    return {spec: auxiliary.registry.build(spec).fit(reference, seed=4) for spec in VARIANTS}


@pytest.mark.parametrize("spec", VARIANTS)
def test_every_variable(spec) -> None:
    check_auxiliary(auxiliary.registry.build(spec), rounding=SPLIT.get(spec.partition(":")[0], 0.0))


Fitted = type(auxiliary.Confidence().fit(None, seed=0))


class FittedNosy(Fitted):
    def values(self, trace):
        found = super().values(trace)
        return found if trace.activations is None else found + np.abs(trace.activations[:, 0])


class Nosy(auxiliary.Confidence):
    """Looks at activations, which it does not name."""

    def fit(self, reference, *, seed):
        return FittedNosy()


class FittedRanking(Fitted):
    def values(self, trace):
        return np.argsort(np.argsort(super().values(trace))).astype(float)


class Ranking(auxiliary.Confidence):
    """Ranks the items of a batch among themselves."""

    def fit(self, reference, *, seed):
        return FittedRanking()


@pytest.mark.parametrize("broken", [Nosy, Ranking])
def test_broken_variables_are_noticed(broken) -> None:
    with pytest.raises(AssertionError):
        check_auxiliary(broken)


@pytest.mark.parametrize("name", ["dsa", "lsa", "mdsa", "knn", "knn_disagreement", "sae", "vae"])
def test_a_pool_of_another_form_is_refused(fitted, pool, name) -> None:
    wider = {"activations": np.zeros((60, 9)), "features": np.zeros((60, 9)), "inputs": np.zeros((60, 9))}
    with pytest.raises((ModelError, InputsError), match="reference"):
        fitted[name].values(Trace(task=pool.task, predictions=pool.predictions, **wider))


@pytest.mark.parametrize(
    "spec", ["knn:k=0", "knn_disagreement:k=0", "lsa:scope=none", "lsa:flat=0", "sae:hidden=0", "vae:latent=0", "dsb"]
)
def test_parameters_are_checked(spec) -> None:
    with pytest.raises(DesignError):
        auxiliary.registry.build(spec)
