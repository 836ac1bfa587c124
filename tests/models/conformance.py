"""What every model adapter must do, whoever wrote it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fieldcheck.core.errors import ModelError
from fieldcheck.models import registry
from fieldcheck.models.base import Model, Response

CLOSE = 1e-6
"""How far an answer may depend on how the items are split into batches, relative to the largest number."""


def check_model(model: Model, batch: Any) -> None:
    """Raise AssertionError unless the model keeps its contract on a batch of five items or more."""
    before = np.array(batch, copy=True)
    whole = model.respond(batch, layers=model.layers)
    check_description(model)
    check_form(model, whole, items=len(batch))
    check_repeats(model, batch, whole)
    check_splits(model, batch, whole)
    check_layers(model, batch, whole)
    check_refusals(model, batch)
    assert np.array_equal(before, np.array(batch)), "the batch was changed"


def check_description(model: Model) -> None:
    assert isinstance(model, Model)
    assert model.name in set(registry)
    assert not model.layer or model.layer in model.layers
    assert len(set(model.layers)) == len(model.layers)
    assert all(isinstance(note, str) and note for note in model.notes)


def check_form(model: Model, response: Response, *, items: int) -> None:
    """Arrays have one row per item, and mean what the task says."""
    outputs = response.outputs
    assert outputs.dtype == np.float64
    assert np.isfinite(outputs).all()
    if model.task == "regression":
        assert outputs.shape == (items,)
        assert model.classes == ()
    else:
        assert outputs.shape == (items, len(model.classes) or outputs.shape[1])
        assert outputs.shape[1] >= 2
        assert outputs.min() >= 0
        np.testing.assert_allclose(outputs.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    for name, activations in response.activations.items():
        assert activations.dtype == np.float32, name
        assert activations.ndim == 2, name
        assert len(activations) == items, name


def check_repeats(model: Model, batch: Any, whole: Response) -> None:
    """The same batch, the same bits."""
    again = model.respond(batch, layers=model.layers)
    assert np.array_equal(again.outputs, whole.outputs)
    assert all(np.array_equal(again.activations[name], whole.activations[name]) for name in model.layers)


def check_splits(model: Model, batch: Any, whole: Response) -> None:
    """Batches of one, of three and of the rest, in any order, say what the whole says."""
    for part in (slice(0, 1), slice(1, 4), slice(4, None), slice(None, None, -1)):
        found = model.respond(batch[part], layers=model.layers)
        _check_close(found.outputs, whole.outputs[part], where="outputs")
        for name in model.layers:
            _check_close(found.activations[name], whole.activations[name][part], where=name)


def check_layers(model: Model, batch: Any, whole: Response) -> None:
    """A layer asked for alone is the layer asked for among others, and asking does not change the answer."""
    assert list(whole.activations) == list(model.layers)
    plain = model.respond(batch)
    assert plain.activations == {}
    _check_close(plain.outputs, whole.outputs, where="outputs")
    if model.layer:
        alone = model.respond(batch, layers=[model.layer]).activations[model.layer]
        _check_close(alone, whole.activations[model.layer], where=model.layer)


def check_refusals(model: Model, batch: Any) -> None:
    with pytest.raises(ModelError):
        model.respond(batch, layers=["no such layer"])
    with pytest.raises(ModelError):
        model.respond(batch[:0])


def _check_close(found: Any, expected: Any, *, where: str) -> None:
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(found, expected, rtol=0, atol=CLOSE * scale, err_msg=where)
