"""Items of several texts, and severities as people need them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fieldcheck.core.errors import FieldcheckError, InputsError
from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.space import Axis, Space
from fieldcheck.sources import open_inputs
from fieldcheck.tomography import perturbations
from fieldcheck.tomography.query import parse
from fieldcheck.tomography.setup.space_file import read_space_file
from fieldcheck.tomography.setup.subject import Subject, of_space_file

ROWS = [
    ("Where does the river begin its journey?", "Where is the source of the river?", 1),
    ("How can people learn to swim quickly?", "What makes bread rise in the oven?", 0),
    ("Which planet has the most moons?", "Which planet, of all, has most moons?", 1),
]

SPACE = """
[model]
file = "pairmodel:same"
[data]
file = "pairs.csv"
text = ["question1", "question2"]
label = "duplicate"
[[perturbation]]
name = "typos"
levels = [0, 1, 3]
{of}
[[perturbation]]
name = "drop"
apply = "punctuation"
levels = 2
of = "question2"
"""

MODULE = """
import numpy as np

seen = []

def same(pairs):
    assert all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs)
    seen.extend(pairs)
    alike = np.array([len(set(a.split()) & set(b.split())) / 8 for a, b in pairs])
    return np.column_stack([1 - alike, alike])
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    lines = [f'"{first}","{second}",{label}' for first, second, label in ROWS]
    (tmp_path / "pairs.csv").write_text("question1,question2,duplicate\n" + "\n".join(lines) + "\n")
    (tmp_path / "pairmodel.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("pairmodel", None)


def subject(folder: Path, of: str = "") -> Subject:
    (folder / "space.toml").write_text(SPACE.format(of=of))
    return of_space_file(read_space_file(folder / "space.toml"), trust=True)


def perturbed(found: Subject, severities: list[int]) -> list[Any]:
    assert found.executor is not None
    test = np.repeat(found.space.numbers([severities]), 3)
    batch, which = found.executor.perturbed(test, np.arange(3))
    return [batch[at] for at in which.tolist()]


def test_a_pair_reaches_the_model_as_two_texts(folder: Path) -> None:
    found = subject(folder)
    assert perturbed(found, [0, 0]) == [(first, second) for first, second, _ in ROWS]
    found.measure(np.zeros(3, dtype=int), np.arange(3), None)


def test_texts_are_perturbed_apart(folder: Path) -> None:
    """Both get their own typos; a perturbation of one leaves the other, letter by letter."""
    both = perturbed(subject(folder), [2, 0])
    for (first, second), (one, other, _) in zip(both, ROWS, strict=True):
        assert first != one
        assert second != other
    only = perturbed(subject(folder, 'of = "question1"'), [2, 0])
    assert [second for _, second in only] == [second for _, second, _ in ROWS]
    assert [first for first, _ in only] == [first for first, _ in both]
    assert [first for first, _ in perturbed(subject(folder), [0, 2])] == [first for first, _, _ in ROWS]


def test_a_text_that_is_not_there_is_said(folder: Path) -> None:
    with pytest.raises(FieldcheckError, match="question9"):
        subject(folder, 'of = "question9"')
    with pytest.raises(FieldcheckError, match="question9"):
        open_inputs("pairs.csv", text=["question1", "question9"])
    np.savez("texts.npz", a=np.array(["x", "y"]), b=np.array(["x", "y"]))
    with pytest.raises(InputsError, match="table"):
        open_inputs("texts.npz", text=["a", "b"])


def test_several_texts_are_features_of_one_model(folder: Path) -> None:
    found = open_inputs("pairs.csv", text=["question1", "question2"], label="duplicate")
    assert found.batch(1, 3) == [ROWS[1][:2], ROWS[2][:2]]


def test_levels_are_chosen_by_their_severities(folder: Path) -> None:
    """Of typos, 0, 1 and 3 edits: two levels, and queries name them by 1 and 3."""
    space = subject(folder).space
    assert space.shape == (3, 3)
    assert space.named(int(space.numbers([[2, 1]])[0])) == {"typos": 3, "drop": 1}
    assert parse("typos = 3", space).tests().tolist() == [6, 7, 8]
    assert parse("typos > 1 and drop = 0", space).tests().tolist() == [6]
    edited = perturbations.registry.build("typos")
    batch = [ROWS[0][0]] * 2
    alone = edited.apply(batch, np.array([3, 3]), ItemStreams.of(0, "typos/question1", np.arange(2), np.array([3, 3])))
    assert perturbed(subject(folder), [2, 0])[0][0] == alone[0]


def test_words_may_be_one_level() -> None:
    axis = Axis("blur", 5)
    assert parse("blur = medium", Space((axis,))).tests().tolist() == [3]
    assert parse("blur = low", Space((axis,))).tests().tolist() == [1, 2]
    assert parse("blur = high", Space((axis,))).tests().tolist() == [4, 5]


TURNED = """
[model]
file = "none.onnx"
[data]
file = "none.npz"
[[perturbation]]
name = "rotate"
{more}
"""


def axis_of(folder: Path, more: str) -> Axis:
    (folder / "space.toml").write_text(TURNED.format(more=more))
    space = read_space_file(folder / "space.toml").space
    assert space is not None
    return space.axes[0]


def test_amounts_and_ranges_of_amounts(folder: Path) -> None:
    axis = axis_of(folder, "amounts = [10, 90]\nwords = { little = 1, much = [2] }")
    assert (axis.levels, axis.every_amount(), dict(axis.words)) == (2, (10, 90), {"little": (1, 1), "much": (2, 2)})
    binned = axis_of(folder, "amounts = [[0, 16], [16, 32]]")
    drawn = binned.severities(np.repeat([1, 2], 500), np.arange(1000))
    amounts = np.array(binned.every_amount())[drawn - 1]
    assert amounts[:500].max() < 16 < amounts[500:].min()
    assert len(np.unique(amounts)) == 32
    assert binned.severities(np.array([2]), np.array([700])).tolist() == [drawn[700]]
    for wrong in ("amounts = 3", "amounts = [[1]]", 'levels = "five"', "levels = [0]", "words = { high = [1, 2, 3] }"):
        with pytest.raises(FieldcheckError):
            axis_of(folder, wrong)


def test_a_quarter_turn_is_a_quarter_turn() -> None:
    from fieldcheck.tomography.perturbations.image.rotate import Rotate

    image = np.zeros((8, 16, 16), dtype=np.uint8)
    image[:, :4, 8:] = 255
    turned = Rotate(amounts=(90.0,)).apply(image, np.ones(8, dtype=int), ItemStreams.of(0, "rotate", np.arange(8), 1))
    quarters = [np.rot90(image[0], turn) for turn in (1, -1)]
    assert all(any(np.array_equal(one, quarter) for quarter in quarters) for one in turned)
