"""Scale, layout and type of what the model gets; found out on real models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from fieldcheck.accuracy.predict import predict
from fieldcheck.accuracy.predict.symmetry import symmetry_of
from fieldcheck.core.errors import InputsError, ModelError
from fieldcheck.models import Opening, Preparation, opened
from fieldcheck.sources import open_inputs

GREY = np.random.default_rng(0).integers(0, 256, (6, 8, 10)).astype(np.uint8)
COLOUR = np.random.default_rng(1).integers(0, 256, (6, 8, 10, 3)).astype(np.uint8)


class Shape(torch.nn.Module):
    """Takes images of one shape only; its three outputs follow from a corner of the image."""

    def __init__(self, *shape: int) -> None:
        super().__init__()
        self.shape = shape

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        if tuple(batch.shape[1:]) != self.shape:
            raise RuntimeError(f"expected {self.shape}, got {tuple(batch.shape[1:])}")
        flat = batch.reshape(len(batch), -1)
        return torch.stack([flat[:, 0], flat[:, -1], -flat[:, 0]], dim=1)


def steps_for(images: np.ndarray, *shape: int, **wanted: str) -> object:
    found = opened(Shape(*shape), open_inputs(images), opening=Opening(), preparation=Preparation(**wanted))
    return found.steps


def test_grey_images_get_a_channel_in_front_for_torch() -> None:
    batch = steps_for(GREY, 1, 8, 10)(GREY)
    assert batch.dtype == np.float32
    np.testing.assert_array_equal(batch[:, 0], GREY / np.float32(255))


def test_colour_images_have_channels_first_for_torch() -> None:
    batch = steps_for(COLOUR, 3, 8, 10)(COLOUR)
    np.testing.assert_array_equal(batch, np.moveaxis(COLOUR, -1, 1) / np.float32(255))
    assert batch.flags["C_CONTIGUOUS"]


@pytest.mark.parametrize(
    ("images", "shape", "layout"),
    [(COLOUR, (8, 10, 3), "last"), (GREY, (80,), "flat"), (GREY, (8, 10), "plain"), (GREY, (8, 10, 1), "last")],
)
def test_other_layouts_are_tried(images: np.ndarray, shape: tuple[int, ...], layout: str) -> None:
    assert steps_for(images, *shape).layout == layout
    assert steps_for(images, *shape, layout=layout)(images).shape[1:] == shape


def test_what_was_done_is_said() -> None:
    pool = predict(Shape(1, 8, 10), GREY)
    assert any("divided by 255, channels first" in note for note in pool.notes)
    with pytest.raises(ModelError, match="expected"):
        predict(Shape(5, 5), GREY)
    with pytest.raises(ModelError):
        predict(Shape(1, 8, 10), GREY, prepare=Preparation(layout="last"))


def test_scikit_learn_gets_flat_images() -> None:
    model = LogisticRegression().fit(GREY.reshape(6, -1) / np.float32(255), [0, 1, 2, 0, 1, 2])
    pool = predict(model, GREY)
    np.testing.assert_allclose(
        pool.probabilities, model.predict_proba(GREY.reshape(6, -1) / np.float32(255)), atol=1e-6
    )


def test_scales() -> None:
    def scaled(images: np.ndarray, scale: str) -> np.ndarray:
        return steps_for(images, 1, 8, 10, scale=scale)(images)[:, 0]

    np.testing.assert_array_equal(scaled(GREY, "none"), GREY)
    np.testing.assert_array_equal(scaled(GREY, "0-1"), GREY / np.float32(255))
    np.testing.assert_allclose(scaled(GREY, "0.5,0.25"), (GREY / 255 - 0.5) / 0.25, atol=1e-6)
    floats = GREY.astype(np.float32)
    np.testing.assert_array_equal(scaled(floats, "auto"), floats)


def test_scale_by_channel() -> None:
    mean, std = np.array([0.1, 0.2, 0.3]), np.array([0.5, 0.25, 0.125])
    batch = steps_for(COLOUR, 3, 8, 10, scale="0.1/0.2/0.3,0.5/0.25/0.125")(COLOUR)
    np.testing.assert_allclose(np.moveaxis(batch, 1, -1), (COLOUR / 255 - mean) / std, atol=1e-5)
    with pytest.raises(InputsError, match="channels"):
        steps_for(GREY, 1, 8, 10, scale="0.1/0.2/0.3,1")


@pytest.mark.parametrize("wrong", [{"scale": "half"}, {"scale": "1,0"}, {"layout": "sideways"}, {"dtype": "int3"}])
def test_wrong_words(wrong: dict[str, str]) -> None:
    with pytest.raises(InputsError):
        Preparation(**wrong)  # type: ignore[arg-type]


def test_rows_stay_as_they_are() -> None:
    rows = np.random.default_rng(0).normal(size=(5, 4))
    found = opened(
        lambda batch: np.full((len(batch), 2), 0.5),
        open_inputs(rows),
        opening=Opening(),
        preparation=Preparation(dtype="float32"),
    )
    assert found.steps(rows).dtype == np.float32
    with pytest.raises(InputsError, match="0-1"):
        opened(len, open_inputs(rows), opening=Opening(), preparation=Preparation(scale="0-1"))


def test_flips() -> None:
    inputs = open_inputs(COLOUR)
    np.testing.assert_array_equal(symmetry_of("flip", inputs)(COLOUR), COLOUR[:, :, ::-1])
    np.testing.assert_array_equal(symmetry_of("flop", inputs)(COLOUR), COLOUR[:, ::-1])


def test_torch_and_onnx_give_the_same(tmp_path: Path) -> None:
    """The same weights in both frameworks: the same pool, to rounding."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(192, 3)
    )
    weights = [numpy_helper.from_array(w.detach().numpy(), f"w{at}") for at, w in enumerate(network.parameters())]
    nodes = [
        helper.make_node("Conv", ["x", "w0", "w1"], ["c"]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("Flatten", ["r"], ["f"]),
        helper.make_node("Gemm", ["f", "w2", "w3"], ["y"], transB=1),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 1, 8, 10])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 3])],
        weights,
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), tmp_path / "n.onnx")
    known = open_inputs(np.random.default_rng(2).integers(0, 256, (40, 8, 10)).astype(np.uint8))
    one, two = (
        predict(model, GREY, reference=known, auxiliary=["dsa"], activations=tmp_path / f"{at}.npy")
        for at, model in enumerate((network, tmp_path / "n.onnx"))
    )
    np.testing.assert_allclose(one.probabilities, two.probabilities, atol=1e-5)
    np.testing.assert_allclose(one.columns["dsa"], two.columns["dsa"], rtol=1e-4)
    np.testing.assert_allclose(np.load(tmp_path / "0.npy"), np.load(tmp_path / "1.npy"), atol=1e-5)
