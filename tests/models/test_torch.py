"""Torch: layers and their order, modes, types, files of weights."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from fieldcheck.core.errors import ModelError
from fieldcheck.models import open_model

from .networks import Cnn, items, logits, save_script, softmax, trained_cnn, trained_mlp

IMAGES = items().reshape(-1, 1, 8, 8)


def shown(model: object, name: str, batch: np.ndarray) -> np.ndarray:
    return model.respond(batch, layers=[name]).activations[name]  # type: ignore[attr-defined, no-any-return]


def test_layers_come_in_the_order_in_which_they_run_and_a_function_before_the_head_is_seen() -> None:
    model = open_model(trained_cnn(), batch=IMAGES)
    assert model.layers == ("conv", "norm", "act", "fc1", "fc2", "fc2.input")
    assert model.layer == "fc2.input"
    assert any("'fc2.input'" in note for note in model.notes)


def test_work_in_place_does_not_change_the_layer_before_it() -> None:
    model = open_model(trained_cnn(), batch=IMAGES)
    net = trained_cnn()
    with torch.no_grad():
        norm = net.norm(net.conv(torch.from_numpy(IMAGES))).flatten(1)
    np.testing.assert_allclose(shown(model, "norm", IMAGES), norm.numpy(), atol=1e-6)
    np.testing.assert_allclose(shown(model, "act", IMAGES), norm.relu().numpy(), atol=1e-6)


class Twice(nn.Module):
    """One layer that runs twice, one that never does, a second head that runs last, and a dictionary as its answer."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(64, 64), nn.Tanh())
        self.unused = nn.Linear(64, 2)
        self.head = nn.Linear(64, 3)
        self.other = nn.Linear(3, 7)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        answer = self.head(self.inner(self.inner(x)))
        return {"logits": answer, "other": self.other(answer)}


def test_a_layer_that_runs_twice_has_two_names_and_the_head_is_the_one_that_answers() -> None:
    torch.manual_seed(0)
    net = Twice()
    model = open_model(net, batch=items())
    assert model.layers == (
        *("inner.0", "inner.1", "inner", "inner.0#2", "inner.1#2", "inner#2"),
        *("head", "other"),
    )
    assert model.layer == "inner.1#2"
    once = logits(net.inner, items())
    np.testing.assert_allclose(shown(model, "inner.1", items()), once, atol=1e-6)
    twice = logits(net.inner, once.astype(np.float32))
    np.testing.assert_allclose(shown(model, "inner.1#2", items()), twice, atol=1e-6)
    assert any("'logits' is taken" in note for note in model.notes)


def test_training_mode_is_left_and_said() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(64, 16), nn.BatchNorm1d(16), nn.Dropout(), nn.Linear(16, 3)).train()
    model = open_model(net, batch=items())
    assert not net.training
    assert any("training mode" in note for note in model.notes)
    np.testing.assert_allclose(model.respond(items()).outputs, softmax(logits(net, items())), atol=1e-6)


def test_a_linear_model_has_no_hidden_layer() -> None:
    assert open_model(nn.Linear(64, 3), batch=items()).layer == ""
    assert open_model(nn.Sequential(nn.Flatten(), nn.Linear(64, 3)), batch=items()).layer == ""


def test_a_compiled_module_is_run_as_the_one_behind_it() -> None:
    net = trained_mlp("classes")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*torch.jit.* is deprecated", category=DeprecationWarning)
        compiled = torch.compile(net)
    model = open_model(compiled, batch=items())
    assert model.layers == ("0", "1", "2")
    assert any("compiled" in note for note in model.notes)


def test_no_hook_is_left_behind() -> None:
    net = trained_mlp("classes")
    model = open_model(net, batch=items())
    model.respond(items(), layers=model.layers)
    with pytest.raises(ModelError):
        model.respond(items()[:, :5], layers=model.layers)
    assert all(not part._forward_hooks for part in net.modules())


def test_bytes_are_cast_said_and_not_scaled() -> None:
    raw = (items() * 16).astype(np.uint8)
    model = open_model(trained_mlp("classes"), batch=raw)
    assert any("uint8" in note and "not scaled" in note for note in model.notes)
    expected = softmax(logits(trained_mlp("classes"), raw.astype(np.float32)))
    np.testing.assert_allclose(model.respond(raw).outputs, expected, atol=1e-6)


