"""Two commands into one new folder: the second one is refused, until the first one ended, however it did."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fieldcheck import sources
from fieldcheck.core.errors import FieldcheckError
from fieldcheck.sources.pools.shards.manifest import begun

HOLDING = """
import sys, time
from pathlib import Path
from fieldcheck.sources.pools.shards.manifest import CUT, begun
with begun(Path(sys.argv[1]), CUT, {"pool": "another one"}):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    pq.write_table(pa.table({"id": range(50), "prediction": ["a", "b"] * 25}), tmp_path / "pool.parquet")
    return tmp_path / "pool.parquet"


def test_a_second_command_is_refused_while_the_first_one_lives(pool: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cut"
    with subprocess.Popen([sys.executable, "-c", HOLDING, str(folder)], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        before = (folder / ".shard.json").read_text()
        with pytest.raises(FieldcheckError, match=r"another command is writing into .*cut"):
            sources.shard(pool, folder, rows=20)
        assert (folder / ".shard.json").read_text() == before
        other.send_signal(signal.SIGKILL)
    assert sources.shard(pool, folder, rows=20).rows == 50
    assert {one.name for one in folder.iterdir() if not one.name.endswith(".parquet")} == {
        ".shard.json",
        "manifest.json",
    }


def test_an_error_sets_the_folder_free(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="mine"), begun(tmp_path / "cut", ".shard.json", {"pool": "p"}):
        raise ValueError("mine")
    with begun(tmp_path / "cut", ".shard.json", {"pool": "p"}):
        with pytest.raises(FieldcheckError, match="another command"), begun(tmp_path / "cut", ".shard.json", {}):
            pass
        assert (tmp_path / "cut" / ".fieldcheck-lock").exists()
    assert not (tmp_path / "cut" / ".fieldcheck-lock").exists()


@pytest.mark.parametrize("strange", ["file", "folder"])
def test_what_is_called_like_the_lock_is_no_reason_to_fail(pool: Path, tmp_path: Path, strange: str) -> None:
    lock = tmp_path / "cut" / ".fieldcheck-lock"
    lock.parent.mkdir()
    if strange == "folder":
        lock.mkdir()
    else:
        lock.write_text("not ours " * 99)
    assert sources.shard(pool, tmp_path / "cut", rows=20).rows == 50
    assert lock.exists()


def test_who_comes_second_does_not_write_over_what_the_first_one_finished(
    pool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = sources.pool_files  # type: ignore[attr-defined]

    def slowly(*given: Any) -> Any:
        monkeypatch.undo()
        sources.shard(pool, tmp_path / "cut", rows=20)
        return found(*given)

    monkeypatch.setattr(sources, "pool_files", slowly)
    with pytest.raises(FieldcheckError, match="is there already"):
        sources.shard(pool, tmp_path / "cut", rows=20)
