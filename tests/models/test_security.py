"""Nothing that comes with a model is run unless the user trusts it. The hostile files would leave a mark."""

from __future__ import annotations

import json
import os
import pickle
import re
import sys
import zipfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import joblib
import numpy as np
import pytest
import torch
from onnx import AttributeProto, TensorProto, helper
from sklearn.linear_model import LinearRegression

from fieldcheck.core.errors import ModelError
from fieldcheck.models import detector, is_model_file, open_model, registry
from fieldcheck.models import keras as keras_adapter
from fieldcheck.models.shared.loading import PICKLES
from fieldcheck.models.torch import modules

from . import networks, texts
from .networks import items, save_script, trained_mlp


class Hostile:
    """Makes a folder when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.mark),)


class HostileModule(torch.nn.Linear):
    """A module of torch that makes a folder when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        super().__init__(64, 3)
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.mark),)


class WritesWhenRun(torch.nn.Module):
    def __init__(self, mark: Path) -> None:
        super().__init__()
        self.mark = str(mark)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        torch.save(x, self.mark)
        return x


class WritesWhenLoaded(torch.nn.Module):
    def __init__(self, mark: Path) -> None:
        super().__init__()
        self.mark = str(mark)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x

    @torch.jit.export
    def __getstate__(self) -> tuple[str, bool]:
        return self.mark, self.training

    @torch.jit.export
    def __setstate__(self, state: tuple[str, bool]) -> None:
        self.mark = state[0]
        self.training = state[1]
        torch.save(torch.zeros(1), state[0])


def pickled(path: Path, thing: object) -> Path:
    path.write_bytes(pickle.dumps(thing))
    return path


def saved(path: Path, thing: object, **how: Any) -> Path:
    torch.save(thing, path, **how)
    return path


def dumped(path: Path, thing: object) -> Path:
    joblib.dump(thing, path)
    return path


def exported(path: Path, thing: object) -> Path:
    """An exported program whose sample inputs are hostile."""
    good = path.with_name("good.pt2")
    torch.export.save(torch.export.export(trained_mlp("classes"), (torch.zeros(2, 64),)), good)
    bad = saved(path.with_name("bad.bin"), thing)
    return with_member(good, path, ending="sample_inputs/model.pt", change=lambda _: bad.read_bytes())


