"""Files: the old one or the new one, and an error that says what to do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fieldcheck.core.errors import FieldcheckError
from fieldcheck.files.whole import write_text


def test_writes_and_replaces(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    write_text(target, "old")
    assert write_text(target, "new ξ\n") == target
    assert target.read_bytes() == "new ξ\n".encode()
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    write_text(target, "old")
    with pytest.raises(UnicodeEncodeError):
        write_text(target, "half \ud800")
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FieldcheckError) as caught:
        write_text(tmp_path / "nowhere" / "report.html", "x")
    assert "nowhere" in caught.value.problem
    assert "mkdir" in caught.value.hint


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(FieldcheckError):
        write_text(tmp_path, "x")


def test_a_folder_below_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(FieldcheckError):
        write_text(tmp_path / "file" / "report.html", "x")


def test_trouble_of_the_system_is_told_without_a_traceback(tmp_path: Path) -> None:
    with pytest.raises(FieldcheckError) as caught:
        write_text(tmp_path / ("n" * 400), "x")
    assert caught.value.rule
