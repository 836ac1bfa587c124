"""Autoencoders on scikit-learn's digits: they learn what digits look like."""

from __future__ import annotations

import builtins

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from fieldcheck.accuracy.auxiliary import Sae, Vae
from fieldcheck.accuracy.auxiliary.base import Trace
from fieldcheck.core.errors import InputsError, ModelError

BOTH = [Sae(epochs=30), Vae(epochs=30)]


def seen(inputs):
    return Trace(task="regression", predictions=np.zeros(len(inputs)), inputs=inputs)


@pytest.fixture(scope="module")
def digits():
    """Images to train on, and images that are held out."""
    images = load_digits().images.astype(np.float32)
    order = np.random.default_rng(0).permutation(len(images))
    return images[order[:1_000]], images[order[1_000:1_400]]


@pytest.mark.parametrize("variable", BOTH, ids=lambda one: one.name)
def test_what_is_unlike_the_reference_comes_back_changed(variable, digits) -> None:
    known, held = digits
    fitted = variable.fit(seen(known), seed=1)
    rng = np.random.default_rng(1)
    scrambled = rng.permuted(held.reshape(len(held), -1), axis=1).reshape(held.shape)
    usual, odd = fitted.values(seen(held)), fitted.values(seen(scrambled))
    # Items have unit variance: an autoencoder that learnt nothing gives 1 for both.
    assert usual.mean() < 0.3
    assert np.median(odd) > np.quantile(usual, 0.95)
    assert "trained on 1,000 reference inputs" in fitted.notes[0]


@pytest.mark.parametrize("variable", BOTH, ids=lambda one: one.name)
def test_the_value_is_the_mean_squared_error_of_what_comes_back(variable, digits) -> None:
    fitted = variable.fit(seen(digits[0][:200]), seed=2)
    rows = torch.from_numpy(((digits[1][:5] - digits[0][:200].mean()) / digits[0][:200].std()).reshape(5, 64))
    with torch.inference_mode():
        expected = (fitted.network.rebuilt(rows.double()) - rows).square().mean(dim=1).numpy()
    np.testing.assert_allclose(fitted.values(seen(digits[1][:5])), expected, rtol=1e-5)


def test_it_stops_when_there_is_no_more_to_learn() -> None:
    # Noise: the validation loss has no reason to fall for long.
    noise = np.random.default_rng(3).standard_normal((60, 4))
    assert "1,000 epochs" not in Sae(epochs=1_000).fit(seen(noise), seed=0).notes[0]


def test_seeds_matter_and_the_global_source_is_left_alone(digits) -> None:
    state = torch.random.get_rng_state()
    one, other = (Vae(epochs=2).fit(seen(digits[0][:100]), seed=seed).values(seen(digits[1])) for seed in (1, 2))
    assert not np.array_equal(one, other)
    assert torch.equal(torch.random.get_rng_state(), state)


@pytest.mark.parametrize("inputs", [np.ones((5, 3)), np.zeros((1, 2, 2), np.uint8), np.arange(6.0)[:, None]])
@pytest.mark.parametrize("variable", [Sae(epochs=2), Vae(epochs=2)], ids=lambda one: one.name)
def test_few_or_constant_inputs_give_finite_values(variable, inputs) -> None:
    fitted = variable.fit(seen(inputs), seed=0)
    assert np.isfinite(fitted.values(seen(inputs))).all()
    assert "few to learn from" in fitted.notes[-1]


def test_columns_of_rows_are_scaled_one_by_one() -> None:
    rng = np.random.default_rng(4)
    rows = rng.standard_normal((80, 3)).astype(np.float32)
    units = np.array([1, 1e4, 1e-4], np.float32)
    plain, stretched = (Sae(epochs=3).fit(seen(one), seed=0) for one in (rows, rows * units))
    np.testing.assert_allclose(stretched.values(seen(rows * units)), plain.values(seen(rows)), rtol=1e-3)


def test_texts_and_broken_numbers_are_refused(digits) -> None:
    with pytest.raises(InputsError, match="numbers"):
        Sae().fit(seen(["one", "two"]), seed=0)
    fitted = Sae(epochs=1).fit(seen(digits[0][:50]), seed=0)
    with pytest.raises(InputsError, match="finite"):
        fitted.values(seen(np.full((1, 8, 8), np.nan)))


def test_without_torch_the_extra_is_named(monkeypatch, digits) -> None:
    real = builtins.__import__

    def without(name, *rest, **named):
        if name == "torch":
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ModelError, match=r"fieldcheck\[torch\]"):
        Sae().fit(seen(digits[0]), seed=0)