def with_member(source: Path, target: Path, *, ending: str, change: Callable[[bytes], bytes]) -> Path:
    """A copy of the archive in which the members whose names end so are changed."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as new:
        for name in old.namelist():
            new.writestr(name, change(old.read(name)) if name.endswith(ending) else old.read(name))
    return target


def script(path: Path, net: torch.nn.Module, *, call: bytes = b"save(") -> Path:
    """TorchScript that writes a file; ``call`` is how its source writes the call."""
    good = save_script(net, path.with_name("good.pt"))
    with zipfile.ZipFile(good) as archive:
        assert any(b"save(" in archive.read(name) for name in archive.namelist())
    return with_member(good, path, ending=".py", change=lambda source: source.replace(b"save(", call))


def lambda_model(path: Path, mark: Path) -> Path:
    """A model with code in it, which Keras runs once while loading."""
    import keras

    place, entry = str(mark), keras.Input((64,))
    hostile = keras.layers.Lambda(lambda x: [__import__("os").makedirs(place, exist_ok=True), x][1])
    networks.save_keras(keras.Model(entry, keras.layers.Dense(3)(hostile(entry))), path)
    mark.rmdir()
    return path


def wrapped_model(path: Path, mark: Path) -> Path:
    """A Keras file with a pickled module of torch in its configuration."""
    import keras

    networks.save_keras(
        keras.Sequential([keras.Input((64,)), keras.layers.TorchModuleWrapper(HostileModule(mark))]), path
    )
    return path


def module_of(folder: Path, mark: Path, *, weights: str = "") -> str:
    """A module in the current folder that acts when it is imported."""
    name = f"hostile_{folder.name}".replace("-", "_")
    (folder / f"{name}.py").write_text(f"import os\nos.mkdir({str(mark)!r})\ndef f(x=0): return x\n")
    torch.save(trained_mlp("classes").state_dict(), folder / "w.pt")
    return f"{name}:f{weights}"


Attack = Callable[[Path, Path], Path | str]

ATTACKS: dict[str, Attack] = {
    "pickle": lambda folder, mark: pickled(folder / "model.pkl", Hostile(mark)),
    "pickle, other name": lambda folder, mark: pickled(folder / "model.pickle", Hostile(mark)),
    "joblib": lambda folder, mark: dumped(folder / "model.joblib", Hostile(mark)),
    "torch pickle": lambda folder, mark: saved(folder / "model.pt", Hostile(mark)),
    "torch module": lambda folder, mark: saved(folder / "model.pth", HostileModule(mark)),
    "state dict": lambda folder, mark: saved(folder / "model.ckpt", {"state_dict": Hostile(mark)}),
    "old torch pickle": lambda folder, mark: saved(
        folder / "old.pt", Hostile(mark), _use_new_zipfile_serialization=False
    ),
    "exported program": lambda folder, mark: exported(folder / "model.pt2", Hostile(mark)),
    "exported program, other name": lambda folder, mark: exported(folder / "model.pt", Hostile(mark)),
    "TorchScript": lambda folder, mark: script(folder / "model.pt", WritesWhenRun(mark)),
    "TorchScript, a blank": lambda folder, mark: script(folder / "model.pt", WritesWhenRun(mark), call=b"save ("),
    "TorchScript, a line break": lambda folder, mark: script(
        folder / "model.ts", WritesWhenRun(mark), call=b"save\\\n("
    ),
    "TorchScript, on loading": lambda folder, mark: script(folder / "model.pt", WritesWhenLoaded(mark), call=b"save ("),
    "Keras, Lambda": lambda folder, mark: lambda_model(folder / "net.keras", mark),
    "Keras, torch module": lambda folder, mark: wrapped_model(folder / "net.keras", mark),
    "HDF5, Lambda": lambda folder, mark: lambda_model(folder / "net.h5", mark),
    "imported function": module_of,
    "imported factory": lambda folder, mark: module_of(folder, mark, weights="@w.pt"),
}
"""By kind of model, what makes one that leaves the mark. One for each row of docs/decisions/trust.md that has code."""


@pytest.mark.parametrize("kind", ATTACKS)
def test_an_attack_leaves_its_mark_with_trust_only(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    mark = tmp_path / "mark"
    model = ATTACKS[kind](tmp_path, mark)
    with pytest.raises(ModelError) as caught:
        open_model(model, batch=items())
    assert not mark.exists()
    assert "trust" in str(caught.value)
    assert caught.value.rule
    assert caught.value.hint
    with suppress(ModelError):
        open_model(model, batch=items(), trust=True)
    assert mark.exists()


def test_no_loader_of_torch_sees_a_file_that_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []
    for place, name in ((torch, "load"), (torch.jit, "load"), (torch.export, "load")):
        monkeypatch.setattr(place, name, lambda *_, **__: called.append("loaded"))
    saved_before = [save_script(trained_mlp("classes"), tmp_path / "net.pt")]
    (tmp_path / "net.pt2").write_bytes(b"")
    (tmp_path / "net.bin").write_bytes(b"")
    for path in (*saved_before, tmp_path / "net.pt2", tmp_path / "net.bin"):
        with pytest.raises(ModelError, match="--trust"):
            open_model(path, batch=items())
    assert called == []


def test_what_is_recommended_without_trust_opens_without_trust(tmp_path: Path) -> None:
    pickled(tmp_path / "model.pkl", 1)
    with pytest.raises(ModelError) as caught:
        open_model(tmp_path / "model.pkl")
    assert "TorchScript" not in caught.value.hint
    assert all(word in caught.value.hint for word in ("ONNX", ".keras", ".skops", "transformers"))


def truncated(folder: Path) -> bytes:
    return save_script(trained_mlp("classes"), folder / "good.bin").read_bytes()[:-200]


def archive(*names: str) -> Callable[[Path], bytes]:
    def made(folder: Path) -> bytes:
        with zipfile.ZipFile(folder / "junk.zip", "w") as new:
            for name in names:
                new.writestr(name, b"junk")
        return (folder / "junk.zip").read_bytes()

    return made


JUNK: dict[str, Callable[[Path], bytes]] = {
    "nothing": lambda _: b"",
    "text": lambda _: b"this was a model once\n",
    "zeros": lambda _: bytes(4096),
    "begun archive": lambda _: b"PK\x03\x04 this was a model once",
    "truncated archive": truncated,
    "archive with code": archive("a/code/a.py", "a/data.pkl"),
    "archive of a program": archive("a/archive_format"),
    "archive of weights": archive("a/data.pkl", "a/version"),
    "archive of Keras": archive("config.json", "metadata.json"),
    "half a pickle": lambda _: pickle.dumps({"a": list(range(100))})[:-20],
    "pickled number": lambda _: pickle.dumps(3),
    "HDF5": lambda _: b"\x89HDF\r\n\x1a\n" + bytes(100),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("trust", [False, True])
@pytest.mark.parametrize("junk", JUNK)
def test_junk_is_an_error_in_three_parts(junk: str, trust: bool, tmp_path: Path) -> None:
    content = JUNK[junk](tmp_path)
    for suffix in ("pt", "pth", "ckpt", "bin", "pt2", "ts", "safetensors", "onnx", "keras", "h5", "pkl", "joblib"):
        path = tmp_path / f"net.{suffix}"
        path.write_bytes(content)
        with pytest.raises(ModelError) as caught:
            open_model(path, batch=items(), trust=trust)
        assert caught.value.rule, suffix
        assert caught.value.hint, suffix


@pytest.mark.parametrize("thing", [3, [1, 2], torch.zeros(3)])
def test_a_file_of_torch_that_holds_no_network_says_what_it_holds(thing: object, tmp_path: Path) -> None:
    path = saved(tmp_path / "net.pt", thing)
    with pytest.raises(ModelError, match=type(thing).__name__):
        open_model(path, batch=items(), trust=True)


def fake_skops(monkeypatch: pytest.MonkeyPatch, *, version: str, unknown: list[str], mark: Path) -> None:
    """A skops that finds these types in every file, and runs what the file asks for."""

    def load(_: Path, *, trusted: list[str]) -> object:
        assert trusted == unknown
        mark.mkdir()
        return LinearRegression().fit(items(), items()[:, 5])

    io = SimpleNamespace(get_untrusted_types=lambda file: unknown, load=load)
    monkeypatch.setitem(sys.modules, "skops", SimpleNamespace(__version__=version, io=io))
    monkeypatch.setitem(sys.modules, "skops.io", io)


@pytest.mark.parametrize(("version", "unknown"), [("0.13.0", ["os.mkdir"]), ("0.11.0", [])])
def test_a_skops_file_with_unknown_types_or_read_by_an_old_skops_needs_trust(
    version: str, unknown: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "mark"
    fake_skops(monkeypatch, version=version, unknown=unknown, mark=mark)
    (tmp_path / "model.skops").write_bytes(b"")
    with pytest.raises(ModelError, match="trust"):
        open_model(tmp_path / "model.skops")
    assert not mark.exists()
    assert open_model(tmp_path / "model.skops", trust=True).name == "sklearn"
    assert mark.exists()


def test_a_skops_file_of_known_types_needs_no_trust(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_skops(monkeypatch, version="0.13.0", unknown=[], mark=tmp_path / "mark")
    (tmp_path / "model.skops").write_bytes(b"")
    assert open_model(tmp_path / "model.skops").name == "sklearn"


def test_a_keras_with_known_holes_needs_trust(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "net.keras").write_bytes(b"")
    monkeypatch.setattr(keras_adapter, "SAFE_SINCE", (99, 0))
    with pytest.raises(ModelError, match="crafted"):
        open_model(tmp_path / "net.keras", batch=items())


def hostile_folder(tmp_path: Path) -> Path:
    folder = texts.saved(texts.bert(), tmp_path / "bert")
    change(
        folder / "config.json",
        auto_map={
            "AutoConfig": "hostile.Config",
            "AutoModelForSequenceClassification": "hostile.HostileForSequenceClassification",
        },
        model_type="hostile",
    )
    (folder / "hostile.py").write_text(f"import os\nos.mkdir({str(tmp_path / 'mark')!r})\n")
    return folder


def change(path: Path, **entries: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **entries}))


def test_code_in_a_folder_of_transformers_is_not_run_even_with_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import transformers

    folder = hostile_folder(tmp_path)
    for trust in (False, True):
        with pytest.raises(ModelError):
            open_model(folder, trust=trust)
    assert not (tmp_path / "mark").exists()
    with suppress(Exception):
        transformers.AutoConfig.from_pretrained(folder, trust_remote_code=True)
    assert (tmp_path / "mark").exists()


def test_pickled_weights_in_a_folder_of_transformers_are_not_read(tmp_path: Path) -> None:
    folder = texts.saved(texts.bert(), tmp_path / "bert")
    (folder / "model.safetensors").unlink()
    saved(folder / "pytorch_model.bin", Hostile(tmp_path / "mark"))
    for trust in (False, True):
        with pytest.raises(ModelError, match="safetensors"):
            open_model(folder, trust=trust)
    assert not (tmp_path / "mark").exists()
    torch.load(folder / "pytorch_model.bin", weights_only=False)
    assert (tmp_path / "mark").exists()


def test_pickled_weights_behind_an_index_of_safetensors_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = texts.saved(texts.bert(), tmp_path / "bert")
    (folder / "model.safetensors").unlink()
    names = texts.bert().state_dict()
    (folder / "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {}, "weight_map": dict.fromkeys(names, "w.bin")})
    )
    saved(folder / "w.bin", Hostile(tmp_path / "mark"))
    read = partial(torch.load, weights_only=False)
    monkeypatch.setattr(torch, "load", lambda path, **_: read(path))  # as a torch whose weights_only has a hole
    with pytest.raises(ModelError, match=r"w\.bin"):
        open_model(folder)
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize("key", ["attn_implementation", "_attn_implementation_internal", "experts_implementation"])
@pytest.mark.parametrize("nested", [False, True])
def test_layers_that_would_be_downloaded_as_code_are_refused(key: str, nested: bool, tmp_path: Path) -> None:
    folder = texts.saved(texts.bert(), tmp_path / "bert")
    said = {key: "somebody/kernel"}
    change(folder / "config.json", **({"text_config": said} if nested else said))
    with pytest.raises(ModelError, match="somebody/kernel"):
        open_model(folder)
    change(folder / "config.json", **({"text_config": {}} if nested else {key: "eager"}))
    assert open_model(folder).name == "transformers"


def test_an_adapter_in_a_folder_of_transformers_is_refused(tmp_path: Path) -> None:
    folder = texts.saved(texts.bert(), tmp_path / "bert")
    (folder / "adapter_config.json").write_text("{}")
    with pytest.raises(ModelError, match="adapter_config"):
        open_model(folder)


def test_a_pickle_that_calls_itself_safetensors_is_not_unpickled(tmp_path: Path) -> None:
    pickled(tmp_path / "net.safetensors", Hostile(tmp_path / "mark"))
    for trust in (False, True):
        with pytest.raises(ModelError, match="safetensors"):
            open_model(tmp_path / "net.safetensors", trust=trust)
    assert not (tmp_path / "mark").exists()
    joblib.load(tmp_path / "net.safetensors")
    assert (tmp_path / "mark").exists()


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


def external_in_a_function(location: str) -> Any:
    """A graph that calls a function of its own, in which a constant is in another file."""
    weights = external(location).graph.initializer[0]
    constant = helper.make_node("Constant", [], ["w"])
    constant.attribute.add(name="value", type=AttributeProto.TENSOR).t.CopyFrom(weights)
    product = helper.make_node("MatMul", ["x", "w"], ["y"])
    opset = helper.make_opsetid("", 17)
    model = external(location)
    del model.graph.initializer[:], model.graph.node[:]
    model.graph.node.append(helper.make_node("F", ["x"], ["y"], domain="own"))
    model.functions.append(helper.make_function("own", "F", ["x"], ["y"], [constant, product], [opset]))
    model.opset_import.append(helper.make_opsetid("own", 1))
    return model


def test_weights_beside_an_onnx_file_are_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = np.random.default_rng(0).normal(size=(64, 3)).astype(np.float32)
    weights.tofile(tmp_path / "w.data")
    (tmp_path / "net.onnx").write_bytes(external("w.data").SerializeToString())
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    model = open_model(Path("..") / "net.onnx", batch=items())
    expected = networks.softmax((items() @ weights).astype(np.float64))
    np.testing.assert_allclose(model.respond(items()).outputs, expected, atol=1e-6)


@pytest.mark.parametrize("made", [external, external_in_a_function])
@pytest.mark.parametrize("location", ["../w.data", "/etc/passwd", "link.data"])
def test_weights_outside_the_folder_of_an_onnx_file_are_refused(
    location: str, made: Callable[[str], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "inside"
    folder.mkdir()
    np.zeros((64, 3), dtype=np.float32).tofile(tmp_path / "w.data")
    (folder / "link.data").symlink_to(tmp_path / "w.data")
    (folder / "net.onnx").write_bytes(made(location).SerializeToString())
    monkeypatch.chdir(folder)
    for model in (folder / "net.onnx", made(location)):
        with pytest.raises(ModelError, match="outside its folder"):
            open_model(model, batch=items(), trust=True)


@pytest.mark.parametrize("location", ["w\0.data", "*/_ORT_MEM_ADDR_/*", "", "."])
def test_odd_places_of_weights_are_refused(location: str, tmp_path: Path) -> None:
    (tmp_path / "net.onnx").write_bytes(external(location).SerializeToString())
    with pytest.raises(ModelError, match="beside the model"):
        open_model(tmp_path / "net.onnx", batch=items())


def test_weights_in_the_memory_of_the_process_are_refused(tmp_path: Path) -> None:
    """ONNX Runtime reads this place as an address; a file of that name must not get it past the check."""
    (tmp_path / "*" / "_ORT_MEM_ADDR_").mkdir(parents=True)
    np.zeros((64, 3), dtype=np.float32).tofile(tmp_path / "*" / "_ORT_MEM_ADDR_" / "*")
    (tmp_path / "net.onnx").write_bytes(external("*/_ORT_MEM_ADDR_/*").SerializeToString())
    with pytest.raises(ModelError):
        open_model(tmp_path / "net.onnx", batch=items())


def test_operators_that_are_not_part_of_onnx_runtime_are_not_looked_for(tmp_path: Path) -> None:
    model = external("w.data")
    model.graph.node[0].domain = "somebody.elses"
    model.opset_import.append(helper.make_opsetid("somebody.elses", 1))
    np.zeros((64, 3), dtype=np.float32).tofile(tmp_path / "w.data")
    (tmp_path / "net.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(ModelError, match="cannot run the graph"):
        open_model(tmp_path / "net.onnx", batch=items(), trust=True)


def test_a_missing_file_of_weights_is_named(tmp_path: Path) -> None:
    (tmp_path / "net.onnx").write_bytes(external("w.data").SerializeToString())
    with pytest.raises(ModelError, match=r"w\.data"):
        open_model(tmp_path / "net.onnx", batch=items())


def test_trusted_pickles_are_opened_by_what_is_in_them(tmp_path: Path) -> None:
    joblib.dump(LinearRegression().fit(items(), items()[:, 5]), tmp_path / "line.joblib")
    assert open_model(tmp_path / "line.joblib", trust=True).name == "sklearn"
    torch.save(trained_mlp("classes"), tmp_path / "net.pt")
    assert open_model(tmp_path / "net.pt", trust=True, batch=items()).name == "torch"


def test_a_decoder_of_ones_own_is_imported_with_trust_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    own = module_of(tmp_path, tmp_path / "mark")
    with pytest.raises(ModelError, match="trust"):
        detector._decode(own, trust=False)
    assert not (tmp_path / "mark").exists()
    detector._decode(own, trust=True)
    assert (tmp_path / "mark").exists()


ROWS = {
    "`.onnx`": (
        "weights_outside_the_folder_of_an_onnx_file_are_refused",
        "weights_in_the_memory_of_the_process_are_refused",
        "operators_that_are_not_part_of_onnx_runtime_are_not_looked_for",
    ),
    "`.safetensors`": ("a_pickle_that_calls_itself_safetensors_is_not_unpickled",),
    "transformers folder": (
        "code_in_a_folder_of_transformers_is_not_run_even_with_trust",
        "pickled_weights_in_a_folder_of_transformers_are_not_read",
        "pickled_weights_behind_an_index_of_safetensors_are_not_read",
        "an_adapter_in_a_folder_of_transformers_is_refused",
        "layers_that_would_be_downloaded_as_code_are_refused",
    ),
    "`.keras`": ("Keras, Lambda", "Keras, torch module", "a_keras_with_known_holes_needs_trust"),
    "`.skops`": ("a_skops_file_with_unknown_types_or_read_by_an_old_skops_needs_trust",),
    "TorchScript": ("TorchScript", "TorchScript, a blank", "TorchScript, a line break", "TorchScript, on loading"),
    "`.pt2`": ("exported program", "exported program, other name"),
    "torch pickles": ("torch pickle", "torch module", "state dict", "old torch pickle"),
    "`.pkl`": ("pickle", "pickle, other name", "joblib"),
    "Keras `.h5`": ("HDF5, Lambda",),
    "`package.module:name`": (
        *("imported function", "imported factory", "a_decoder_of_ones_own_is_imported_with_trust_only"),
    ),
}
"""By the beginning of a row of the table in docs/decisions/trust.md, its attacks: names in ``ATTACKS``, or tests."""


OBJECT = "an object, in Python"
"""The row of what is there already."""


def table() -> list[str]:
    """The rows of the table of formats, without its head."""
    text = (Path(__file__).parents[2] / "docs" / "decisions" / "trust.md").read_text(encoding="utf-8")
    return [line.strip("| ") for line in text.splitlines() if line.startswith("|")][2:]


def test_every_row_of_the_table_has_its_attacks() -> None:
    rows = [row for row in table() if not row.startswith(OBJECT)]
    assert len(rows) == len(ROWS) == len(table()) - 1
    assert all(any(row.startswith(start) for row in rows) for start in ROWS)
    known = {*ATTACKS, *(name.removeprefix("test_") for name in globals() if name.startswith("test_"))}
    assert {attack for attacks in ROWS.values() for attack in attacks} <= known
    assert {attack for attacks in ROWS.values() for attack in attacks} >= set(ATTACKS)


def test_every_format_is_in_the_table() -> None:
    told = {word for row in table() for word in re.findall(r"`(\.\w+)`", row)}
    declared = {word for _, one in registry.items() for word in (*one.opens, *one.trusted)}
    endings = {word.split()[0] for word in declared if word.startswith(".")}
    assert endings | {*modules.SUFFIXES, *keras_adapter.SUFFIXES, *PICKLES} == told


def test_files_that_are_said_to_be_opened_are_known_as_models(tmp_path: Path) -> None:
    """Endings are said to people, and looked at where a model is opened: none in one of the two only."""
    said = {word.split()[0] for _, one in registry.items() for word in (*one.opens, *one.trusted) if word[0] == "."}
    for ending in said:
        (tmp_path / f"model{ending}").touch()
    assert [ending for ending in sorted(said) if not is_model_file(tmp_path / f"model{ending}")] == []
    assert said >= {*keras_adapter.SUFFIXES, ".onnx", ".skops", ".pkl"}
    assert not is_model_file(tmp_path / "model.csv")


CODE = sorted({*modules.SUFFIXES, *keras_adapter.SUFFIXES, *PICKLES} - {".safetensors", ".keras"})


@pytest.mark.parametrize("ending", [*CODE, *(ending.upper() for ending in CODE)])
def test_a_pickle_under_any_name_is_not_opened(ending: str, tmp_path: Path) -> None:
    model = pickled(tmp_path / f"model{ending}", Hostile(tmp_path / "mark"))
    with pytest.raises(ModelError, match="trust"):
        open_model(model, batch=items())
    assert not (tmp_path / "mark").exists()
