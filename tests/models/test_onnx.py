"""ONNX: the graph's own shapes, outputs and layers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from fieldcheck.core.errors import ModelError
from fieldcheck.models import open_model

from .networks import items, save_onnx, softmax, trained_cnn

RNG = np.random.default_rng(0)
IMAGES = items().reshape(-1, 1, 8, 8)
FIRST, SECOND = (RNG.normal(size=shape).astype(np.float32) for shape in ((64, 8), (8, 3)))


def graph(nodes: list[Any], outputs: dict[str, int], *, inputs: tuple[str, ...] = ("x",), kind: int = 1) -> Any:
    """A model over weights ``w`` and ``v``; outputs by name with their type."""
    made = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, kind, ["n", 64]) for name in inputs],
        [helper.make_tensor_value_info(name, one, None) for name, one in outputs.items()],
        [numpy_helper.from_array(FIRST, "w"), numpy_helper.from_array(SECOND, "v")],
    )
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(made, opset_imports=domains, ir_version=9)


BODY = [
    helper.make_node("MatMul", ["x", "w"], ["a"]),
    helper.make_node("Tanh", ["a"], ["b"]),
    helper.make_node("MatMul", ["b", "v"], ["scores"]),
]
SCORES = (np.tanh(items() @ FIRST) @ SECOND).astype(np.float64)


def test_torch_and_its_export_say_the_same(tmp_path: Path) -> None:
    one = open_model(trained_cnn(), batch=IMAGES)
    other = open_model(save_onnx(trained_cnn(), tmp_path / "net.onnx", example=IMAGES), batch=IMAGES)
    first, second = one.respond(IMAGES, layers=[one.layer]), other.respond(IMAGES, layers=[other.layer])
    np.testing.assert_allclose(first.outputs, second.outputs, rtol=0, atol=1e-5)
    np.testing.assert_allclose(first.activations[one.layer], second.activations[other.layer], rtol=0, atol=1e-5)


def test_a_model_object_is_accepted_and_the_last_product_with_weights_has_the_hidden_layer() -> None:
    attention = [*BODY[:2], helper.make_node("MatMul", ["b", "v"], ["c"])]
    square = [helper.make_node("Transpose", ["c"], ["t"]), helper.make_node("MatMul", ["t", "c"], ["u"])]
    last = [helper.make_node("MatMul", ["c", "u"], ["scores"])]
    model = open_model(graph([*attention, *square, *last], {"scores": 1}), batch=items(3))
    assert model.layer == "b"


def test_a_label_beside_the_scores_is_left_out_and_said() -> None:
    label = helper.make_node("ArgMax", ["scores"], ["label"], axis=1, keepdims=0)
    model = open_model(graph([*BODY, label], {"label": TensorProto.INT64, "scores": 1}), batch=items())
    np.testing.assert_allclose(model.respond(items()).outputs, softmax(SCORES), atol=1e-6)
    assert any("'scores' is taken, not label" in note for note in model.notes)


def test_a_dictionary_of_classes_gives_their_names() -> None:
    nodes = [
        *BODY,
        helper.make_node("Softmax", ["scores"], ["p"], axis=1),
        helper.make_node("ZipMap", ["p"], ["z"], domain="ai.onnx.ml", classlabels_strings=["cat", "dog", "emu"]),
    ]
    made = graph(nodes, {"z": 1})
    made.graph.output[0].type.CopyFrom(
        helper.make_sequence_type_proto(
            helper.make_map_type_proto(TensorProto.STRING, helper.make_tensor_type_proto(1, []))
        )
    )
    model = open_model(made, batch=items())
    assert model.classes == ("cat", "dog", "emu")
    np.testing.assert_allclose(model.respond(items()).outputs, softmax(SCORES), atol=1e-6)


def test_a_linear_model_has_no_hidden_layer() -> None:
    assert open_model(graph([helper.make_node("MatMul", ["x", "w"], ["y"])], {"y": 1}), batch=items()).layer == ""


def test_half_precision_goes_in_and_out() -> None:
    nodes = [
        helper.make_node("Cast", ["x"], ["f"], to=1),
        helper.make_node("MatMul", ["f", "w"], ["a"]),
        helper.make_node("Softmax", ["a"], ["p"], axis=1),
        helper.make_node("Cast", ["p"], ["y"], to=TensorProto.FLOAT16),
    ]
    made = graph(nodes, {"y": TensorProto.FLOAT16}, kind=TensorProto.FLOAT16)
    model = open_model(made, batch=items())
    assert any("cast to float16" in note for note in model.notes)
    expected = softmax((items().astype(np.float16).astype(np.float64)) @ FIRST)
    np.testing.assert_allclose(model.respond(items()).outputs, expected, atol=2e-3)


def test_several_inputs_are_refused_by_name() -> None:
    made = graph([helper.make_node("Add", ["x", "mask"], ["y"])], {"y": 1}, inputs=("x", "mask"))
    with pytest.raises(ModelError, match="x, mask"):
        open_model(made, batch=items())


@pytest.mark.parametrize("batch", [items()[:, :9], IMAGES, items()[0]])
def test_a_wrong_shape_is_said_with_what_is_expected(batch: np.ndarray) -> None:
    with pytest.raises(ModelError, match=r"expects shape \(n, 64\) float32"):
        open_model(graph(BODY, {"scores": 1}), batch=batch)


@pytest.mark.parametrize("content", [b"", b"no graph at all", b"\x08\x09"])
def test_damaged_files_are_said(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "net.onnx").write_bytes(content)
    with pytest.raises(ModelError):
        open_model(tmp_path / "net.onnx", batch=items())


def test_an_operator_nobody_knows_is_said() -> None:
    with pytest.raises(ModelError, match="ONNX Runtime"):
        open_model(graph([helper.make_node("Teleport", ["x"], ["y"])], {"y": 1}), batch=items())


def test_the_graph_in_memory_is_not_changed() -> None:
    made = graph(BODY, {"scores": 1})
    before = made.SerializeToString()
    model = open_model(made, batch=items())
    model.respond(items(), layers=model.layers)
    assert made.SerializeToString() == before


def test_a_graph_that_needs_a_sample_can_do_without_when_told() -> None:
    model = open_model(graph(BODY, {"scores": 1}), outputs="logits")
    assert model.layers == ("a", "b")
    np.testing.assert_allclose(model.respond(items()).outputs, softmax(SCORES), atol=1e-6)
