"""Small made-up pools, and a way to run commands in this process."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fieldcheck.cli import main

from .sheets import SIZE, Done, Run, price_rows, tea_rows, write

SPACE = """
seed = 3
surrogate = "logistic"
[model]
file = "digits.onnx"
[data]
file = "digits.npz"
limit = 300
[plan]
kind = "spread"
inferences = 1200
[[perturbation]]
name = "brightness"
levels = 3
words = { low = [1, 1], high = [2, 3] }
[[perturbation]]
name = "zoom"
levels = 2
[[perturbation]]
name = "gaussian-noise"
levels = 3
"""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Run ``fieldcheck`` with these words, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def call(*words: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["fieldcheck", *map(str, words)])
        capsys.readouterr()
        code: Any = 0
        try:
            main()
        except SystemExit as end:
            code = end.code
        shown = capsys.readouterr()
        return Done(int(code or 0), shown.out, shown.err)

    return call


@pytest.fixture
def tea(tmp_path: Path) -> Path:
    """Classification: text ids, classes with blanks, commas and umlauts, a metadata column with formulas."""
    return write(tmp_path / "tea.csv", ["id", "prediction", "confidence", "lsa", "target", "kind"], tea_rows())


@pytest.fixture
def price(tmp_path: Path) -> Path:
    """Regression: whole-number ids."""
    return write(tmp_path / "price.csv", ["id", "prediction", "spread", "target"], price_rows())


@pytest.fixture
def layer(tmp_path: Path) -> Path:
    """Activations for either pool."""
    path = tmp_path / "layer.npy"
    np.save(path, np.random.default_rng(13).random((SIZE, 4)))
    return path


@pytest.fixture(scope="session")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A linear classifier of digits as ONNX, and the data that it never saw."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression

    images, labels = load_digits(return_X_y=True)
    pixels = (images * 255 / 16).astype(np.uint8)
    fitted = LogisticRegression(C=0.1, max_iter=500).fit(pixels[:1000] / 255, labels[:1000])
    weights = {"w": fitted.coef_.T.astype(np.float32), "b": fitted.intercept_.astype(np.float32)}
    graph = helper.make_graph(
        [
            helper.make_node("Flatten", ["x"], ["flat"], axis=1),
            helper.make_node("Gemm", ["flat", "w", "b"], ["scores"]),
            helper.make_node("Softmax", ["scores"], ["p"], axis=1),
        ],
        "digits",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 1, 8, 8])],
        [helper.make_tensor_value_info("p", TensorProto.FLOAT, ["n", 10])],
        [numpy_helper.from_array(values, name) for name, values in weights.items()],
    )
    folder = tmp_path_factory.mktemp("network")
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 10
    onnx.save(model, folder / "digits.onnx")
    np.savez(folder / "digits.npz", images=pixels[1000:].reshape(-1, 8, 8), labels=labels[1000:])
    (folder / "space.toml").write_text(SPACE)
    return folder
