"""From whatever the user has to the adapter for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fieldcheck.core.errors import ModelError
from fieldcheck.models import CallableModel, open_model, registry

from .networks import items

LIGHT = """
import sys
from fieldcheck.models import open_model, registry
open_model(lambda x: x, batch=__import__("numpy").eye(3))
list(registry)
assert not {"torch", "onnx", "onnxruntime", "keras", "transformers", "sklearn"} & set(sys.modules)
"""


def halves(batch: np.ndarray) -> np.ndarray:
    return np.full((len(batch), 2), 0.5)


def test_no_framework_is_imported_before_it_is_needed() -> None:
    subprocess.run([sys.executable, "-c", LIGHT], check=True)


@pytest.mark.parametrize("thing", [3, "nothing.onnx", object(), {"a": 1}, [1, 2]])
def test_what_is_no_model_is_refused_with_what_is_possible(thing: object) -> None:
    with pytest.raises(ModelError, match="onnx"):
        open_model(thing, batch=items())


def test_a_file_of_an_unknown_kind_is_refused_with_what_is_possible(tmp_path: Path) -> None:
    (tmp_path / "model.xyz").write_text("?")
    with pytest.raises(ModelError, match="TorchScript"):
        open_model(tmp_path / "model.xyz", batch=items())


def test_an_unknown_adapter_is_refused_with_those_that_exist() -> None:
    with pytest.raises(ModelError, match="transformers"):
        open_model(halves, adapter="tensorflow", batch=items())


def test_an_adapter_for_another_kind_of_object_is_refused() -> None:
    with pytest.raises(ModelError, match="does not take function"):
        open_model(halves, adapter="sklearn", batch=items())


def test_a_folder_where_a_file_should_be_is_said(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        open_model(tmp_path, adapter="torch", batch=items())


def test_an_adapter_of_another_package_is_asked_before_plain_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    class Mine(CallableModel):
        name = "mine"
        last = False

        @classmethod
        def accepts(cls, model: object) -> bool:
            return model is halves

    monkeypatch.setitem(registry._entries, "mine", Mine)
    assert open_model(halves, batch=items()).name == "mine"
    assert open_model(lambda x: x[:, :3], batch=items()).name == "callable"


def test_a_name_is_imported_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_models_here.py").write_text("class A:\n    f = staticmethod(lambda x: x[:, :3])\n")
    monkeypatch.chdir(tmp_path)
    before = list(sys.path)
    model = open_model("my_models_here:A.f", batch=items(), trust=True)
    assert model.name == "callable"
    assert sys.path == before
    with pytest.raises(ModelError, match="has no"):
        open_model("my_models_here:B", batch=items(), trust=True)
    with pytest.raises(ModelError, match="current folder"):
        open_model("my_models_elsewhere:B", batch=items(), trust=True)


def test_a_function_without_a_sample_needs_to_be_told_what_it_gives() -> None:
    with pytest.raises(ModelError, match="sample batch"):
        open_model(halves)
    model = open_model(halves, outputs="probabilities")
    np.testing.assert_array_equal(model.respond(items(3)).outputs, np.full((3, 2), 0.5))


def test_a_model_that_answers_differently_each_time_is_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ModelError, match="each time"):
        open_model(lambda x: rng.random((len(x), 3)), batch=items())


def test_an_answer_that_depends_on_the_batch_is_said() -> None:
    model = open_model(lambda x: x[:, 2:5] - x[:, 2:5].mean(axis=0), batch=items())
    assert any("depends on the others" in note for note in model.notes)


def test_an_error_inside_the_model_is_said_with_the_batch() -> None:
    def broken(batch: np.ndarray) -> np.ndarray:
        raise RuntimeError("out of cheese")

    with pytest.raises(ModelError, match=r"\(40, 64\) float32: out of cheese") as caught:
        open_model(broken, batch=items())
    assert isinstance(caught.value.__cause__, RuntimeError)


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        (lambda x: (x[:, :3], x), "the first is taken"),
        (lambda x: {"logits": x[:, :3], "loss": 1.0}, "'logits' is taken"),
    ],
)
def test_what_is_left_out_is_said(answer: object, note: str) -> None:
    model = open_model(answer, batch=items())
    assert any(note in one for one in model.notes)
    assert model.respond(items()).outputs.shape == (40, 3)


def test_a_dictionary_without_a_known_key_is_refused() -> None:
    with pytest.raises(ModelError, match="keys a, b"):
        open_model(lambda x: {"a": x, "b": x}, batch=items())


def test_the_layer_asked_for_is_the_layer() -> None:
    def two(batch: np.ndarray) -> object:
        return batch[:, :3], {"low": batch, "high": batch[:, :2]}

    assert open_model(two, batch=items()).layer == "high"
    assert open_model(two, batch=items(), layer="auto").layer == "high"
    assert open_model(two, batch=items(), layer="low").layer == "low"
    with pytest.raises(ModelError, match="low, high"):
        open_model(two, batch=items(), layer="lo")


def test_predicted_classes_that_nobody_named_are_refused_later() -> None:
    model = open_model("none", batch=np.array(["a", "b", "a"]))
    assert model.classes == ("a", "b")
    with pytest.raises(ModelError, match="'c' at position 1"):
        model.respond(np.array(["a", "c"]))


def test_predictions_only_refuse_a_model() -> None:
    with pytest.raises(ModelError, match="no model"):
        open_model(halves, adapter="predictions", batch=items())


def test_names_of_classes_must_fit_the_columns() -> None:
    with pytest.raises(ModelError, match="3 classes"):
        open_model(["a", "b", "c"], adapter="predictions", batch=np.full((4, 2), 0.5))
