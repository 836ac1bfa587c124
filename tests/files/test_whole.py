"""The old file or the new one, never half of it; lines that survive a kill."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from fieldcheck.core.errors import BenchError, FieldcheckError, PoolError
from fieldcheck.files.lines import JsonLines
from fieldcheck.files.text import open_text
from fieldcheck.files.whole import whole_file, write_text


def test_a_writer_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = write_text(tmp_path / "a.csv", "old\n")
    with pytest.raises(TypeError), whole_file(path) as place:
        place.write_text(None)  # type: ignore[arg-type]
    assert path.read_text() == "old\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_said_whoever_writes(tmp_path: Path) -> None:
    """Other troubles stay as they are: they may be with what is read."""
    with pytest.raises(FieldcheckError, match="No space left on device"), whole_file(tmp_path / "a.csv"):
        raise OSError(errno.ENOSPC, "Error writing bytes to file. Detail: a long story")
    with pytest.raises(PermissionError), whole_file(tmp_path / "a.csv"):
        raise PermissionError(errno.EACCES, "of something that is read")
    assert not list(tmp_path.iterdir())


def test_two_writers_at_once_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with whole_file(path) as first, whole_file(path) as second:
        assert first != second
        first.write_text("first")
        second.write_text("second")
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("where", ["no/such/folder.csv", "."])
def test_where_nothing_can_be_written_it_is_said(tmp_path: Path, where: str) -> None:
    with pytest.raises(FieldcheckError, match="cannot write"):
        write_text(tmp_path / where, "text")


HEADER = {"fieldcheck": "test", "format": 1}


def lines(path: Path) -> JsonLines:
    return JsonLines(path, HEADER, error=BenchError, hint="another name")


def test_lines_survive_a_kill_at_any_byte(tmp_path: Path) -> None:
    """By enumeration: whatever is cut off, the whole lines before it are kept and can be added to."""
    path = tmp_path / "lines"
    for number in range(3):
        lines(path).add({"number": number})
    whole = path.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")]
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        kept = max(sum(end <= cut for end in ends) - 1, 0)
        assert lines(path).records == [{"number": number} for number in range(kept)]
        lines(path).add({"number": 9})
        assert lines(path).records[-1] == {"number": 9}


@pytest.mark.parametrize("content", ["something else\n", '{"fieldcheck": "test", "format": 1}\n[1]\n{"a": 1}\n'])
def test_other_files_and_damaged_lines_are_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "lines"
    path.write_text(content)
    with pytest.raises(BenchError, match="another"):
        lines(path)


def read(path: Path, encoding: str | None = None) -> str:
    with open_text(path, encoding, PoolError) as stream:
        return stream.read()


def test_text_in_any_encoding(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for encoding in ("latin-1", "utf-16", "cp1252"):
        path.write_bytes("id,Grün\n".encode(encoding))
        assert read(path, encoding) == "id,Grün\n"
    path.write_bytes("id,Grün\n".encode("utf-8-sig"))
    assert read(path) == "id,Grün\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a\nGrün\n".encode("latin-1"), r"byte 4 \(line 2\)"),
        ("a\n".encode("utf-16"), "looks like UTF-16"),
        (b"PK\x03\x04", "spreadsheet"),
        (b"PAR1", "Parquet"),
    ],
)
def test_what_is_no_text_is_said(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(PoolError, match=said):
        read(path)
    with pytest.raises(PoolError, match="no encoding 'klingon'"):
        read(path, "klingon")
    with pytest.raises(PoolError, match="not found"):
        read(tmp_path / "b.csv")


def test_what_a_killed_writer_left_is_cleared_by_the_next_and_that_of_a_living_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    code = "import os, sys; from fieldcheck.files.whole import whole_file\n"
    code += "with whole_file(sys.argv[1]) as place: place.write_text('half'); os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert len(list(tmp_path.iterdir())) == 1
    with whole_file(path) as living:
        living.write_text("old")
        write_text(path, "new")
        assert sorted(tmp_path.iterdir()) == sorted([living, path])
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
