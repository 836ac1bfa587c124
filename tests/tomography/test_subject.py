"""What a space file may name as its model and its data."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from fieldcheck.core.errors import FieldcheckError
from fieldcheck.tomography.answers.run import measure
from fieldcheck.tomography.plans import registry as plans
from fieldcheck.tomography.setup.space_file import KEYS, read_space_file
from fieldcheck.tomography.setup.subject import Subject, of_space_file

SPACE = """
[model]
file = "{model}"
[data]
file = "{data}"
kind = "row"
[[perturbation]]
name = "dim"
levels = 2
apply = "rowmodel:dim"
"""

MODULE = """
import numpy as np
from fieldcheck.tomography import perturbations

@perturbations.register("dim", kind="row", levels=2)
def dim(row, severity, rng):
    return row / (1 + severity)

def above(rows):  # the first class where the sum is large
    high = (np.asarray(rows).sum(axis=1) > 0.9).astype(float)
    return np.column_stack([high, 1 - high])
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "rowmodel.py").write_text(MODULE)
    rows = np.array([[1.0, 0.0], [0.0, 0.5], [1.0, 1.0], [0.0, 0.0]], dtype=np.float32)
    np.savez(tmp_path / "rows.npz", x=rows, y=np.array([0, 1, 0, 1]), x_small=rows[:3], y_small=np.array([0, 1, 0]))
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("rowmodel", None)


def subject(folder: Path, *, model: str, data: str = "rows.npz#x", trust: bool = True) -> Subject:
    path = folder / "space.toml"
    path.write_text(SPACE.format(model=model, data=data))
    return of_space_file(read_space_file(path), trust=trust)


def test_a_function_is_a_model(folder: Path) -> None:
    """Sums 1, .5, 2, 0: right unperturbed; halved, the first and by thirds also the third are no longer seen."""
    run = measure(subject(folder, model="rowmodel:above"), plan=plans.build("full"))
    wrong = run.outcomes.select(run.outcomes.held == 0)
    assert sorted(zip(wrong.tests.tolist(), wrong.inputs.tolist(), strict=True)) == [(1, 0), (2, 0), (2, 2)]
    assert len(run.outcomes) == 3 * 4


def test_answers_are_held_against_the_unperturbed_ones(folder: Path) -> None:
    """The same model, its labels swapped: unperturbed it is right by definition, and what changes is wrong."""
    rows = np.load(folder / "rows.npz")
    np.savez(folder / "rows.npz", x=rows["x"], y=1 - rows["y"])
    asked = 'rows.npz#x"\n[check]\nreference = "unperturbed'
    path = folder / "space.toml"
    text = SPACE.replace('kind = "row"\n', "").format(model="rowmodel:above", data=asked)
    path.write_text(text.replace("[check]", 'kind = "row"\n[check]'))
    run = measure(of_space_file(read_space_file(path), trust=True), plan=plans.build("full"))
    wrong = run.outcomes.select(run.outcomes.held == 0)
    assert sorted(zip(wrong.tests.tolist(), wrong.inputs.tolist(), strict=True)) == [(1, 0), (2, 0), (2, 2)]


@pytest.mark.parametrize("kind", ["function", "detection:iou=0.5"])
def test_other_checks_have_no_unperturbed_answer(folder: Path, kind: str) -> None:
    path = folder / "space.toml"
    check = f'[check]\nkind = "{kind}"\nfunction = "rowmodel:own"\nreference = "unperturbed"\n'
    path.write_text(SPACE.format(model="rowmodel:above", data="rows.npz#x") + check)
    with pytest.raises(FieldcheckError, match="with the unperturbed answer as reference"):
        read_space_file(path)


def test_code_needs_trust(folder: Path) -> None:
    with pytest.raises(FieldcheckError, match="trust"):
        subject(folder, model="rowmodel:above", trust=False)
    assert "rowmodel" not in sys.modules


def test_a_space_file_cannot_switch_trust_on(folder: Path) -> None:
    (folder / "net.pt").write_bytes(b"")
    with pytest.raises(FieldcheckError, match="--trust"):
        subject(folder, model="net.pt", trust=False)
    with pytest.raises(FieldcheckError, match="unknown 'trust'"):
        subject(folder, model='net.pt"\ntrust = "true', trust=False)


def test_a_run_goes_on_only_with_the_same_code_and_array(folder: Path) -> None:
    before = subject(folder, model="rowmodel:above").digest
    assert subject(folder, model="rowmodel:above").digest == before
    other = subject(folder, model="rowmodel:above", data="rows.npz#x_small")
    assert other.inputs == 3
    assert other.digest != before
    (folder / "rowmodel.py").write_text(MODULE + "# changed\n")
    assert subject(folder, model="rowmodel:above").digest != before


def test_a_file_that_is_not_there_is_named(folder: Path) -> None:
    with pytest.raises(FieldcheckError, match=r"\[model\] names rowmodel.onnx"):
        subject(folder, model="rowmodel.onnx")
    with pytest.raises(FieldcheckError, match=r"\[data\] names none.npz, and"):
        subject(folder, model="rowmodel:above", data="none.npz#x")
    with pytest.raises(FieldcheckError, match="no_such_module"):
        subject(folder, model="no_such_module:above")


def test_weights_lie_beside_the_space_file(folder: Path) -> None:
    path = folder / "deep" / "space.toml"
    path.parent.mkdir()
    path.write_text(SPACE.format(model="rowmodel:network@w.safetensors", data="../rows.npz"))
    code = read_space_file(path).code
    assert code is not None
    assert code.weights == path.parent / "w.safetensors"
    assert code.text == f"rowmodel:network@{path.parent / 'w.safetensors'}"


def test_a_space_file_takes_what_predict_takes(folder: Path) -> None:
    """The names of options are those of one definition; only trust is the caller's to give."""
    words = KEYS["model"] | KEYS["data"]
    assert {"dtype", "threads", "layer", "classes", "colour", "skip_broken", "encoding", "columns"} <= words
    assert "trust" not in words
    path = folder / "space.toml"
    more = 'dtype = "float64"\nthreads = 1\nclasses = ["up", "down"]'
    text = SPACE.format(model="rowmodel:above", data="rows.csv")
    (folder / "rows.csv").write_text("a;b;extra;label\n1;0;5;up\n0;0.5;5;down\n", encoding="utf-16")
    path.write_text(
        text.replace('file = "rowmodel:above"', f'file = "rowmodel:above"\n{more}').replace(
            'file = "rows.csv"', 'file = "rows.csv"\ncolumns = ["a", "b"]\nencoding = "utf-16"'
        )
    )
    found = of_space_file(read_space_file(path), trust=True)
    assert found.inputs == 2
    assert found.measure(np.array([0, 0]), np.array([0, 1]), None).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "wrong", ['threads = "two"', 'skip_broken = "yes"', "columns = [1]", 'columns = "a"', "layer = 3"]
)
def test_a_value_of_another_kind_is_refused(folder: Path, wrong: str) -> None:
    table = "[data]" if wrong.startswith(("skip", "columns")) else "[model]"
    path = folder / "space.toml"
    path.write_text(SPACE.format(model="rowmodel:above", data="rows.npz#x").replace(table, f"{table}\n{wrong}"))
    with pytest.raises(FieldcheckError, match=wrong.split(maxsplit=1)[0]):
        read_space_file(path)
