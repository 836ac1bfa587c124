"""What every auxiliary variable must do, whoever wrote it."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from fieldcheck.accuracy import auxiliary
from fieldcheck.accuracy.auxiliary.base import Auxiliary, FittedAuxiliary, Trace
from fieldcheck.core.errors import DesignError, InputsError, ModelError

from .traces import part, trace

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
PARTS = {field.name for field in fields(Trace)} - {"task"}
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


@pytest.mark.parametrize("name", NAMES)
def test_it_describes_itself(name) -> None:
    made = auxiliary.registry.build(name)
    assert isinstance(made, Auxiliary)
    assert made.name == name
    assert made.title
    assert made.paper
    assert made.tasks <= {"classification", "regression"}
    assert made.needs | made.needs_reference <= PARTS


@pytest.mark.parametrize("spec", VARIANTS)
def test_finite_and_zero_or_more_in_the_end(fitted, pool, spec) -> None:
    one = fitted[spec]
    assert isinstance(one, FittedAuxiliary)
    values = one.values(pool)
    assert values.shape == (60,)
    assert values.dtype == np.float64
    assert np.isfinite(values).all()
    finished = one.finish(values)
    assert (finished >= 0).all()
    assert (np.argsort(finished, kind="stable") == np.argsort(values, kind="stable")).all()
    assert len(np.unique(values)) > 3


@pytest.mark.parametrize("spec", VARIANTS)
def test_it_does_not_depend_on_batches(fitted, pool, spec) -> None:
    whole = fitted[spec].values(pool)
    allowed = SPLIT.get(spec.partition(":")[0], 0.0) * np.abs(whole).max()
    for size in (1, 7, 59):
        chunks = [np.arange(at, min(at + size, 60)) for at in range(0, 60, size)]
        pieces = [fitted[spec].values(part(pool, chosen)) for chosen in reversed(chunks)]
        assert np.abs(np.concatenate(pieces[::-1]) - whole).max() <= allowed


@pytest.mark.parametrize("spec", VARIANTS)
def test_same_reference_and_seed_give_the_same_bits(fitted, reference, pool, spec) -> None:
    again = auxiliary.registry.build(spec).fit(reference, seed=4)
    np.testing.assert_array_equal(again.values(pool), fitted[spec].values(pool))
    assert again.notes == fitted[spec].notes


@pytest.mark.parametrize("name", NAMES)
def test_it_looks_at_nothing_but_what_it_names(reference, pool, fitted, name) -> None:
    made = auxiliary.registry.build(name)
    lean = Trace(**{k: getattr(reference, k) for k in {"task", "predictions"} | made.needs_reference})
    seen = Trace(**{k: getattr(pool, k) for k in {"task", "predictions"} | made.needs})
    found = made.fit(lean if made.needs_reference else None, seed=4).values(seen)
    np.testing.assert_array_equal(found, fitted[name].values(pool))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_missing_is_named(reference, pool, fitted, name) -> None:
    made = auxiliary.registry.build(name)
    with pytest.raises(DesignError, match="|".join(made.needs | {"inputs"})):
        fitted[name].values(Trace(task=pool.task, predictions=pool.predictions))
    if made.needs_reference:
        with pytest.raises(DesignError, match="reference"):
            made.fit(None, seed=0)


@pytest.mark.parametrize("name", [name for name in NAMES if "regression" in auxiliary.registry[name].tasks])
def test_regression(reference, pool, name) -> None:
    def numeric(one):
        return Trace(
            task="regression",
            predictions=np.linspace(0, 1, len(one)),
            activations=one.activations,
            inputs=one.inputs,
        )

    fitted = auxiliary.registry.build(name).fit(numeric(reference), seed=1)
    values = fitted.finish(fitted.values(numeric(pool)))
    assert np.isfinite(values).all()
    assert (values >= 0).all()


@pytest.mark.parametrize("spec", VARIANTS)
def test_an_empty_batch(fitted, pool, spec) -> None:
    assert fitted[spec].values(part(pool, np.arange(0))).shape == (0,)


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
