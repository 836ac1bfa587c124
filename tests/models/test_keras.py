"""Keras: layers of functional models, files, shapes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

from fieldcheck.core.errors import ModelError
from fieldcheck.models import open_model

from .networks import items


def twice() -> Any:
    """One layer that is used twice."""
    entry = keras.Input((64,))
    shared = keras.layers.Dense(64, activation="tanh", name="shared")
    return keras.Model(entry, keras.layers.Dense(3, name="head")(shared(shared(entry))))


class Own(keras.Model):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.head = keras.layers.Dense(3)

    def call(self, x: Any) -> Any:
        return self.head(x)


def test_a_layer_that_is_used_twice_has_two_names() -> None:
    net = twice()
    model = open_model(net, batch=items())
    assert model.layers == ("shared", "shared#2")
    assert model.layer == "shared#2"
    weights, bias = (one.value.detach().numpy() for one in net.get_layer("shared").weights)
    once = np.tanh(items() @ weights + bias)
    found = model.respond(items(), layers=model.layers).activations
    np.testing.assert_allclose(found["shared"], once, atol=1e-5)
    np.testing.assert_allclose(found["shared#2"], np.tanh(once @ weights + bias), atol=1e-5)


def test_a_model_with_code_of_its_own_shows_no_layers_and_says_so() -> None:
    net = Own()
    model = open_model(net, batch=items())
    assert (model.layers, model.layer) == ((), "")
    assert any("no layers" in note for note in model.notes)


def test_a_wrong_shape_is_said_with_what_is_expected() -> None:
    with pytest.raises(ModelError, match=r"\(None, 64\)"):
        open_model(twice(), batch=items()[:, :7])


def test_several_inputs_are_refused() -> None:
    one, other = keras.Input((64,), name="one"), keras.Input((64,), name="other")
    with pytest.raises(ModelError, match="2 inputs"):
        open_model(keras.Model([one, other], keras.layers.add([one, other])), batch=items())


def test_a_damaged_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "net.keras").write_bytes(b"PK once a model")
    with pytest.raises(ModelError):
        open_model(tmp_path / "net.keras", batch=items())


def test_bytes_are_cast_and_said() -> None:
    model = open_model(twice(), batch=(items() * 16).astype(np.uint8))
    assert any("uint8" in note for note in model.notes)