def test_whole_numbers_stay_whole_for_embeddings() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Embedding(20, 4), nn.Flatten(), nn.Linear(8, 3))
    words = np.random.default_rng(0).integers(0, 20, size=(6, 2))
    model = open_model(net, batch=words)
    np.testing.assert_allclose(model.respond(words).outputs, softmax(logits(net, words)), atol=1e-6)
    assert model.layer == "1"


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_other_precisions(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(64, 200), nn.Softmax(dim=1)).to(dtype)
    model = open_model(net, batch=items())
    assert any("outputs are probabilities" in note for note in model.notes)
    with torch.no_grad():
        expected = net(torch.from_numpy(items()).to(dtype)).double().numpy()
    np.testing.assert_allclose(model.respond(items()).outputs, expected, atol=1e-4)


def test_arrays_that_cannot_be_written_to_and_views_are_fine() -> None:
    model = open_model(trained_mlp("classes"), batch=items())
    frozen = items()
    frozen.flags.writeable = False
    expected = model.respond(items()).outputs
    np.testing.assert_array_equal(model.respond(frozen).outputs, expected)
    np.testing.assert_allclose(model.respond(items(80)[::2]).outputs[-5:], model.respond(items(80)).outputs[::2][-5:])


@pytest.mark.parametrize("batch", [IMAGES[:, 0], IMAGES.reshape(-1, 8, 8, 1), np.array(["a", "b"])])
def test_a_wrong_shape_is_said_with_what_is_expected(batch: np.ndarray) -> None:
    with pytest.raises(ModelError) as caught:
        open_model(trained_cnn(), batch=batch)
    assert caught.value.hint
    if batch.dtype.kind == "f":
        assert "Conv2d(1, 4" in caught.value.rule
        assert str(batch.shape[1:])[1:] in caught.value.problem


def test_a_sample_is_needed_to_see_the_layers() -> None:
    with pytest.raises(ModelError, match="sample batch"):
        open_model(trained_cnn(), outputs="logits")


def weights_file(path: Path, net: nn.Module) -> Path:
    state = net.state_dict()
    if path.suffix == ".safetensors":
        save_file(state, path)
    elif path.stem == "checkpoint":
        torch.save({"epoch": 3, "state_dict": {f"module.{name}": value for name, value in state.items()}}, path)
    else:
        torch.save(state, path)
    return path


@pytest.mark.parametrize("name", ["net.safetensors", "net.pt", "checkpoint.ckpt"])
def test_weights_come_with_what_builds_the_network(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = weights_file(tmp_path / name, trained_mlp("classes"))
    (tmp_path / "nets_of_mine.py").write_text(
        "from torch import nn\n"
        "def build(ends=10):\n    return nn.Sequential(nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, ends))\n"
        "def wrong():\n    return build(9)\n"
    )
    monkeypatch.chdir(tmp_path)
    model = open_model(f"nets_of_mine:build@{path}", batch=items(), trust=True)
    expected = softmax(logits(trained_mlp("classes"), items()))
    np.testing.assert_allclose(model.respond(items()).outputs, expected, atol=1e-6)
    with pytest.raises(ModelError, match="do not fit"):
        open_model(f"nets_of_mine:wrong@{path}", batch=items(), trust=True)
    with pytest.raises(ModelError, match="MODULE:NAME@"):
        open_model(path, batch=items())


@pytest.mark.parametrize("name", ["net.pt", "net.safetensors", "net.pt2"])
def test_damaged_files_are_said(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04 this was a model once")
    with pytest.raises(ModelError):
        open_model(tmp_path / name, batch=items(), trust=name.endswith("2"))


def test_torchscript_shows_its_operations(tmp_path: Path) -> None:
    model = open_model(save_script(trained_cnn(), tmp_path / "net.pt"), batch=IMAGES, trust=True)
    assert model.layers == ("conv2d", "relu", "flatten", "linear", "relu#2")
    assert model.layer == "relu#2"


def test_a_scripted_module_in_training_mode_is_set_to_evaluation(tmp_path: Path) -> None:
    net = Cnn().train()
    path = save_script(net, tmp_path / "net.pt")
    net.eval()
    model = open_model(path, batch=IMAGES, trust=True)
    np.testing.assert_allclose(model.respond(IMAGES).outputs, softmax(logits(net, IMAGES)), atol=1e-6)
    assert any("training mode" in note for note in model.notes)


def test_threads_do_not_mix_up_their_layers() -> None:
    from concurrent.futures import ThreadPoolExecutor

    model = open_model(trained_mlp("classes"), batch=items())
    parts = [items()[i : i + 4] for i in range(0, 40, 4)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda part: shown(model, model.layer, part), parts * 4))
    np.testing.assert_allclose(np.concatenate(found[:10]), shown(model, model.layer, items()), atol=1e-6)
    np.testing.assert_allclose(np.concatenate(found[30:]), shown(model, model.layer, items()), atol=1e-6)
