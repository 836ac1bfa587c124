"""Columns in a folder for as long as a pool is open."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from fieldcheck.files import scratch
from fieldcheck.files.scratch import Scratch


class Owner:
    """Something that a folder belongs to."""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def never() -> np.ndarray:
    raise AssertionError("made again")


@pytest.mark.parametrize("kind", [np.float64, np.int32, np.uint8])
def test_a_column_is_made_once_and_again_when_it_is_another(kind: type) -> None:
    owner = Owner()
    kept = Scratch.beside(owner, 1)
    assert kept is not None
    column = np.arange(7).astype(kind)
    kept.get("odds of it", "a", 3, lambda: column)
    found = kept.get("odds of it", "a", 3, never)
    assert found.dtype == column.dtype
    np.testing.assert_array_equal(found, column)
    np.testing.assert_array_equal(kept.get("odds of it", "b", 3, lambda: column[::-1]), column[::-1])
    with pytest.raises(AssertionError, match="made again"):
        kept.get("odds of it", "a", 3, never)  # the place holds one column
    with pytest.raises(AssertionError, match="made again"):
        kept.get("odds of it", "b", 4, never)


def test_parts_have_places_of_their_own_in_one_file() -> None:
    owner = Owner()
    kept = Scratch.beside(owner, 1)
    assert kept is not None
    parts = {0: np.arange(3.0), 3: np.array([7.0]), 4: np.arange(1000.0), 1004: np.zeros(0), 1_000_000: np.arange(2.0)}
    for start, values in parts.items():
        kept.get("odds", "a", start, lambda values=values: values)
    for start, values in parts.items():
        np.testing.assert_array_equal(kept.get("odds", "a", start, never), values)
    assert len(list(kept.folder.iterdir())) == 1
    kept.get("odds", "b", 4, lambda: np.ones(2))
    assert len(list(kept.folder.iterdir())) == 1  # what another key made is gone
    kept.get("odds_", "a", 4, lambda: np.ones(2))
    kept.get("odds+", "a", 4, lambda: np.ones(2))
    assert len(list(kept.folder.iterdir())) == 3


def test_a_part_that_was_not_written_to_its_end_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    owner = Owner()
    kept = Scratch.beside(owner, 1)
    assert kept is not None
    whole = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda file, data, at: whole(file, bytes(data)[: len(bytes(data)) // 2], at))
    kept.get("odds", "a", 3, lambda: np.arange(9.0))
    monkeypatch.undo()
    np.testing.assert_array_equal(kept.get("odds", "a", 3, lambda: np.arange(8.0)), np.arange(8.0))
    np.testing.assert_array_equal(kept.get("odds", "a", 3, never), np.arange(8.0))


def test_the_folder_goes_with_its_owner(place: Path) -> None:
    owner = Owner()
    kept = Scratch.beside(owner, 1)
    assert kept is not None
    kept.get("doubt", "", 0, lambda: np.zeros(3))
    assert list(place.iterdir())
    del owner
    gc.collect()
    assert not list(place.iterdir())


def test_what_a_killed_process_left_is_taken_away(place: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left, used = (place / f"{scratch.PREFIX}-{number}-x" for number in (gone.pid, os.getppid()))
    left.mkdir()
    used.mkdir()
    owner = Owner()
    Scratch.beside(owner, 1)
    assert not left.exists()
    assert used.exists()


def test_without_room_or_folder_nothing_is_kept(place: Path) -> None:
    assert Scratch.beside(Owner(), 1 << 60) is None
    kept = Scratch(place / "of another machine")
    for value in (1.0, 2.0):
        assert kept.get("doubt", "", 0, lambda value=value: np.full(2, value)).tolist() == [value, value]
    kept.put(0, {"id": np.arange(2)})
    assert kept.taken(0) is None


def test_rows_are_taken_as_they_were_put() -> None:
    owner = Owner()
    kept = Scratch.beside(owner, 1)
    assert kept is not None
    text = pa.chunked_array([pa.array(["a", "é"]), pa.array([None, ""])])
    columns = {"id": np.arange(4), "dsa": np.arange(4, dtype=np.float32) / 3, "name": text, "flag": np.ones(4, bool)}
    kept.put(7, columns, ("cat", "dog"))
    taken = kept.taken(7)
    assert taken is not None
    found, words = taken
    assert words == ("cat", "dog")
    assert [(name, found[name].dtype) for name in ("id", "dsa")] == [("id", np.int64), ("dsa", np.float32)]
    for name in ("id", "dsa", "flag"):
        np.testing.assert_array_equal(found[name], columns[name])
    assert found["name"].to_pylist() == ["a", "é", None, ""]
    assert kept.taken(8) is None


def test_rows_that_a_full_disk_does_not_take_leave_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = Owner()
    kept = Scratch.beside(owner, 1)
    assert kept is not None
    full = OSError(28, "No space left on device")

    def refused(*_: object) -> None:
        raise full

    monkeypatch.setattr(os, "replace", refused)
    kept.put(0, {"id": np.arange(9)})
    assert kept.taken(0) is None
    assert not list(kept.folder.iterdir())
