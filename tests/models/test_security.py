"""Nothing that comes with a model is run unless the user trusts it. The hostile files would leave a mark."""

from __future__ import annotations

import json
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
import torch
from onnx import TensorProto, helper

from fieldcheck.core.errors import ModelError
from fieldcheck.models import keras as keras_adapter
from fieldcheck.models import open_model

from . import networks, texts
from .networks import items, save_script, trained_mlp


class Hostile:
    """Makes a folder when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.mark),)


def pickled(path: Path, thing: object) -> None:
    path.write_bytes(pickle.dumps(thing))


def exported(path: Path, thing: object) -> None:
    """An exported program whose sample inputs are hostile."""
    good = path.with_name("good.pt2")
    torch.export.save(torch.export.export(trained_mlp("classes"), (torch.zeros(2, 64),)), good)
    bad = path.with_name("bad.bin")
    torch.save(thing, bad)
    _replace_member(good, path, ending="sample_inputs/model.pt", content=bad.read_bytes())


def _replace_member(source: Path, target: Path, *, ending: str, content: bytes) -> None:
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as new:
        for name in old.namelist():
            new.writestr(name, content if name.endswith(ending) else old.read(name))


WRITERS: dict[str, Callable[[Path, object], Any]] = {
    "model.pkl": pickled,
    "model.pickle": pickled,
    "model.joblib": lambda path, thing: joblib.dump(thing, path),
    "model.pt": lambda path, thing: torch.save(thing, path),
    "model.pth": lambda path, thing: torch.save({"weights": thing}, path),
    "old.pt": lambda path, thing: torch.save(thing, path, _use_new_zipfile_serialization=False),
    "model.bin": pickled,
    "model.pt2": exported,
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_hostile_pickle_is_not_run_without_trust(name: str, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    WRITERS[name](tmp_path / name, Hostile(mark))
    with pytest.raises(ModelError) as caught:
        open_model(tmp_path / name, batch=items())
    assert not mark.exists()
    assert "trust" in caught.value.rule or "weights" in caught.value.rule
    assert all(word in str(caught.value) for word in ("safetensors", "ONNX", "TorchScript"))


def test_a_hostile_pickle_is_one_that_runs_when_trusted(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    pickled(tmp_path / "model.pkl", Hostile(mark))
    with pytest.raises(ModelError):
        open_model(tmp_path / "model.pkl", batch=items(), trust=True)
    assert mark.exists()


def test_importing_needs_trust(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hostile_module.py").write_text(
        f"import os\nos.mkdir({str(tmp_path / 'mark')!r})\ndef f(x): return x\n"
    )
    torch.save(trained_mlp("classes").state_dict(), tmp_path / "w.pt")
    monkeypatch.chdir(tmp_path)
    for name in ("hostile_module:f", "hostile_module:f@w.pt"):
        with pytest.raises(ModelError, match="trust"):
            open_model(name, batch=items())
    assert not (tmp_path / "mark").exists()


def test_torchscript_that_opens_files_needs_trust(tmp_path: Path) -> None:
    class Writer(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            torch.save(x, "mark")
            return x

    path = save_script(Writer(), tmp_path / "net.pt")
    with pytest.raises(ModelError, match="opens files"):
        open_model(path, batch=items())


def lambda_model(path: Path) -> None:
    """A model with code in it: it makes a folder when it runs, and Keras runs it once while loading."""
    import keras

    mark = str(path.with_name("mark"))
    hostile = keras.layers.Lambda(lambda x: [__import__("os").makedirs(mark, exist_ok=True), x][1])
    networks.save_keras(keras.Sequential([keras.Input((64,)), hostile, keras.layers.Dense(3)]), path)
    Path(mark).rmdir()


def test_a_keras_lambda_is_not_run_without_trust(tmp_path: Path) -> None:
    lambda_model(tmp_path / "net.keras")
    with pytest.raises(ModelError, match="Lambda"):
        open_model(tmp_path / "net.keras", batch=items())
    assert not (tmp_path / "mark").exists()
    open_model(tmp_path / "net.keras", batch=items(), trust=True)
    assert (tmp_path / "mark").exists()


@pytest.mark.parametrize("name", ["net.h5", "net.hdf5"])
def test_the_old_format_of_keras_has_no_safe_mode(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"\x89HDF\r\n")
    with pytest.raises(ModelError, match="HDF5"):
        open_model(tmp_path / name, batch=items())


def test_a_keras_with_known_holes_needs_trust(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "net.keras").write_bytes(b"")
    monkeypatch.setattr(keras_adapter, "SAFE_SINCE", (99, 0))
    with pytest.raises(ModelError, match="crafted"):
        open_model(tmp_path / "net.keras", batch=items())


def test_code_in_a_folder_of_transformers_is_not_run_even_with_trust(tmp_path: Path) -> None:
    folder = texts.saved(texts.bert(), tmp_path / "bert")
    config = json.loads((folder / "config.json").read_text())
    config["auto_map"] = {
        "AutoConfig": "hostile.Config",
        "AutoModelForSequenceClassification": "hostile.HostileForSequenceClassification",
    }
    config["model_type"] = "hostile"
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "hostile.py").write_text(f"import os\nos.mkdir({str(tmp_path / 'mark')!r})\n")
    for trust in (False, True):
        with pytest.raises(ModelError):
            open_model(folder, trust=trust)
    assert not (tmp_path / "mark").exists()


def test_pickled_weights_in_a_folder_of_transformers_are_not_read(tmp_path: Path) -> None:
    folder = texts.saved(texts.bert(), tmp_path / "bert")
    (folder / "model.safetensors").unlink()
    pickled(folder / "pytorch_model.bin", Hostile(tmp_path / "mark"))
    with pytest.raises(ModelError, match="safetensors"):
        open_model(folder)
    assert not (tmp_path / "mark").exists()


def external(location: str) -> Any:
    """A graph whose weights are in another file."""
    weights = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[64, 3], data_location=TensorProto.EXTERNAL)
    weights.external_data.add(key="location", value=location)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 3])],
        [weights],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def test_weights_beside_an_onnx_file_are_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = np.random.default_rng(0).normal(size=(64, 3)).astype(np.float32)
    weights.tofile(tmp_path / "w.data")
    (tmp_path / "net.onnx").write_bytes(external("w.data").SerializeToString())
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    model = open_model(Path("..") / "net.onnx", batch=items())
    expected = networks.softmax((items() @ weights).astype(np.float64))
    np.testing.assert_allclose(model.respond(items()).outputs, expected, atol=1e-6)


@pytest.mark.parametrize("location", ["../w.data", "/etc/passwd", "link.data"])
def test_weights_outside_the_folder_of_an_onnx_file_are_refused(location: str, tmp_path: Path) -> None:
    folder = tmp_path / "inside"
    folder.mkdir()
    np.zeros((64, 3), dtype=np.float32).tofile(tmp_path / "w.data")
    (folder / "link.data").symlink_to(tmp_path / "w.data")
    (folder / "net.onnx").write_bytes(external(location).SerializeToString())
    with pytest.raises(ModelError, match="outside its folder"):
        open_model(folder / "net.onnx", batch=items())


def test_a_missing_file_of_weights_is_named(tmp_path: Path) -> None:
    (tmp_path / "net.onnx").write_bytes(external("w.data").SerializeToString())
    with pytest.raises(ModelError, match=r"w\.data"):
        open_model(tmp_path / "net.onnx", batch=items())


def test_trusted_pickles_are_opened_by_what_is_in_them(tmp_path: Path) -> None:
    from sklearn.linear_model import LinearRegression

    joblib.dump(LinearRegression().fit(items(), items()[:, 5]), tmp_path / "line.joblib")
    assert open_model(tmp_path / "line.joblib", trust=True).name == "sklearn"
    torch.save(trained_mlp("classes"), tmp_path / "net.pt")
    assert open_model(tmp_path / "net.pt", trust=True, batch=items()).name == "torch"
