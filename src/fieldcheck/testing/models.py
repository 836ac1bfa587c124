"""What every model adapter and every decoder of detectors' outputs must do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from fieldcheck import models
from fieldcheck.models.base import Model, Response
from fieldcheck.models.decoders.base import Decoder
from fieldcheck.testing.require import check_described, check_refused, made_of, require

CLOSE = 1e-5
"""How far an answer may depend on how the items are split into batches, relative to the largest number: some eighty
roundings of a float32, since products of matrices add in another order for another number of rows."""


def check_adapter(adapter: type[models.Adapter], model: object, batch: Any) -> None:
    """Raise AssertionError unless the adapter takes the model, refuses others, and opens what keeps ``check_model``."""
    require(adapter.name, f"{adapter} has no name")
    require(adapter.accepts(model), f"{adapter.name} does not take {model!r}")
    require(adapter.last or not adapter.accepts(object()), f"{adapter.name} takes anything")
    check_model(adapter.open(model, models.ModelRequest(batch=batch, trust=True)), batch)


def check_model(model: Model, batch: Any) -> None:
    """Raise AssertionError unless the model keeps its contract on a batch of five items or more.

    Probabilities or values as the task says, one row per item; the same batch, the same bits; the same for every split
    into batches; layers alone are layers among others; what does not exist is refused; the batch is left as it is.
    """
    before = np.array(batch, copy=True)
    whole = model.respond(batch, layers=model.layers)
    _check_description(model)
    _check_outputs(model, whole, items=len(batch))
    _check_activations(whole, items=len(batch))
    _check_repeats(model, batch, whole)
    _check_splits(model, batch, whole)
    _check_layers(model, batch, whole)
    check_refused(lambda: model.respond(batch, layers=["no such layer"]), f"{model.name}: shows a layer it lacks")
    check_refused(lambda: model.respond(batch[:0]), f"{model.name}: answers an empty batch")
    require(np.array_equal(before, np.array(batch)), f"{model.name}: the batch was changed")


def _check_description(model: Model) -> None:
    require(isinstance(model, Model), f"{model!r} lacks a part of Model")
    require(not model.layer or model.layer in model.layers, f"{model.name}: its layer is none of its layers")
    require(len(set(model.layers)) == len(model.layers), f"{model.name}: two layers of one name")
    require(all(isinstance(note, str) and note for note in model.notes), f"{model.name}: an empty note")


def _check_outputs(model: Model, response: Response, *, items: int) -> None:
    outputs = response.outputs
    require(outputs.dtype == np.float64 and np.isfinite(outputs).all(), f"{model.name}: outputs are finite floats")
    if model.task == "regression":
        require(outputs.shape == (items,) and model.classes == (), f"{model.name}: one value per item, no classes")
        return
    width = len(model.classes) or outputs.shape[1]
    require(outputs.shape == (items, width) and width >= 2, f"{model.name}: one column per class, two or more")
    sums = np.abs(outputs.sum(axis=1) - 1)
    require(outputs.min() >= 0 and sums.max() <= 1e-12, f"{model.name}: rows are probabilities")


def _check_activations(response: Response, *, items: int) -> None:
    for name, shown in response.activations.items():
        require(shown.dtype == np.float32 and shown.ndim == 2 and len(shown) == items, f"{name}: one row per item")


def _check_repeats(model: Model, batch: Any, whole: Response) -> None:
    again = model.respond(batch, layers=model.layers)
    same = np.array_equal(again.outputs, whole.outputs)
    layers = (np.array_equal(again.activations[name], whole.activations[name]) for name in model.layers)
    require(same and all(layers), f"{model.name}: the same batch, another answer")


def _check_splits(model: Model, batch: Any, whole: Response) -> None:
    """Batches of one, of three and of the rest, in any order, say what the whole says."""
    for piece in (slice(0, 1), slice(1, 4), slice(4, None), slice(None, None, -1)):
        found = model.respond(batch[piece], layers=model.layers)
        _check_close(found.outputs, whole.outputs[piece], where=f"{model.name}: outputs")
        for name in model.layers:
            _check_close(found.activations[name], whole.activations[name][piece], where=f"{model.name}: {name}")


def _check_layers(model: Model, batch: Any, whole: Response) -> None:
    """A layer asked for alone is the layer asked for among others, and asking does not change the answer."""
    require(list(whole.activations) == list(model.layers), f"{model.name}: layers in another order")
    plain = model.respond(batch)
    require(plain.activations == {}, f"{model.name}: shows layers that were not asked for")
    _check_close(plain.outputs, whole.outputs, where=f"{model.name}: outputs without layers")
    if model.layer:
        alone = model.respond(batch, layers=cast(Sequence[str], [model.layer])).activations[model.layer]
        _check_close(alone, whole.activations[model.layer], where=f"{model.name}: {model.layer} alone")


def _check_close(found: Any, expected: Any, *, where: str) -> None:
    scale = max(1.0, float(np.abs(expected).max()))
    far = float(np.abs(np.asarray(found, dtype=np.float64) - expected).max())
    require(far <= CLOSE * scale, f"{where} differ by {far:g} from batch to batch")


def check_decoder(decoder: Decoder | type[Decoder], output: Any, *, height: int = 64, width: int = 96) -> None:
    """Raise AssertionError unless boxes come as rows of six, the same every time, and no output of another form passes.

    output
        What a detector that it is for says of an image of this height and width, with one object or more.
    """
    made: Decoder = made_of(decoder)
    check_described(made, Decoder, "title")
    before = np.array(output, copy=True)
    rows = made.boxes(output, height, width)
    require(rows.ndim == 2 and rows.shape[1] == 6 and len(rows), f"{made.name}: {rows.shape} instead of rows of six")
    require((rows[:, :2] <= rows[:, 2:4]).all(), f"{made.name}: a box that ends before it begins")
    require(((rows[:, 4] >= 0) & (rows[:, 4] <= 1)).all(), f"{made.name}: a score outside 0 and 1")
    same = np.array_equal(made.boxes(output, height, width), rows, equal_nan=True)
    require(same and np.array_equal(before, np.array(output)), f"{made.name}: the same output, other boxes")
    check_refused(lambda: made.boxes(np.zeros((2, 3, 5)), height, width), f"{made.name}: takes outputs of any form")
