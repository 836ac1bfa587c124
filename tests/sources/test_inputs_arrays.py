"""Arrays as inputs: mapped, chosen by name, checked, never unpickled."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fieldcheck.core.errors import InputsError
from fieldcheck.sources import open_inputs

IMAGES = np.arange(5 * 4 * 3, dtype=np.uint8).reshape(5, 4, 3)


def test_npy_is_mapped_and_read_by_batch(tmp_path: Path) -> None:
    np.save(tmp_path / "images.npy", IMAGES)
    inputs = open_inputs(tmp_path / "images.npy")
    assert (inputs.name, inputs.kind, len(inputs)) == ("images", "image", 5)
    assert isinstance(inputs.array, np.memmap)
    assert inputs.ids.tolist() == [0, 1, 2, 3, 4]
    assert inputs.labels is None
    np.testing.assert_array_equal(inputs.batch(1, 3), IMAGES[1:3])


@pytest.mark.parametrize("order", ["C", "F"])
def test_stored_npz_is_mapped_at_the_right_place(tmp_path: Path, order: str) -> None:
    array = np.asarray(np.random.default_rng(0).normal(size=(7, 3)), order=order)
    np.savez(tmp_path / "data.npz", y=np.arange(7), x=array, id=np.arange(10, 17))
    inputs = open_inputs(tmp_path / "data.npz")
    assert isinstance(inputs.array, np.memmap)
    np.testing.assert_array_equal(inputs.batch(0, 7), array)
    assert inputs.labels.tolist() == list(range(7))
    assert inputs.ids.tolist() == list(range(10, 17))


def test_compressed_npz_is_read_whole_and_said(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "data.npz", images=IMAGES, labels=np.arange(5), classes=np.array(list("abcde")))
    inputs = open_inputs(tmp_path / "data.npz")
    np.testing.assert_array_equal(inputs.batch(4, 5), IMAGES[4:])
    assert inputs.classes == ("a", "b", "c", "d", "e")
    assert any("compressed" in note for note in inputs.notes)


def test_part_of_an_npz_brings_its_own_labels(tmp_path: Path) -> None:
    np.savez(tmp_path / "m.npz", x_train=IMAGES, y_train=np.arange(5), x_test=IMAGES[:2], y_test=np.array([8, 9]))
    assert open_inputs(f"{tmp_path}/m.npz#x_test").labels.tolist() == [8, 9]
    assert open_inputs(tmp_path / "m.npz", columns=["x_train"]).labels.tolist() == [0, 1, 2, 3, 4]
    assert open_inputs(f"{tmp_path}/m.npz#X_TEST", label="y_test").labels.tolist() == [8, 9]
    with pytest.raises(InputsError, match="which array"):
        open_inputs(tmp_path / "m.npz")
    with pytest.raises(InputsError, match="x_tset"):
        open_inputs(f"{tmp_path}/m.npz#x_tset")


def test_a_file_with_a_hash_in_its_name_is_a_file(tmp_path: Path) -> None:
    np.save(tmp_path / "run#1.npy", IMAGES)
    assert len(open_inputs(tmp_path / "run#1.npy")) == 5


def test_channels_first_is_turned_and_said() -> None:
    inputs = open_inputs(np.zeros((2, 3, 8, 9), np.float32))
    assert inputs.batch(0, 2).shape == (2, 8, 9, 3)
    assert any("channels first" in note for note in inputs.notes)
    assert open_inputs(np.zeros((2, 8, 9, 3))).batch(0, 1).shape == (1, 8, 9, 3)


def test_kinds_by_shape_and_by_word() -> None:
    assert open_inputs(np.zeros((4, 6))).kind == "row"
    assert open_inputs(np.zeros((4, 6, 6)), kind="row").kind == "row"
    texts = open_inputs(np.array(["a", "bb"]))
    assert (texts.kind, texts.batch(0, 2)) == ("text", ["a", "bb"])


@pytest.mark.parametrize(
    "array", [np.zeros(5), np.zeros((0, 3)), np.array([["a", "b"]]), np.zeros((3, 2), dtype="M8[s]")]
)
def test_arrays_that_are_no_inputs(array: np.ndarray) -> None:
    with pytest.raises(InputsError):
        open_inputs(array)


def test_lengths_must_agree(tmp_path: Path) -> None:
    np.savez(tmp_path / "d.npz", x=IMAGES, y=np.arange(4))
    with pytest.raises(InputsError, match="4 labels for 5 items"):
        open_inputs(tmp_path / "d.npz")


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    objects = np.array([{"a": 1}, None], dtype=object)
    np.save(tmp_path / "o.npy", objects, allow_pickle=True)
    np.savez(tmp_path / "o.npz", images=objects)
    for name in ("o.npy", "o.npz"):
        with pytest.raises(InputsError):
            open_inputs(tmp_path / name)


def test_damaged_files_are_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "whole.npz", images=np.zeros((100, 8, 8)))
    content = (tmp_path / "whole.npz").read_bytes()
    for name, part in (("cut.npz", content[: len(content) // 2]), ("cut.npy", b"\x93NUMPY\x01"), ("empty.npz", b"")):
        (tmp_path / name).write_bytes(part)
        with pytest.raises(InputsError, match=name):
            open_inputs(tmp_path / name)


def test_missing_and_unknown_files(tmp_path: Path) -> None:
    (tmp_path / "a.docx").write_text("x")
    for name, said in (("gone.npz", "not found"), ("a.docx", "docx")):
        with pytest.raises(InputsError, match=said):
            open_inputs(tmp_path / name)
